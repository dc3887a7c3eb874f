#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::hang {

/// The heading above one or more stacks: the processes that it names.
struct StackHead {
  std::vector<int> ranks;
  int local_rank = -1;
  std::int64_t pid = -1;
  int count = 0;
  std::string host;
  /// Returns whether the line names no process.
  [[nodiscard]] bool says_nothing() const {
    return ranks.empty() && local_rank < 0 && pid < 0 && count == 0 && host.empty();
  }
};

/// Reads a heading: `rank 3 (pid 71) on n01:`, `4 processes are in:`, `task 3`. Returns an empty head for a log line,
/// even if it names ranks.
StackHead head_of(std::string_view line);

/// Returns the number at the start of a text, or -1.
std::int64_t leading_number(std::string_view text);

/// Returns the number after `key` and at most three characters out of `:`, `=`, `#`, `_`, `-` and blanks; -1 if there is
/// none.
std::int64_t number_after(std::string_view text, std::string_view key);

}  // namespace ringside::hang
