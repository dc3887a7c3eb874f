#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/hangdetect/readers/op_name.h"

namespace ringside::hang {

/// What watchdog lines show of a call's group if they do not name the group.
struct GroupHint {
  int rank = -1;        ///< global rank
  int group_rank = -1;  ///< rank in the group; -1: unknown
  int number = -1;      ///< the group's number in that process; 0: the default group; -1: unknown
  std::string description;  ///< group's description; only PyTorch 2.4 prints it without the name
  std::uint32_t sequence = 0;
  Op op = Op::Other;
  std::int64_t input_count = -1;
};

/// Finds the group of a call in a log line among the groups that the dumps list. Up to PyTorch 2.4, log lines do not
/// contain the group's name.
///
/// Ownership  `dumps` and `names` must outlive the object
class LogGroups {
 public:
  LogGroups(const Names& names, std::span<const RankDump> dumps);

  /// Returns the default group if the hint names it, or if the dumps list no group and nothing in the hint names another.
  /// Otherwise returns the only group that matches the rank, the group rank and the description; if several match, the one
  /// in which a dump has the hint's call at its sequence number.
  /// returns  nothing if no group or several match: a wrong group would show a mismatch between ranks that agree
  [[nodiscard]] std::optional<GroupName> find(const GroupHint& hint) const;

  /// Returns the only group of this size that has all given members.
  /// members  group rank to global rank, at least two
  /// returns  nothing if no group or several match, or fewer than two members are given
  [[nodiscard]] std::optional<GroupName> find_members(int size,
                                                      const std::map<int, int>& members) const;

  /// Returns whether the dumps list any group.
  [[nodiscard]] bool has_any() const { return !groups_.empty(); }

 private:
  [[nodiscard]] bool has_call(const GroupConfig& group, const GroupHint& hint) const;

  const Names& names_;
  std::span<const RankDump> dumps_;
  std::vector<GroupConfig> groups_;  ///< without duplicates; members ascending
};

}  // namespace ringside::hang
