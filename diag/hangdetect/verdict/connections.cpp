#include "diag/hangdetect/verdict/connections.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diag/hangdetect/verdict/confidence.h"

namespace ringside::hang {
namespace {

constexpr std::size_t kConnectionsShown = 8;

std::string text_of(const ConnectionProgress& one) {
  return fmt::format("rank {} -> rank {}, channel {}: {} chunks sent, {} received", one.sender,
                     one.receiver, one.channel, one.sent, one.received);
}

}  // namespace

std::vector<ConnectionProgress> stalled_connections(
    const std::vector<ConnectionProgress>& connections) {
  std::set<int> waiting;
  for (const ConnectionProgress& one : connections) {
    if (one.is_lacking() && !one.is_blocked) waiting.insert(one.receiver);
  }
  std::vector<ConnectionProgress> stalled;
  for (const ConnectionProgress& one : connections) {
    const bool is_lost = one.is_under_way() && waiting.count(one.receiver) == 0;
    if (is_lost || one.is_blocked) stalled.push_back(one);
  }
  return stalled;
}

void blame_connections(const std::vector<ConnectionProgress>& connections, Verdict& verdict) {
  Explanation& best = verdict.best;
  const bool may_follow = best.kind == Kind::DeadRank || best.kind == Kind::MissingRank ||
                          best.kind == Kind::Straggler || best.kind == Kind::P2pUnmatched ||
                          best.kind == Kind::DeadlockCycle;
  // A death that the others tell of is surer than what it left on the way.
  if (!may_follow || best.confidence > 0.9 || stalled_connections(connections).empty()) return;
  Explanation stall;
  stall.kind = Kind::NetworkStall;
  stall.confidence = 0.8;
  stall.call = best.call;
  stall.why = "both ends of a connection tell that it stands still";
  stall.next = best.next;
  best.against = "what was lost on the way explains it";
  verdict.others.insert(verdict.others.begin(), std::move(best));
  best = std::move(stall);
}

void blame_who_waits_for_nobody(const std::vector<ConnectionProgress>& connections,
                                const Standing& standing, Verdict& verdict) {
  Explanation& best = verdict.best;
  // Without a call it rests on what a rank says of a connection: then the network is to blame, whoever waits.
  if (best.kind != Kind::NetworkStall || !best.culprits.empty() || best.call.empty()) return;
  if (!stalled_connections(connections).empty()) return;
  std::set<int> waiting, awaited;
  for (const ConnectionProgress& one : connections) {
    if (one.receiver_waits) {
      waiting.insert(one.receiver);
      awaited.insert(one.sender);
    }
    if (one.sender_waits) {
      waiting.insert(one.sender);
      awaited.insert(one.receiver);
    }
  }
  std::vector<int> idle;
  for (const int rank : awaited) {
    const auto at = static_cast<std::size_t>(rank);
    const bool stands = at < standing.blocks.size() && standing.blocks[at].has_value();
    if (stands && waiting.count(rank) == 0) idle.push_back(rank);
  }
  // One stands still; of more, each may have done its part and be waited for by who has not.
  if (idle.size() != 1) return;
  Explanation still;
  still.kind = Kind::DeadRank;
  still.culprits = idle;
  still.confidence = confidence::kStuckDevice;
  still.call = best.call;
  still.why = fmt::format(
      "all have entered {}; rank {} waits there for nobody, and the others for it: its GPU, or the "
      "thread that works there, stands still",
      best.call, idle.front());
  still.evidence = best.evidence;
  still.next = best.next;
  best.against = "nothing was lost between the ranks";
  verdict.others.insert(verdict.others.begin(), std::move(best));
  best = std::move(still);
}

void name_connections(const std::vector<ConnectionProgress>& connections, const Job& job,
                      Explanation& explanation) {
  if (connections.empty() || explanation.kind == Kind::NotAHang) return;
  if (explanation.kind != Kind::NetworkStall) {
    for (const ConnectionProgress& one : connections) {
      if (!one.is_lacking() || explanation.details.size() >= kConnectionsShown) continue;
      explanation.details.push_back(
          fmt::format("rank {} waits for chunk {} of rank {} on channel {}", one.receiver,
                      one.received, one.sender, one.channel));
    }
    return;
  }
  const std::vector<ConnectionProgress> stalled = stalled_connections(connections);
  if (stalled.empty()) return;
  const ConnectionProgress& first = stalled.front();
  const RankDump* dump = job.rank(first.receiver).dump;
  for (const ConnectionProgress& one : stalled) {
    if (explanation.details.size() < kConnectionsShown) explanation.details.push_back(text_of(one));
    if (explanation.evidence.size() < kConnectionsShown && dump != nullptr) {
      explanation.evidence.push_back({dump->path, -1, -1, text_of(one)});
    }
  }
  const bool is_one = stalled.size() == 1;
  explanation.why +=
      fmt::format("; {}from rank {} to rank {} on channel {}{} {}", is_one ? "" : "among others, ",
                  first.sender, first.receiver, first.channel, is_one ? " alone" : "",
                  first.is_blocked ? "nothing can be sent" : "what was sent never arrived");
  if (is_one) explanation.confidence = std::max(explanation.confidence, 0.8);
}

}  // namespace ringside::hang
