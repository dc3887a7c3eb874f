#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringside::job {

/// Work of a process other than communication, for which other ranks may wait. Read from its log or its stack.
struct Occupation {
  enum class What : std::uint8_t {
    None,
    Saving,   ///< a checkpoint is being written
    Saved,    ///< the checkpoint has been written
    Bar,      ///< a labelled progress bar is not at its end: `Map:  12%|#  | 60000/500000 [`
    BarDone,  ///< the labelled progress bar is at its end
    Files,    ///< a stack frame that writes or reads a file, or waits for data
  };
  What what = What::None;
  std::string label = {};  ///< label of the bar: `Map`; empty: no bar
};

/// Returns the work that a line shows. The line may have a prefix.
Occupation occupation_in(std::string_view line);

/// Returns the work as a predicate after a rank's name: `was writing a checkpoint`.  shape  what is not None
std::string words_of(const Occupation& occupation);

}  // namespace ringside::job
