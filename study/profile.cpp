#include "study/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "engine/protocol/slot_fifo.h"
#include "sim/call_trace.h"
#include "sim/slices.h"
#include "trace/sink.h"

namespace ringside::study {
namespace {

constexpr std::int64_t kMostSteps = 1 << 21;  // 64 bytes each, and as much again for the index
constexpr std::size_t kSlices = 48;           // of the call; phases begin and end at their borders

Seconds seconds(std::int64_t ns) { return Seconds{static_cast<double>(ns) * 1e-9}; }
Nanoseconds nanoseconds(Seconds time) { return std::chrono::round<Nanoseconds>(time); }

/// The routes of the call's network, and the utilisation of their links.
class RouteTable {
 public:
  RouteTable(const JobNetwork& network, const SimCall& call, const LinkLoads& loads)
      : network_(network), costs_(call.tuned.costs), choice_(call.tuned.choice) {
    for (const LinkLoad& one : loads.links) {
      busy_[one.link] = one.bytes / network.rate(one.link).value;
    }
  }

  struct RouteTimes {
    ChunkTimes times = {};  ///< for a chunk of no bytes: the latency alone
    double least_rate = 0;  ///< bytes/s
    StepLink slowest = StepLink::NvLink;
    std::string link = {};  ///< the one of them that is busy longest
  };

  const RouteTimes& between(int from, int to, int channel) {
    const auto [place, is_new] = known_.try_emplace({from, to, channel});
    if (is_new) place->second = find(from, to, channel);
    return place->second;
  }

  ChunkTimes times_of(const TraceEvent& sent, int to) {
    const RouteTimes& route = between(sent.rank, to, sent.channel);
    ChunkTimes times = route.times;
    const double bytes = static_cast<double>(sent.bytes) * wire_factor(choice_.protocol);
    if (route.least_rate > 0) times.crossing = nanoseconds(Seconds{bytes / route.least_rate});
    return times;
  }

 private:
  [[nodiscard]] RouteTimes find(int from, int to, int channel) const {
    const SimRoute route =
        network_.route(Rank{from}, Rank{to == from ? neighbour_of(from) : to}, channel);
    RouteTimes found{.slowest = route.slowest};
    const auto slowest = static_cast<std::size_t>(route.slowest);
    const bool by_switch =
        route.slowest == StepLink::NvLink &&
        (choice_.algorithm == Algorithm::Nvls || choice_.algorithm == Algorithm::NvlsTree);
    const Seconds latency = by_switch ? costs_.nvswitch : costs_.step[slowest] + route.beyond;
    found.times.latency = nanoseconds(latency);
    double longest = -1;
    for (const int link : route.links) {
      const double rate = network_.rate(link).value;
      if (found.least_rate == 0 || rate < found.least_rate) found.least_rate = rate;
      const auto busy = busy_.find(link);
      const double needs = busy == busy_.end() ? 0 : busy->second;
      if (needs <= longest) continue;
      longest = needs;
      found.link = network_.link(link).name;
    }
    found.least_rate *= by_switch ? costs_.nvswitch_efficiency : costs_.share[slowest];
    return found;
  }

  /// A rank on both sides of an NVSwitch's group crosses the same links as to its neighbour.
  [[nodiscard]] int neighbour_of(int rank) const {
    return rank % 2 == 0 && rank + 1 < network_.nranks() ? rank + 1 : rank - 1;
  }

