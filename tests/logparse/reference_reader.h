#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// A plain reader of the commonest lines, by regular expressions and nothing else: what the fast one is
/// compared with. Slow, and short enough to be checked by eye.
namespace ringside::logs {

struct ReferenceLine {
  std::string host, pid, tid, device, kind;
  std::vector<std::string> fields;  ///< as the line prints them, by kind
  bool is_in_range = true;          ///< no field is beyond what its type holds

  friend bool operator==(const ReferenceLine&, const ReferenceLine&) = default;
};

/// A line that is exactly one of those that the reader knows, with NCCL's prefix at its start.
std::optional<ReferenceLine> read_plainly(const std::string& line);

}  // namespace ringside::logs
