#include <algorithm>
#include <map>
#include <string>

#include "diag/hangdetect/verdict/evidence.h"
#include "diag/hangdetect/verdict/scene.h"

namespace ringside::hang {
namespace {

using ByRank = std::map<int, const facts::Call*>;

/// Returns, by group, the newest line of each rank that shows how much it has enqueued. A group's number belongs to
/// one process, so only groups count in which each rank has the same number as in the job.
std::map<std::string, ByRank> positions_of(const facts::Facts& facts) {
  std::map<std::string, ByRank> groups;
  for (const facts::Call& one : facts.calls) {
    const bool is_of_all =
        one.subject.is_known() && one.subject.group_rank == one.subject.rank && !one.group.empty();
    if (!is_of_all || one.last_enqueued < 0) continue;
    const facts::Call*& newest = groups[one.group][one.subject.rank];
    if (newest == nullptr || newest->last_enqueued <= one.last_enqueued) newest = &one;
  }
  return groups;
}

/// Returns the number of the call in which most ranks wait; -1: none.
std::int64_t pending_call(const ByRank& ranks) {
  std::map<std::int64_t, int> times;
  for (const auto& [rank, call] : ranks) {
    if (call->sequence >= 0) ++times[call->sequence];
  }
  const auto most = std::ranges::max_element(times, {}, [](const auto& one) { return one.second; });
  return most == times.end() ? -1 : most->first;
}

}  // namespace

void add_enqueued(const Scene& scene, Explanations& out) {
  for (const auto& [group, ranks] : positions_of(scene.logs.facts)) {
    const std::int64_t pending = pending_call(ranks);
    if (pending < 0) continue;
    Explanation one;
    one.kind = Kind::MissingRank;
    one.features = {Feature::CallsBehind, Feature::AllReported};
    one.reporter = facts::Reporter::Watchdog;
    for (const auto& [rank, call] : ranks) {
      if (call->last_enqueued >= pending) {
        one.others.push_back(rank);
        continue;
      }
      one.culprits.push_back(rank);
      one.count = pending - call->last_enqueued;
      one.evidence.push_back(evidence_of(call->source));
    }
    // So many ranks must have enqueued the call for each rank that has not. Chosen: a clear majority, as watchdogs log at
    // different moments.
    constexpr std::size_t kFew = 3;
    if (one.culprits.empty() || one.others.size() < kFew * one.culprits.size()) continue;
    one.missing.push_back({Need::What::Stacks, one.culprits});
    out.push_back(std::move(one));
  }
}

}  // namespace ringside::hang
