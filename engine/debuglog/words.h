#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/debuglog/timestamps.h"

/// The list syntax of NCCL's log variables. Private to this folder.
namespace ringside {

/// `^INIT,Graph`: the words, and whether the list is inverted.
struct DebugWords {
  /// Converts the words to capitals.
  explicit DebugWords(std::string_view text);

  bool is_inverse = false;
  std::vector<std::string> list;
};

/// Returns the level with a name in capitals; None: there is none.
DebugLevel level_named(std::string_view word);

}  // namespace ringside
