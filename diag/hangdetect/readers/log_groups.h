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

/// What a watchdog's lines show of the group of a call, where they do not name it.
struct GroupHint {
  int rank = -1;            ///< global
  int group_rank = -1;      ///< its place in the group; -1: unknown
  int number = -1;          ///< that process's own number of the group; 0 is the default one
  std::string description;  ///< 2.4 alone has it without the name
  std::uint32_t sequence = 0;
  Op op = Op::Other;
  std::int64_t input_count = -1;
};

/// The groups that dumps list. They place calls of log lines: up to 2.4 no line names a group as all its members do.
///
/// Ownership  the dumps and names must outlive it
class LogGroups {
 public:
  LogGroups(const Names& names, std::span<const RankDump> dumps);

  /// Finds the one group that fits: the rank is in it, at that place, under that description; where several fit, the
  /// one in which a dump has such a call at that number.
  /// returns  nothing where none or several fit: a wrong guess would report a mismatch between ranks that agree
  [[nodiscard]] std::optional<GroupName> find(const GroupHint& hint) const;

  /// The one group with so many members that has each of the given ones (place in it -> global rank).
  /// returns  nothing where none or several do, or fewer than two members are given
  [[nodiscard]] std::optional<GroupName> find_members(int size,
                                                      const std::map<int, int>& members) const;

  [[nodiscard]] bool has_any() const { return !groups_.empty(); }

 private:
  [[nodiscard]] bool has_call(const GroupConfig& group, const GroupHint& hint) const;

  const Names& names_;
  std::span<const RankDump> dumps_;
  std::vector<GroupConfig> groups_;  ///< each once, members ascending
};

}  // namespace ringside::hang
