#include "diag/hangdetect/readers/log_groups.h"

#include <algorithm>
#include <utility>

namespace ringside::hang {
namespace {

GroupName default_group() { return {"0", "default_pg"}; }

bool fits(const GroupConfig& group, const GroupHint& hint) {
  const auto found = std::lower_bound(group.ranks.begin(), group.ranks.end(), hint.rank);
  if (found == group.ranks.end() || *found != hint.rank) return false;
  if (hint.group_rank >= 0 && found - group.ranks.begin() != hint.group_rank) return false;
  return hint.description.empty() || group.description == hint.description;
}

bool is_default(const GroupConfig& group) {
  return group.name == "0" || group.description == "default_pg";
}

}  // namespace

LogGroups::LogGroups(const Names& names, std::span<const RankDump> dumps)
    : names_(names), dumps_(dumps) {
  for (const RankDump& dump : dumps) {
    for (const GroupConfig& config : dump.groups) {
      GroupConfig group = config;
      std::sort(group.ranks.begin(), group.ranks.end());
      const bool is_known = std::any_of(groups_.begin(), groups_.end(), [&](const auto& known) {
        return known.name == group.name && known.ranks == group.ranks;
      });
      if (!is_known) groups_.push_back(std::move(group));
    }
  }
}

std::optional<GroupName> LogGroups::find(const GroupHint& hint) const {
  const bool may_be_default = hint.group_rank < 0 || hint.group_rank == hint.rank;
  if (hint.number == 0 || hint.description == "default_pg") return default_group();
  const bool names_group = hint.number > 0 || !hint.description.empty();
  if (groups_.empty()) {
    // Before 2.2 no line has a group, and most jobs then had the default one only.
    if (!names_group && may_be_default) return default_group();
    return std::nullopt;
  }
  std::vector<const GroupConfig*> found;
  for (const GroupConfig& group : groups_) {
    if (fits(group, hint) && !(names_group && is_default(group))) found.push_back(&group);
  }
  if (found.size() > 1) {
    std::erase_if(found, [&](const GroupConfig* group) { return !has_call(*group, hint); });
  }
  if (found.size() != 1) return std::nullopt;
  return GroupName{found.front()->name, found.front()->description};
}

std::optional<GroupName> LogGroups::find_members(int size,
                                                 const std::map<int, int>& members) const {
  // One member is in many groups, some of which only lost dumps list; two members fix the stride.
  if (members.size() < 2) return std::nullopt;
  const GroupConfig* found = nullptr;
  for (const GroupConfig& group : groups_) {
    if (static_cast<int>(group.ranks.size()) != size) continue;
    const bool fits = std::all_of(members.begin(), members.end(), [&](const auto& member) {
      return member.first >= 0 && member.first < size &&
             group.ranks[static_cast<std::size_t>(member.first)] == member.second;
    });
    if (!fits) continue;
    if (found != nullptr) return std::nullopt;
    found = &group;
  }
  if (found == nullptr) return std::nullopt;
  return GroupName{found->name, found->description};
}

bool LogGroups::has_call(const GroupConfig& group, const GroupHint& hint) const {
  for (const RankDump& dump : dumps_) {
    if (!std::binary_search(group.ranks.begin(), group.ranks.end(), dump.rank)) continue;
    for (auto call = dump.calls.rbegin(); call != dump.calls.rend(); ++call) {
      if (call->sequence != hint.sequence || names_.group(call->group).name != group.name) continue;
      const Signature& signature = names_.signature(call->signature);
      const auto count = static_cast<std::int64_t>(signature.input_count);
      if (signature.op == hint.op && count == hint.input_count) return true;
    }
  }
  return false;
}

}  // namespace ringside::hang