  const JobNetwork& network_;
  const SimCosts& costs_;
  const Choice& choice_;
  std::unordered_map<int, double> busy_;  ///< by link: s
  std::map<std::array<int, 3>, RouteTimes> known_;
};

const char* latency_text(StepLink link) {
  switch (link) {
    case StepLink::NvLink:
      return "latency of steps over NVLink";
    case StepLink::Pci:
      return "latency of steps over PCI";
    case StepLink::Net:
      break;
  }
  return "latency of steps over the network";
}

/// Sorts the links by kind, the busiest kind first.
std::vector<LinkUsage> usage_of(const SimNetwork& network, const LinkLoads& loads, Seconds time) {
  std::map<std::string, LinkUsage> kinds;
  for (const LinkLoad& load : loads.links) {
    SimLink link = network.link(load.link);
    const double share = load.bytes / link.rate.value / time.count();
    std::string kind = link_kind(link.name);
    LinkUsage& usage = kinds[kind];
    ++usage.links;
    usage.mean_share += share;
    if (usage.share >= share) continue;
    usage.kind = std::move(kind);
    usage.bytes = load.bytes;
    usage.share = share;
    usage.over_time.clear();
    for (const double bytes : load.over_time) {
      usage.over_time.push_back(std::min(1.0, bytes / (link.rate.value * loads.span.count())));
    }
    // Nothing is carried from the last step to the end of the call.
    if (!usage.over_time.empty()) {
      const auto spans = static_cast<std::size_t>(std::ceil(time / loads.span));
      usage.over_time.resize(std::max(usage.over_time.size(), spans));
    }
    usage.busiest = std::move(link);
  }
  std::vector<LinkUsage> sorted;
  for (auto& [kind, usage] : kinds) {
    usage.mean_share /= static_cast<double>(usage.links);
    sorted.push_back(std::move(usage));
  }
  std::ranges::stable_sort(sorted, std::greater{}, &LinkUsage::share);
  return sorted;
}

/// Splits a leg by its terms: a chunk crosses its links first, and its latency follows.
void append_parts(const PathLeg& leg, const TraceEvent& event, RouteTable& routes, ProfileLeg& part,
                  std::vector<Stretch>& parts) {
  const auto add = [&](Seconds begin, Seconds end, std::string what) {
    if (end > begin) parts.push_back({begin, end, std::move(what)});
  };
  switch (leg.cause) {
    case PathCause::Begin:
    case PathCause::Own:
      return add(part.begin, part.end, "the ranks' own steps");
    case PathCause::Room:
      return add(part.begin, part.end, "waiting for a free slot");
    case PathCause::Link:
    case PathCause::Message:
      break;
  }
  const bool is_message = leg.cause == PathCause::Message;
  const RouteTable::RouteTimes& route = is_message
                                            ? routes.between(leg.peer, event.rank, event.channel)
                                            : routes.between(event.rank, leg.peer, event.channel);
  const Seconds latency = is_message ? Seconds{route.times.latency} : Seconds{};
  const Seconds crossed = std::max(part.begin, part.end - latency);
  part.crossing = route.link;
  part.carried = crossed - part.begin;
  add(part.begin, crossed, "bandwidth of " + link_kind(route.link));
  add(crossed, part.end, latency_text(route.slowest));
}

std::vector<TimeTerm> terms_of(const std::vector<Stretch>& parts) {
  std::map<std::string, Seconds> sums;
  for (const Stretch& part : parts) sums[part.what] += part.end - part.begin;
  std::vector<TimeTerm> terms;
  for (const auto& [what, time] : sums) terms.push_back({what, time});
  std::ranges::stable_sort(terms, std::greater{}, &TimeTerm::time);
  return terms;
}

using Sums = std::map<std::string, Seconds>;

/// Returns the time of each term, by slice of the call.
std::vector<Sums> slices_of(const std::vector<Stretch>& parts, Seconds slice) {
  std::vector<Sums> slices(kSlices);
  for (const Stretch& part : parts) {
    const auto first = static_cast<std::size_t>(part.begin / slice);
    for (std::size_t i = first; i < kSlices; ++i) {
      const Seconds begin = slice * static_cast<double>(i);
      const Seconds inside = std::min(part.end, begin + slice) - std::max(part.begin, begin);
      if (inside <= Seconds{}) break;
      slices[i][part.what] += inside;
    }
  }
  return slices;
}

const std::string& most_of(const Sums& sums) {
  return std::ranges::max_element(sums, {}, [](const auto& one) { return one.second; })->first;
}

/// Returns the dominant term around each slice of the call, as steps alternate between latency and bytes. Consecutive
/// slices with the same dominant term are a phase, which is named after it.
std::vector<Phase> phases_of(const std::vector<Stretch>& parts, Seconds time) {
  constexpr std::size_t kAround = 4;  // slices on each side
  const Seconds slice = time / static_cast<double>(kSlices);
  const std::vector<Sums> slices = slices_of(parts, slice);
  std::vector<std::pair<std::size_t, std::size_t>> runs;  // of slices: first, after the last
  std::string before;
  for (std::size_t i = 0; i < kSlices; ++i) {
    Sums around;
    const std::size_t last = std::min(kSlices - 1, i + kAround);
    for (std::size_t at = i > kAround ? i - kAround : 0; at <= last; ++at) {
      for (const auto& [what, sum] : slices[at]) around[what] += sum;
    }
    if (around.empty()) continue;
    if (runs.empty() || most_of(around) != before) runs.emplace_back(i, i);
    before = most_of(around);
    runs.back().second = i + 1;
  }
  std::vector<Phase> phases;
  std::vector<Sums> own;
  for (const auto& [first, last] : runs) {
    Sums sums;
    for (std::size_t i = first; i < last; ++i) {
      for (const auto& [what, sum] : slices[i]) sums[what] += sum;
    }
    if (sums.empty()) continue;
    if (phases.empty() || phases.back().what != most_of(sums)) {
      phases.push_back({slice * static_cast<double>(first), {}, most_of(sums), 0});
      own.emplace_back();
    }
    for (const auto& [what, sum] : sums) own.back()[what] += sum;
    phases.back().end = slice * static_cast<double>(last);
  }
  for (std::size_t i = 0; i < phases.size(); ++i) {
    phases[i].share = own[i][phases[i].what] / (phases[i].end - phases[i].begin);
  }
  return phases;
}

/// Sets the profile's critical path, its stretches, terms and phases, from the steps of the call. The launch comes
/// before the first step; after the last one comes the rest of the call's time.
/// trace   of the call that `profile.row` describes
/// errors  as TraceFile::parse(), Replay::make()
Status trace_path(const SimCall& call, const TraceMemorySink& trace, RouteTable& routes,
                  Profile& profile) {
  const std::vector<std::byte> bytes = trace.bytes();
  RINGSIDE_TRY(TraceFile file, TraceFile::parse(bytes, "the simulation's trace"));
  RINGSIDE_TRY(const Replay replay, Replay::make(std::move(file)));
  const Choice& choice = call.tuned.choice;
  const PathKnowledge knowledge{
      .chunk = [&routes](const TraceEvent& sent, int to) { return routes.times_of(sent, to); },
      .room = kSlots / Slices(choice, size_of(call.shape.type)).slots()};
  const std::vector<PathLeg> legs = critical_path(replay, 0, CallTrace::kSequence, knowledge);
  std::vector<Stretch>& parts = profile.stretches;
  const Seconds launch = legs.empty() ? Seconds{} : seconds(legs.front().time.begin_ns);
  if (launch > Seconds{}) parts.push_back({Seconds{}, launch, "launch"});
  for (const PathLeg& leg : legs) {
    const TraceEvent event = replay.event(leg.step);
    ProfileLeg& part = profile.path.emplace_back(ProfileLeg{.begin = seconds(leg.time.begin_ns),
                                                            .end = seconds(leg.time.end_ns),
                                                            .rank = event.rank,
                                                            .channel = event.channel,
                                                            .step = event.step,
                                                            .primitive = event.primitive,
                                                            .cause = leg.cause,
                                                            .peer = leg.peer});
    append_parts(leg, event, routes, part, parts);
  }
  const Seconds time = profile.row.result.time;
  const Seconds steps_end = profile.path.empty() ? Seconds{} : profile.path.back().end;
  if (time > steps_end)
    parts.push_back({steps_end, time, "after the last step: ramps of pipelines, ends of kernels"});
  profile.terms = terms_of(parts);
  profile.phases = phases_of(parts, time);
  return {};
}

}  // namespace

std::string link_kind(const std::string& name) {
  std::string kind;
  for (const char c : name) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      kind += c;
    } else if (kind.empty() || kind.back() != '*') {
      kind += '*';
    }
  }
  return kind;
}

