#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>

#include "diag/audit/join_parts.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// The identity of a process: host and pid where NCCL's prefix gave them, otherwise the launcher's rank.
struct Key {
  std::string host;
  std::int32_t pid, rank, local_rank;
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    const std::size_t numbers = (static_cast<std::size_t>(key.pid) * 1000003U) ^
                                (static_cast<std::size_t>(key.rank) * 8191U) ^
                                static_cast<std::size_t>(key.local_rank);
    return std::hash<std::string>{}(key.host) ^ numbers;
  }
};

Key key_of(const Speaker& speaker) {
  if (speaker.pid >= 0 && !speaker.host.empty()) return {speaker.host, speaker.pid, -1, -1};
  return {speaker.host, speaker.pid, speaker.launcher_rank, speaker.local_rank};
}

struct Candidate {
  std::string host;
  std::int32_t pid = -1, launcher_rank = -1;
  std::uint64_t lines = 0;
  std::vector<std::int32_t> tids = {};
};

bool shares_thread(const Candidate& a, const Candidate& b) {
  return std::any_of(a.tids.begin(), a.tids.end(), [&b](std::int32_t tid) {
    return tid >= 0 && std::find(b.tids.begin(), b.tids.end(), tid) != b.tids.end();
  });
}

/// Returns, for each candidate, the candidate that represents the same process.
///
/// Two ranks that write into one file at the same time damage each other's prefixes: `gpu1` and `pu11` remain of
/// `gpu11`. Such a candidate has the process id and a thread of the real one, and few lines.
std::vector<std::uint32_t> without_damaged_hosts(const std::vector<Candidate>& all) {
  std::vector<std::uint32_t> is(all.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) is[i] = i;
  std::unordered_map<std::int32_t, std::vector<std::uint32_t>> by_pid;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].pid >= 0 && !all[i].host.empty()) by_pid[all[i].pid].push_back(i);
  }
  for (const auto& [pid, same] : by_pid) {
    // Containers reuse lower process ids on every host.
    constexpr std::int32_t kLeastOfHost = 1'000;
    if (same.size() < 2 || pid < kLeastOfHost) continue;
    const std::uint32_t main = *std::max_element(
        same.begin(), same.end(), [&all](auto a, auto b) { return all[a].lines < all[b].lines; });
    // At most a quarter of the lines: damage is rarer, and two hosts of one job write about as much as each other.
    constexpr std::uint64_t kShare = 4;
    for (const std::uint32_t i : same) {
      if (i == main || all[i].lines * kShare > all[main].lines) continue;
      if (shares_thread(all[i], all[main])) is[i] = main;
    }
  }
  return is;
}

}  // namespace

ProcessTable join_processes(const std::vector<std::unique_ptr<Shard>>& shards, JobFacts& facts) {
  std::vector<Candidate> candidates(1);  // 0: no known process
  std::unordered_map<Key, std::uint32_t, KeyHash> known;
  ProcessTable table(shards.size());
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const Shard& shard = *shards[s];
    table[s].resize(shard.speakers.size(), 0);
    for (std::uint32_t i = 0; i < shard.speakers.size(); ++i) {
      const Speaker& speaker = shard.speakers[i];
      const bool is_anonymous = speaker.host.empty() && speaker.pid < 0 &&
                                speaker.launcher_rank < 0 && speaker.local_rank < 0;
      if (is_anonymous) continue;
      const auto next = static_cast<std::uint32_t>(candidates.size());
      const auto [at, is_new] = known.emplace(key_of(speaker), next);
      if (is_new) candidates.push_back({.host = speaker.host, .pid = speaker.pid});
      Candidate& candidate = candidates[at->second];
      if (candidate.launcher_rank < 0) candidate.launcher_rank = speaker.launcher_rank;
      candidate.lines += shard.spoken[i].records;
      const auto& tids = shard.spoken[i].tids;
      candidate.tids.insert(candidate.tids.end(), tids.begin(),
                            tids.begin() + shard.spoken[i].ntids);
      table[s][i] = at->second;
    }
  }

  const std::vector<std::uint32_t> is = without_damaged_hosts(candidates);
  std::vector<std::uint32_t> number(candidates.size());
  std::unordered_map<std::string, std::int32_t> hosts;
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    if (is[i] != i) continue;
    const Candidate& candidate = candidates[i];
    number[i] = static_cast<std::uint32_t>(facts.processes.size());
    ProcessFacts process{.pid = candidate.pid,
                         .launcher_rank = candidate.launcher_rank,
                         .rank = candidate.launcher_rank,
                         .lines = candidate.lines};
    if (!candidate.host.empty()) {
      const auto next = static_cast<std::int32_t>(facts.hosts.size());
      const auto [at, is_new] = hosts.emplace(candidate.host, next);
      if (is_new) facts.hosts.push_back({.name = candidate.host});
      process.host = at->second;
      facts.hosts[static_cast<std::size_t>(process.host)].processes.push_back(number[i]);
    }
    facts.processes.push_back(process);
  }
  for (auto& shard : table) {
    for (std::uint32_t& process : shard) process = number[is[process]];
  }
  return table;
}

}  // namespace ringside::audit
