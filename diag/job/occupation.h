#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringside::job {

/// Work of a process other than communication, which the other ranks may wait for; by its log or its stack.
struct Occupation {
  enum class What : std::uint8_t {
    None,
    Saving,  ///< a checkpoint is being written
    Saved,   ///< the checkpoint has been written
    Bar,  ///< a progress bar with a label of its own is not at its end: `Map:  12%|#  | 60000/500000 [`
    BarDone,  ///< the bar is at its end
    Files,    ///< a frame of a stack: writing or reading a file, or waiting for data
  };
  What what = What::None;
  std::string label = {};  ///< of a bar: `Map`
};

/// shape  a line, with or without its prefix
Occupation occupation_in(std::string_view line);

/// `is writing a checkpoint`: the work of a rank, for a sentence.  shape  not None
std::string words_of(const Occupation& occupation);

}  // namespace ringside::job
