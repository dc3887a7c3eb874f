#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "diag/hangdetect/verdict/evidence.h"
#include "diag/hangdetect/verdict/scene.h"
#include "diag/job/completion_meaning.h"

namespace ringside::hang {
namespace {

using facts::LinkFault;
using facts::LinkState;
using Links = FactList<LinkFault>;

bool is_connection_end(const LinkFault& one) {
  return one.state == LinkState::Closed && (one.what == "peer" || one.what == "store");
}

/// Returns a text such as `node-a, adapter mlx5_2: completion 12 (transport retries exhausted) from peer 10.1.0.2`.
std::string text_of(const LinkFault& one) {
  std::string text = one.subject.host.empty() ? "a host" : one.subject.host;
  if (!one.subject.device.empty()) text += ", adapter " + one.subject.device;
  const job::CompletionMeaning* meaning = job::meaning_of_completion(one.code);
  if (meaning == nullptr) return text + ": " + one.what;
  text += fmt::format(": completion {} ({})", one.code, meaning->name);
  // The port after the address belongs to this connection only, so it is omitted.
  if (!one.peer_host.empty())
    text += " from peer " + one.peer_host.substr(0, one.peer_host.find('<'));
  return text;
}

/// Returns whether the connection ended because the job was ended from outside. Within one file, the order of lines
/// shows this; different files have no common clock.
bool follows_cancellation(const Scene& scene, const LinkFault& one) {
  return std::ranges::any_of(scene.facts.deaths, [&](const facts::Died& end) {
    return end.cause == facts::DeathCause::Cancelled &&
           (one.source.file != end.source.file || one.source.line > end.source.line);
  });
}

/// Returns whether the program finished and no rank timed out.
bool has_ended_well(const Scene& scene) {
  return scene.logs.run.has_ended && scene.logs.timeouts == 0 && scene.logs.run.waits == 0;
}

Links ended(const Scene& scene, std::string_view what) {
  return facts_where(scene.facts.link_faults, [&](const LinkFault& one) {
    return one.state == LinkState::Closed && one.what == what && !follows_cancellation(scene, one);
  });
}

void add_store(const Scene& scene, Explanations& out) {
  const Links store = ended(scene, "store");
  if (store.empty()) return;
  const std::vector<int> losers = ranks_of(store);
  const bool has_root = !losers.empty() && losers.front() == 0;
  const bool may_name = !has_root && !losers.empty() && !scene.timed_out.contains(0);
  Explanation one = stated(Kind::DeadRank, Feature::StoreLost, store,
                           may_name ? std::vector<int>{0} : std::vector<int>{});
  if (scene.logs.timeouts > 0) one.add(Feature::Consequence);
  one.waiting = losers;
  for (const LinkFault* fault : store) {
    if (one.where.empty()) one.where = fault->peer_host;
  }
  one.missing.push_back({Need::What::ExitStatus, {0}});
  out.push_back(std::move(one));
}

void add_peer(const Scene& scene, Explanations& out) {
  const Links peer = ended(scene, "peer");
  if (peer.empty()) return;
  const std::vector<int> losers = ranks_of(peer);
  std::vector<int> gone;
  for (const LinkFault* one : peer) {
    if (one->peer >= 0 && !std::ranges::binary_search(losers, one->peer)) gone = {one->peer};
  }
  if (gone.empty() && scene.logs.known_world == 2 && losers.size() == 1)
    gone = {1 - losers.front()};
  Explanation one = stated(Kind::DeadRank, Feature::PeerLost, peer, gone);
  // The other rank of two, or the rank that the call names.
  if (!gone.empty()) one.add(Feature::AllReported);
  one.waiting = losers;
  one.missing.push_back({Need::What::ExitStatus, gone});
  out.push_back(std::move(one));
}

/// Adds failed transfers and ports, as reported by the hosts that noticed them.
void add_failed(const Scene& scene, Explanations& out) {
  const bool has_timeouts = scene.logs.timeouts > 0;
  Links said = facts_where(scene.facts.link_faults, [&](const LinkFault& one) {
    if (is_connection_end(one) || one.state == LinkState::Unreachable ||
        one.state == LinkState::Slow || one.state == LinkState::Reset)
      return false;
    // Ports also go down and come back in jobs that continue, and queues are also flushed at a normal end.
    const bool is_event = one.state == LinkState::Flapped;
    const bool is_flush = one.state == LinkState::Closed && scene.logs.run.finished > 0;
    return has_timeouts || !(is_event || is_flush);
  });
  if (said.empty()) return;
  // A flushed queue shows only that something failed before it.
  const auto is_first_cause = [](const LinkFault* one) {
    return one->state != LinkState::Closed && one->state != LinkState::Flapped;
  };
  std::stable_partition(said.begin(), said.end(), is_first_cause);
  std::stable_sort(said.begin(), said.end(), [&](const LinkFault* a, const LinkFault* b) {
    return is_first_cause(a) == is_first_cause(b) && a->time_us != 0 && b->time_us != 0 &&
           a->time_us < b->time_us;
  });
  const bool is_cause = is_first_cause(said.front());
  Explanation one =
      stated(Kind::NetworkStall,
             has_timeouts && is_cause ? Feature::LinkFailed : Feature::LinkSuspected, said, {});
  one.what = text_of(*said.front());
  one.completion = said.front()->code;
  std::set<std::string> seen;
  std::set<std::pair<std::string, std::int64_t>> lines;
  for (const LinkFault* fault : said) {
    constexpr std::size_t kShown = 6;
    const bool is_new = lines.emplace(fault->source.file, fault->source.line).second;
    if (one.places.size() < kShown && is_new && seen.insert(text_of(*fault)).second)
      one.places.push_back({{}, "", text_of(*fault)});
  }
  if (!is_cause) one.missing.push_back({Need::What::Logs});
  one.missing.push_back({Need::What::Counters});
  out.push_back(std::move(one));
}

/// Adds the link faults of one state as one hypothesis.
void add_state(const Scene& scene, LinkState state, Feature ground, Need::What need,
               Explanations& out) {
  const Links some = facts_where(scene.facts.link_faults,
                                 [&](const LinkFault& one) { return one.state == state; });
  if (some.empty()) return;
  Explanation one = stated(Kind::NetworkStall, ground, some, {});
  one.what = some.front()->what;
  one.others = ranks_of(some);
  one.missing.push_back({need});
  out.push_back(std::move(one));
}

}  // namespace

void add_links(const Scene& scene, Explanations& out) {
  // If dumps show which ranks wait, the end of a connection is a consequence, because all connections end at last. A
  // rank that finished leaves, and the rank with the store leaves first: neither is evidence of a hang.
  if (!scene.has_dumps && !has_ended_well(scene)) {
    add_store(scene, out);
    add_peer(scene, out);
  }
  add_failed(scene, out);
  add_state(scene, LinkState::Reset, Feature::LinkFailed, Need::What::Counters, out);
  add_state(scene, LinkState::Unreachable, Feature::LinkSuspected, Need::What::Counters, out);
  if (scene.is_hang_reported() || scene.is_blocked_anywhere())
    add_state(scene, LinkState::Slow, Feature::LinkSuspected, Need::What::KernelLog, out);
}

}  // namespace ringside::hang
