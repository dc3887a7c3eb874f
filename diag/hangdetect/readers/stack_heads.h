#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::hang {

/// What a line states of the stacks below it.
struct StackHead {
  std::vector<int> ranks;
  int local_rank = -1;
  std::int64_t pid = -1;
  int count = 0;
  std::string host;
  [[nodiscard]] bool says_nothing() const {
    return ranks.empty() && local_rank < 0 && pid < 0 && count == 0 && host.empty();
  }
};

/// Reads `rank 3 (pid 71) on n01:`, `4 processes are in:`, `task 3`. A log line gives an empty head, whatever ranks
/// it names.
StackHead head_of(std::string_view line);

/// The number at the start of a text; -1: none.
std::int64_t leading_number(std::string_view text);

/// The number behind `key` and `:`, `=`, `#`, `_`, `-` or a blank; -1: none.
std::int64_t number_after(std::string_view text, std::string_view key);

}  // namespace ringside::hang
