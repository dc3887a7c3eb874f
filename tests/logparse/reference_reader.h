#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// A plain reader of the most common lines, based on regular expressions alone, with which the fast reader is
/// compared. It is slow, and short enough to be checked by eye.
namespace ringside::logs {

struct ReferenceLine {
  std::string host, pid, tid, device, kind;
  std::vector<std::string> fields;  ///< as the line prints them, by kind
  bool is_in_range = true;          ///< whether every field fits its type

  friend bool operator==(const ReferenceLine&, const ReferenceLine&) = default;
};

/// Reads a line that exactly matches one of those that the reader knows, with NCCL's prefix at its start.
std::optional<ReferenceLine> read_plainly(const std::string& line);

}  // namespace ringside::logs
