#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The list syntax of NCCL's log variables. Private to this folder.
namespace ringside {

/// `^INIT,Graph`: the words in capitals, and whether the list is inverted.
struct DebugWords {
  explicit DebugWords(std::string_view text);

  bool is_inverse = false;
  std::vector<std::string> list;
};

}  // namespace ringside
