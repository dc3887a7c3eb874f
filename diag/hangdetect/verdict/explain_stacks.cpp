#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/explain.h"
#include "diag/hangdetect/verdict/stack_groups.h"
#include "diag/hangdetect/verdict/transfer_stacks.h"

namespace ringside::hang {
namespace {

using Stacks = std::vector<const ProcessStack*>;

int count_of(const Stacks& stacks) {
  int count = 0;
  for (const ProcessStack* one : stacks) count += one->count;
  return count;
}

/// Global ranks, ascending; empty unless every one of the processes has one.
std::vector<int> ranks_of(const Stacks& stacks) {
  std::set<int> ranks;
  for (const ProcessStack* one : stacks) {
    if (static_cast<int>(one->ranks.size()) < one->count) return {};
    ranks.insert(one->ranks.begin(), one->ranks.end());
  }
  return {ranks.begin(), ranks.end()};
}

/// Launchers start the ranks of a host one after another, so the order of process ids is the order of local ranks. That
/// names a process only if all of its host are here: each host has as many, a number that hosts have GPUs.
/// returns  -1: it cannot be told
int rank_by_order(const LogFacts& facts, const ProcessStack& one) {
  if (one.pids.size() != 1 || one.count != 1) return -1;
  std::map<std::string, std::vector<std::int64_t>> hosts;
  for (const ProcessStack& stack : facts.stacks) {
    if (static_cast<int>(stack.pids.size()) != stack.count) return -1;
    auto& pids = hosts[stack.file];
    pids.insert(pids.end(), stack.pids.begin(), stack.pids.end());
  }
  const std::size_t size = hosts.begin()->second.size();
  int host = -1;
  int number = 0;
  for (auto& [file, pids] : hosts) {
    if (pids.size() != size) return -1;
    if (file == one.file) host = number;
    ++number;
  }
  const bool is_host = size == 2 || size == 4 || size == 8 || size == 16;
  if (!is_host || host < 0) return -1;
  std::vector<std::int64_t> pids = hosts.at(one.file);
  std::sort(pids.begin(), pids.end());
  const auto at = std::lower_bound(pids.begin(), pids.end(), one.pids.front()) - pids.begin();
  return host * static_cast<int>(size) + static_cast<int>(at);
}

Evidence evidence_of(const ProcessStack& one) { return {one.file, -1, one.line, one.text()}; }

/// Each place once, with all that stand there.
void add_places(const Stacks& stacks, Explanation& out) {
  constexpr std::size_t kShown = 8;
  std::vector<ProcessStack> places;
  for (const ProcessStack* one : stacks) {
    const auto same = std::find_if(places.begin(), places.end(), [&](const ProcessStack& known) {
      return known.place() == one->place() && known.doing == one->doing;
    });
    if (same == places.end()) {
      places.push_back(*one);
      continue;
    }
    same->count += one->count;
    same->ranks.insert(same->ranks.end(), one->ranks.begin(), one->ranks.end());
    same->pids.insert(same->pids.end(), one->pids.begin(), one->pids.end());
    if (same->host != one->host) same->host.clear();
  }
  for (const ProcessStack& one : places) {
    if (out.details.size() < kShown) out.details.push_back(one.text());
    if (out.evidence.size() < kShown) out.evidence.push_back(evidence_of(one));
  }
  if (out.stack.empty() && !stacks.empty()) out.stack = stacks.front()->frames;
}

/// Not one that computes, or compiles: it stands still, or does what others do not.
bool stands_still(Doing doing) {
  return doing != Doing::Works && doing != Doing::Compiles && doing != Doing::Collects;
}

Explanation late(const LogFacts& facts, const Stacks& busy, const Stacks& waiting) {
  Explanation out;
  const bool are_still = std::all_of(
      busy.begin(), busy.end(), [](const ProcessStack* one) { return stands_still(one->doing); });
  out.kind = are_still ? Kind::MissingRank : Kind::Straggler;
  out.culprits = ranks_of(busy);
  const int few = count_of(busy);
  const int others = count_of(waiting);
  const bool are_many = few * 3 <= others;
  out.confidence = are_many
                       ? (few == 1 ? confidence::kOneStackOutside : confidence::kFewStacksOutside)
                       : confidence::kStacksHalved;
  std::string who = ranks_text(out.culprits);
  if (out.culprits.empty()) {
    who = busy.front()->who();
    if (busy.size() > 1) who += fmt::format(" and {} more", few - busy.front()->count);
    const int rank = busy.size() == 1 ? rank_by_order(facts, *busy.front()) : -1;
    if (rank >= 0) {
      out.culprits = {rank};
      out.confidence = std::min(out.confidence, confidence::kRankByProcessOrder);
      who += fmt::format(", rank {} if process ids follow the ranks,", rank);
    }
  }
  out.why = fmt::format("{} {} in {}, and {} other{} in communication", who,
                        to_string(busy.front()->doing), busy.front()->place(), others,
                        others == 1 ? " waits" : "s wait");
  add_places(busy, out);
  add_places(waiting, out);
  out.stack = busy.front()->frames;
  return out;
}

/// Where a process waits: the call, and the first frame of the program's own below it.
std::string place_of(const ProcessStack& one) {
  for (std::size_t i = one.telling; i < one.frames.size(); ++i) {
    const Frame& frame = one.frames[i];
    const bool is_library = frame.file.find("distributed_c10d.py") != std::string::npos ||
                            frame.file.find("c10d_logger.py") != std::string::npos ||
                            frame.file.find("torch/_ops.py") != std::string::npos ||
                            frame.file.find("deepspeed/comm/") != std::string::npos ||
                            frame.file.find(".so") != std::string::npos;
    if (!is_library) return fmt::format("{} {}:{}", to_string(one.op), frame.function, frame.line);
  }
  return std::string(to_string(one.op));
}

bool is_of_transfers(const std::map<std::string, Stacks>& places) {
  return std::any_of(places.begin(), places.end(), [](const auto& one) {
    return std::any_of(one.second.begin(), one.second.end(), [](const ProcessStack* stack) {
      return stack->op == Op::Send || stack->op == Op::Recv || stack->op == Op::Coalesced ||
             stack->doing == Doing::MakesGroup;
    });
  });
}

/// All wait, and not all at one place.
Explanation parted(const std::map<std::string, Stacks>& places) {
  Explanation out;
  std::vector<const Stacks*> order;
  for (const auto& [place, stacks] : places) order.push_back(&stacks);
  std::stable_sort(order.begin(), order.end(),
                   [](const Stacks* a, const Stacks* b) { return count_of(*a) > count_of(*b); });
  const int most = count_of(*order.front());
  int rest = 0;
  for (std::size_t i = 1; i < order.size(); ++i) rest += count_of(*order[i]);
  const bool is_clear = rest * 3 <= most && order.size() == 2;
  if (is_clear) {
    out.kind = Kind::DivergedControlFlow;
    out.culprits = ranks_of(*order[1]);
    out.confidence = confidence::kFewStacksElsewhere;
    out.why = fmt::format("{} of {} processes wait in another call than the others: {}",
                          count_of(*order[1]), most + rest, order[1]->front()->place());
  } else {
    // Halves of transfers stand at different places in any pipeline.
    out.kind = is_of_transfers(places) ? Kind::Unknown : Kind::DivergedControlFlow;
    out.confidence = confidence::kStacksParted;
    out.why =
        fmt::format("{} processes wait at {} places, and nothing tells which of them left the path",
                    most + rest, order.size());
  }
  for (const Stacks* stacks : order) {
    add_places({stacks->front()}, out);
    out.details.back() += fmt::format(" ({} of them)", count_of(*stacks));
  }
  return out;
}

/// All that are here wait in one call.
Explanation together(const Stacks& waiting, bool are_all) {
  Explanation out;
  out.kind = are_all ? Kind::NetworkStall : Kind::Unknown;
  out.confidence = are_all ? confidence::kAllStacksTogether : confidence::kStacksParted;
  out.why = fmt::format("all {} processes whose stacks are here wait in one call: {}",
                        count_of(waiting), waiting.front()->place());
  if (!are_all) out.why += "; nothing says whether there are more, which would be the ones to ask";
  add_places(waiting, out);
  return out;
}

}  // namespace

std::vector<Explanation> explain_stacks(const Scene& scene, const LogFacts& facts) {
  if (has_dumps(scene.job)) return {};
  Stacks busy;
  Stacks waiting;
  std::map<std::string, Stacks> places;
  for (const ProcessStack& one : facts.stacks) {
    if (is_waiting(one.doing)) {
      waiting.push_back(&one);
      places[place_of(one)].push_back(&one);
    } else {
      busy.push_back(&one);
    }
  }
  const int all = count_of(busy) + count_of(waiting);
  if (all < 2 || waiting.empty()) return {};
  if (!busy.empty() && (count_of(busy) < count_of(waiting) || (all == 2 && busy.size() == 1))) {
    return {late(facts, busy, waiting)};
  }
  if (!busy.empty()) {
    places["elsewhere"] = busy;
    Explanation out = parted(places);
    out.kind = Kind::Unknown;
    out.culprits.clear();
    out.confidence = std::min(out.confidence, confidence::kStacksParted);
    return {out};
  }
  if (auto roots = roots_apart(facts)) return {*std::move(roots)};
  if (auto crossed = crossed_transfers(facts)) return {*std::move(crossed)};
  if (auto circle = circle_of_groups(facts)) return {*std::move(circle)};
  if (places.size() > 1) return {parted(places)};
  if (auto apart = apart_in_a_number(facts)) return {*std::move(apart)};
  return {together(waiting, facts.known_world > 0 && count_of(waiting) >= facts.known_world)};
}

}  // namespace ringside::hang
