#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringside::job {

/// What a program says, or a stack shows, that its process does beside communicating: work that the other ranks may wait
/// for.
struct Occupation {
  enum class What : std::uint8_t {
    None,
    Saving,  ///< a checkpoint is being written
    Saved,   ///< and has been
    Bar,  ///< a progress bar with a label of its own is not at its end: `Map:  12%|#  | 60000/500000 [`
    BarDone,  ///< and is
    Files,    ///< a frame of a stack: writing or reading a file, or waiting for data
  };
  What what = What::None;
  std::string label = {};  ///< of a bar: `Map`
};

/// shape  a line, with or without its prefix
Occupation occupation_in(std::string_view line);

/// `is writing a checkpoint`: what a rank does of which a line says so.  shape  not None
std::string words_of(const Occupation& occupation);

}  // namespace ringside::job
