#pragma once

#include <string>
#include <string_view>
#include <vector>

/// How the variables of NCCL's log spell sets. Private to this folder.
namespace ringside {

/// `^INIT,Graph`: words in capitals, and whether all others are meant.
struct DebugWords {
  explicit DebugWords(std::string_view text);

  bool is_inverse = false;
  std::vector<std::string> list;
};

}  // namespace ringside