Result<Profile> profile_call(const SimPlan& plan, const SimCall& call,
                             const std::function<void(double)>& progress) {
  Profile profile;
  TraceMemorySink trace;
  RINGSIDE_TRY(
      profile.row,
      simulate_call(plan, call,
                    {.progress = progress,
                     .wants_loads = true,
                     .trace = &trace,
                     .wants_slices = plan.question.trace.empty(),  // the user's file has chunks
                     .most_steps = kMostSteps}));
  const SimResult& result = profile.row.result;
  const JobNetwork network = network_of(plan, call);
  profile.links = usage_of(network, result.loads, result.time);
  profile.span = result.loads.span;
  if (profile.row.fidelity == "flow" || profile.row.fidelity == "model") {
    profile.no_path =
        fmt::format("{} simulates no steps: --fidelity event does", profile.row.fidelity);
    return profile;
  }
  if (!profile.row.is_traced) {
    profile.no_path =
        fmt::format("{} steps are too many to keep ({} at most): give fewer bytes or nodes",
                    result.steps, kMostSteps);
    return profile;
  }
  RouteTable routes(network, call, result.loads);
  RINGSIDE_TRY(trace_path(call, trace, routes, profile));
  if (!profile.terms.empty()) {
    profile.row.path_limit = profile.terms.front().what;
    profile.row.path_part = profile.terms.front().time / result.time;
  }
  return profile;
}

}  // namespace ringside::study
