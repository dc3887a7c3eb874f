#pragma once

#include <cstdint>
#include <string_view>

namespace ringside::hang {

/// A progress line of a training loop, a trainer or a server.
struct RunLine {
  enum class What : std::uint8_t {
    Other,
    Step,      ///< reports a finished step: `iteration 42780/ 115311`, ` 45%|###  | 450/1000 [`
    Finished,  ///< training has ended, or a server is up
    Harmless,  ///< a warning that healthy jobs print too
    Alarming,  ///< mentions an error or a wait that no other reader handles
  };
  What what = What::Other;
  std::int64_t step = -1;  ///< step number; -1: unknown, possible for a Step too
  std::int64_t of = -1;    ///< total number of steps; -1: unknown
  bool serves = false;     ///< for Finished: a server is up and continues
};

/// Classifies a line of a program.  shape  the line without its prefix
RunLine read_run_line(std::string_view text);

/// Returns whether a program's line shows long work that other ranks wait for: a download, a checkpoint, a data set.
bool shows_long_work(std::string_view text);

}  // namespace ringside::hang
