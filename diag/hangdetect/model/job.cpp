#include "diag/hangdetect/model/job.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace ringside::hang {
namespace {

bool is_plausible(const GroupConfig& config, int rank) {
  if (config.name.empty() || config.ranks.empty()) return false;
  // Gloo's recorder writes group-local numbers if a group was not registered: then the rank is not in it.
  return std::all_of(config.ranks.begin(), config.ranks.end(),
                     [](int member) { return member >= 0 && member < kMostRanks; }) &&
         std::find(config.ranks.begin(), config.ranks.end(), rank) != config.ranks.end();
}

}  // namespace

bool Group::has(int rank) const { return index_of(rank) >= 0; }

int Group::index_of(int rank) const {
  const auto found = std::lower_bound(members.begin(), members.end(), rank);
  return found != members.end() && *found == rank ? static_cast<int>(found - members.begin()) : -1;
}

std::string title_of(const Group& group) {
  if (group.description.empty() || group.description == "undefined") return "group " + group.name;
  if (group.description == "default_pg") return "default_pg";
  return group.description + " (" + group.name + ")";
}

Job::Job(const Names& names, std::span<const RankDump> dumps, std::span<const RankDump> later,
         int least_world)
    : names_(names) {
  size_world(dumps, least_world);
  for (const RankDump& dump : dumps) {
    if (dump.rank < 0 || dump.rank >= world() || dump.is_newest_lost) continue;
    rank(dump.rank).dump = &dump;
    rank(dump.rank).is_from_log = dump.is_inferred();
  }
  for (const RankDump& dump : later) {
    if (dump.rank < 0 || dump.rank >= world()) continue;
    const RankDump* first = rank(dump.rank).dump;
    const bool is_newer =
        first != nullptr && !dump.calls.empty() &&
        (first->calls.empty() || dump.calls.back().record > first->calls.back().record);
    rank(dump.rank).has_moved |= is_newer;
    rank(dump.rank).has_stayed |= first != nullptr && !is_newer;
  }
  find_groups(dumps);
  for (int r = 0; r < world(); ++r) sort_calls(r);
}

void Job::size_world(std::span<const RankDump> dumps, int least_world) {
  int world = least_world;
  for (const RankDump& dump : dumps) {
    if (dump.rank < kMostRanks) world = std::max(world, dump.rank + 1);
    for (const GroupConfig& config : dump.groups) {
      if (!is_plausible(config, dump.rank)) continue;
      for (const int member : config.ranks) world = std::max(world, member + 1);
    }
  }
  ranks_.resize(static_cast<std::size_t>(world));
}

// A group is its name and its members: several sets of ranks can share one name.
void Job::find_groups(std::span<const RankDump> dumps) {
  for (const RankDump& dump : dumps) {
    for (const GroupConfig& config : dump.groups) {
      if (!is_plausible(config, dump.rank)) continue;
      std::vector<int> members = config.ranks;
      std::sort(members.begin(), members.end());
      members.erase(std::unique(members.begin(), members.end()), members.end());
      std::vector<int>& same_name = by_name_[config.name];
      const bool is_known = std::any_of(same_name.begin(), same_name.end(),
                                        [&](int known) { return group(known).members == members; });
      if (is_known) continue;
      same_name.push_back(static_cast<int>(groups_.size()));
      groups_.push_back({config.name, config.description, std::move(members), true});
    }
  }
}

int Job::group_number(const std::string& name, const std::string& description, int rank) {
  std::vector<int>& same_name = by_name_[name];
  for (const int known : same_name) {
    if (group(known).is_membership_known && group(known).has(rank)) return known;
  }
  for (const int known : same_name) {
    Group& seen = groups_[static_cast<std::size_t>(known)];
    if (seen.is_membership_known) continue;
    if (!seen.has(rank)) {
      seen.members.insert(std::lower_bound(seen.members.begin(), seen.members.end(), rank), rank);
    }
    return known;
  }
  // Groups of all ranks. If there are implausibly many, the later ones contain only ranks that were seen calling in
  // them.
  constexpr int kMostDefaults = 8;
  const bool is_default = (description == "default_pg" || (name == "0" && description.empty())) &&
                          default_groups_++ < kMostDefaults;
  Group made{name, description, {rank}, is_default};
  if (is_default) {
    made.members.clear();
    for (int r = 0; r < world(); ++r) made.members.push_back(r);
  }
  same_name.push_back(static_cast<int>(groups_.size()));
  groups_.push_back(std::move(made));
  return same_name.back();
}

