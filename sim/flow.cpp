#include "sim/flow.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "engine/collectives/plan.h"
#include "sim/event/event_engine.h"
#include "sim/outcome.h"

namespace ringside {
namespace {

constexpr std::int64_t kFirstLoops = 16;
constexpr std::int64_t kMostTaskLoops =
    1 << 20;                      // of all ranks and channels: of a longer part none is simulated
constexpr double kSteady = 5e-3;  // of the time that a loop takes, what it may still change by

/// Of the channel with most, as the first rank plans them.
Result<std::int64_t> loops_of(const SimRequest& request) {
  RINGSIDE_TRY(const auto tasks,
               plan_channels(request.choice, request.channels, request.call, Rank{0}));
  std::int64_t loops = 0;
  for (const ChannelTask& task : tasks) loops = std::max(loops, task.loops());
  return loops;
}

/// Lists of transfers have sizes of their own.
bool can_be_cut(const CallShape& call) {
  return call.counts.empty() && call.sends.empty() && call.recvs.empty();
}

/// The call's first loops alone, without what is added in the end.
Result<SimResult> simulate_first(const SimRequest& request, std::int64_t count) {
  SimRequest part = request;
  part.call.count = count;
  part.overheads = {};
  part.progress = {};
  return simulate_events(part);
}

/// On the line through two calls of different length.
SimResult extended(const SimRequest& request, std::int64_t short_count, const SimResult& brief,
                   std::int64_t long_count, const SimResult& longer) {
  const double more = static_cast<double>(request.call.count - long_count) /
                      static_cast<double>(long_count - short_count);
  const auto counted = [&](std::int64_t before, std::int64_t after) {
    return after +
           static_cast<std::int64_t>(std::llround(more * static_cast<double>(after - before)));
  };
  SimResult result = longer;
  result.time += more * (longer.time - brief.time);
  result.busiest += more * (longer.busiest - brief.busiest);
  result.transfers = counted(brief.transfers, longer.transfers);
  result.steps = counted(brief.steps, longer.steps);
  result.time = request.overheads.total(result.time, result.busiest);
  return result;
}

}  // namespace

Result<SimResult> simulate_flows(const SimRequest& request) {
  if (request.trace != nullptr) {
    return Error{ErrorCode::InvalidArgument, "flow takes no steps that a trace could hold",
                 "--fidelity event takes each"};
  }
  RINGSIDE_TRY(check_request(request));
  const auto began = std::chrono::steady_clock::now();
  RINGSIDE_TRY(const std::int64_t loops, loops_of(request));
  if (loops <= 4 * kFirstLoops || !can_be_cut(request.call)) return simulate_events(request);
  const auto count_of = [&](std::int64_t some) {
    return static_cast<std::int64_t>(static_cast<double>(request.call.count) *
                                     static_cast<double>(some) / static_cast<double>(loops));
  };
  std::int64_t some = kFirstLoops;
  RINGSIDE_TRY(SimResult before, simulate_first(request, count_of(some)));
  double slope_before = 0;  // s an element
  bool is_steady = false;   // twice: where two directions take turns one doubling alone may mislead
  while (2 * some < loops) {
    RINGSIDE_TRY(const SimResult now, simulate_first(request, count_of(2 * some)));
    const double slope =
        (now.time - before.time).count() / static_cast<double>(count_of(2 * some) - count_of(some));
    const bool was_steady =
        std::exchange(is_steady, std::abs(slope - slope_before) <= kSteady * slope);
    const std::int64_t next = request.network->nranks() * request.choice.nchannels * 4 * some;
    if ((was_steady && is_steady) || next > kMostTaskLoops) {
      SimResult result = extended(request, count_of(some), before, count_of(2 * some), now);
      if (result.time < result.busiest) break;  // no pace is beyond the links'
      result.wall = std::chrono::steady_clock::now() - began;
      return result;
    }
    slope_before = slope;
    before = now;
    some *= 2;
  }
  return simulate_events(request);
}

Result<SimResult> simulate_as_fits(const SimRequest& request) {
  return request.trace != nullptr ? simulate_events(request) : simulate_flows(request);
}

}  // namespace ringside
