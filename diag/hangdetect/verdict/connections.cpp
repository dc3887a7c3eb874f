#include "diag/hangdetect/verdict/connections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "diag/hangdetect/verdict/call_names.h"
#include "diag/hangdetect/verdict/scene.h"

namespace ringside::hang {
namespace {

constexpr std::size_t kConnectionsShown = 8;

std::string text_of(const ConnectionProgress& one) {
  if (one.is_blocked) {
    return fmt::format(
        "rank {} -> rank {}, channel {}: rank {} cannot send, though all {} chunks were received",
        one.sender, one.receiver, one.channel, one.sender, one.sent);
  }
  return fmt::format("rank {} -> rank {}, channel {}: {} chunks sent, {} received", one.sender,
                     one.receiver, one.channel, one.sent, one.received);
}

/// Returns the oldest call in which any rank is blocked.
std::string first_call(const Scene& scene) {
  const std::vector<Front>& fronts = scene.wait_state.fronts;
  if (!fronts.empty()) {
    const int rank = fronts.front().waiting.front();
    return call_title(scene.job, scene.block(rank)->group, scene.call_of(rank));
  }
  for (int rank = 0; rank < scene.job.world(); ++rank) {
    if (scene.block(rank))
      return call_title(scene.job, scene.block(rank)->group, scene.call_of(rank));
  }
  return {};
}

/// Returns the rank at which all connections to several others begin or end: its host, rather than one path.
std::vector<int> common_end(const std::vector<ConnectionProgress>& stalled) {
  std::set<int> senders, receivers;
  for (const ConnectionProgress& one : stalled) {
    senders.insert(one.sender);
    receivers.insert(one.receiver);
  }
  if (senders.size() == 1 && receivers.size() > 1) return {*senders.begin()};
  if (receivers.size() == 1 && senders.size() > 1) return {*receivers.begin()};
  return {};
}

/// Ranks that wait for no data while others wait for their data.
std::vector<int> unblocked_in_call(const Scene& scene) {
  std::set<int> waiting, awaited;
  for (const ConnectionProgress& one : scene.connections) {
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
    if (rank < scene.job.world() && scene.block(rank) && !waiting.contains(rank))
      idle.push_back(rank);
  }
  return idle;
}

}  // namespace

std::vector<ConnectionProgress> stalled_connections(
    std::span<const ConnectionProgress> connections) {
  std::set<int> lacking;
  std::map<int, std::set<int>> awaited;  // by the waiting rank
  for (const ConnectionProgress& one : connections) {
    if (one.is_lacking() && !one.is_blocked) lacking.insert(one.receiver);
    if (one.receiver_waits) awaited[one.receiver].insert(one.sender);
    if (one.sender_waits) awaited[one.sender].insert(one.receiver);
  }
  std::vector<ConnectionProgress> stalled;
  for (const ConnectionProgress& one : connections) {
    const bool is_lost = one.is_under_way() && !lacking.contains(one.receiver);
    // A receiver that forwards what it got keeps the sender's buffers until its own peer has room.
    const auto waits = awaited.find(one.receiver);
    const bool is_receiver_stuck =
        waits != awaited.end() &&
        std::ranges::any_of(waits->second, [&](int peer) { return peer != one.sender; });
    if (is_lost || (one.is_blocked && !is_receiver_stuck)) stalled.push_back(one);
  }
  return stalled;
}

void add_connections(const Scene& scene, Explanations& out) {
  if (scene.connections.empty() || !scene.is_blocked_anywhere()) return;
  Explanation one;
  one.call = first_call(scene);
  const std::vector<ConnectionProgress> stalled = stalled_connections(scene.connections);
  // A trace lacks up to 250 ms of its rank, so it shows lost data only if every rank has entered the call.
  const bool have_all_entered = std::ranges::all_of(
      scene.wait_state.fronts, [](const Front& front) { return front.absent.empty(); });
  if (!scene.has_both_ends && !have_all_entered) return;
  if (!stalled.empty()) {
    one.kind = Kind::NetworkStall;
    one.features = {Feature::DataLost};
    one.total = static_cast<std::int64_t>(stalled.size());
    one.suspects = common_end(stalled);
    one.others = {stalled.front().sender, stalled.front().receiver};
    one.where = fmt::format("rank {} to rank {} on channel {}", stalled.front().sender,
                            stalled.front().receiver, stalled.front().channel);
    for (const ConnectionProgress& connection : stalled) {
      if (one.places.size() >= kConnectionsShown) break;
      one.places.push_back({{}, "", text_of(connection)});
      if (const RankDump* dump = scene.job.rank(connection.receiver).dump; dump != nullptr)
        one.evidence.push_back({dump->path, -1, -1, text_of(connection)});
    }
    one.missing.push_back({Need::What::Counters});
    out.push_back(std::move(one));
    return;
  }
  if (!scene.has_both_ends) return;
  // If ranks made different calls, those calls determine which of them wait for data.
  const bool do_calls_differ = std::ranges::any_of(out, [](const Explanation& other) {
    return other.ground() == Feature::CallsDiffer || other.ground() == Feature::EndsDiffer;
  });
  if (do_calls_differ) return;
  // If several ranks wait for no data, each of them may have done its part.
  const std::vector<int> idle = unblocked_in_call(scene);
  if (idle.size() != 1) return;
  // A rank that waits for another one by its calls (a receive whose sender has gone on) is blocked, whatever it has
  // got.
  if (!scene.wait_state.waits[static_cast<std::size_t>(idle.front())].empty()) return;
  one.kind = Kind::DeadRank;
  one.culprits = idle;
  one.features = {Feature::UnblockedInCall};
  const Call& call = scene.call_of(idle.front());
  one.call = call_title(scene.job, scene.block(idle.front())->group, call);
  one.evidence.push_back(evidence_of(scene.job, idle.front(), call, "in " + one.call));
  out.push_back(std::move(one));
}

void add_lacking_chunks(std::span<const ConnectionProgress> connections, Explanation& best) {
  if (best.kind == Kind::NotAHang || best.kind == Kind::NetworkStall) return;
  for (const ConnectionProgress& one : connections) {
    if (!one.is_lacking() || best.places.size() >= kConnectionsShown) continue;
    best.places.push_back({{},
                           "",
                           fmt::format("rank {} waits for chunk {} of rank {} on channel {}",
                                       one.receiver, one.received, one.sender, one.channel)});
  }
}

}  // namespace ringside::hang
