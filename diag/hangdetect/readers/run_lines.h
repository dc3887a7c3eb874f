#pragma once

#include <cstdint>
#include <string_view>

namespace ringside::hang {

/// A line of the program's own about its progress, as training loops, trainers and servers write it.
struct RunLine {
  enum class What : std::uint8_t {
    Other,
    Step,      ///< it has done a step: `iteration 42780/ 115311`, ` 45%|###  | 450/1000 [`
    Finished,  ///< training has ended, or the server is up
    Harmless,  ///< a warning that jobs which run well give too
    Alarming,  ///< words of an error or a wait that no other reader handles
  };
  What what = What::Other;
  std::int64_t step = -1;  ///< of a Step, too, where its line does not count them
  std::int64_t of = -1;    ///< steps in all; -1: unknown
  bool serves = false;     ///< of Finished: a server is up, and goes on
};

/// shape  a line without its prefix
RunLine read_run_line(std::string_view text);

/// Whether a program's line shows long work that others wait for: a download, a checkpoint, a data set.
bool shows_long_work(std::string_view text);

}  // namespace ringside::hang