void Job::sort_calls(int r) {
  RankView& view = rank(r);
  if (view.dump == nullptr) return;
  const std::vector<Call>& calls = view.dump->calls;
  view.group_of_call.assign(calls.size(), -1);
  std::unordered_map<std::uint32_t, std::size_t> place;  // [recorded group]: index in view.groups
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    const GroupName& name = names_.group(call.group);
    // Without a name, as recorded by the wrappers of TORCH_DISTRIBUTED_DEBUG=DETAIL, sequences of several groups are
    // mixed.
    if (name.name.empty()) continue;
    const auto [found, is_new] = place.try_emplace(call.group, view.groups.size());
    if (is_new) {
      const int group = group_number(name.name, name.description, r);
      const auto same = std::find_if(view.groups.begin(), view.groups.end(),
                                     [&](const GroupCalls& one) { return one.group == group; });
      found->second = static_cast<std::size_t>(same - view.groups.begin());
      if (same == view.groups.end()) view.groups.push_back({group, {}, {}});
    }
    GroupCalls& mine = view.groups[found->second];
    view.group_of_call[i] = mine.group;
    const auto index = static_cast<std::uint32_t>(i);
    if (call.is_p2p) {
      mine.transfers.push_back(index);
      continue;
    }
    if (!mine.collectives.empty() && calls[mine.collectives.back()].sequence == call.sequence) {
      // A hook that runs with the native recorder stores every call twice; the native entry has the end. Calls of one
      // coalesced set also have one number: the first represents the set.
      if (signature(calls[mine.collectives.back()]).backend == "c10d" &&
          signature(call).backend != "c10d") {
        view.group_of_call[mine.collectives.back()] = -1;
        mine.collectives.back() = index;
      } else if (signature(call).backend == "c10d") {
        view.group_of_call[i] = -1;
      }
      continue;
    }
    mine.collectives.push_back(index);
  }
  // Watchdog lines are in the order in which their threads woke up, and find() searches by number.
  for (GroupCalls& mine : view.groups) {
    std::stable_sort(
        mine.collectives.begin(), mine.collectives.end(),
        [&](std::uint32_t a, std::uint32_t b) { return calls[a].sequence < calls[b].sequence; });
  }
}

const GroupCalls* Job::calls(int r, int group) const {
  for (const GroupCalls& one : rank(r).groups) {
    if (one.group == group) return &one;
  }
  return nullptr;
}

const Call* Job::find(int r, int group, std::uint32_t sequence) const {
  const GroupCalls* mine = calls(r, group);
  if (mine == nullptr) return nullptr;
  const std::vector<Call>& all = rank(r).dump->calls;
  const auto found = std::lower_bound(
      mine->collectives.begin(), mine->collectives.end(), sequence,
      [&](std::uint32_t index, std::uint32_t wanted) { return all[index].sequence < wanted; });
  if (found == mine->collectives.end() || all[*found].sequence != sequence) return nullptr;
  return &all[*found];
}

std::int64_t Job::entered(int r, int group) const {
  const GroupCalls* mine = calls(r, group);
  if (mine == nullptr || mine->collectives.empty()) return -1;
  const Call& newest = rank(r).dump->calls[mine->collectives.back()];
  std::int64_t most = newest.sequence;
  // A log names the call that timed out and, separately, the last call that the rank had enqueued.
  if (rank(r).is_from_log) {
    for (const std::uint32_t index : mine->collectives) {
      for (const GroupStatus& status : rank(r).dump->statuses) {
        if (status.pg == rank(r).dump->calls[index].pg) most = std::max(most, status.enqueued);
      }
    }
  }
  return most;
}

}  // namespace ringside::hang
