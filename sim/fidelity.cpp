#include "sim/fidelity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/suggest.h"
#include "base/vocabulary.h"
#include "engine/collectives/plan.h"
#include "sim/event/event_engine.h"
#include "sim/flow/flow.h"
#include "sim/outcome.h"

namespace ringside {
namespace {

/// Of all ranks and channels: so many loops `event` takes in a second or so (2 x 10 us each, where links are shared).
constexpr std::int64_t kMostTaskLoops = 1 << 17;

Result<SimResult> simulate_as_fits(const SimRequest& request) {
  RINGSIDE_TRY(const PickedFidelity picked, pick_fidelity(request));
  return picked.fidelity->run(request);
}

/// What the tuner reckons with: no link is looked at.
Result<SimResult> predict(const SimRequest& request) {
  if (request.trace != nullptr) {
    return Error{ErrorCode::InvalidArgument, "model takes no steps that a trace could hold",
                 "--fidelity event takes each"};
  }
  if (!request.predicted) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("NCCL predicts no time for {}", to_string(request.choice.collective)),
                 "--fidelity event simulates it"};
  }
  SimResult result{};
  result.time = *request.predicted;
  return result;
}

constexpr std::array kTable{
    Fidelity{"chunk", "each chunk is a flow of SimGrid's, the algorithms run as they are", simulate,
             true},
    Fidelity{"event", "each chunk is a flow of our own loop, over the recorded steps",
             simulate_events, true},
    Fidelity{
        "flow",
        "channels are coupled flows over all links; steps by events at the rates that they get",
        simulate_flows},
    Fidelity{kModelFidelity, "the closed form that NCCL's tuner chooses by: no link is looked at",
             predict},
    Fidelity{kAutoFidelity, "event for what it does in a second, and traces; else flow",
             simulate_as_fits},
};

const Fidelity* named(std::string_view name) {
  return &*std::ranges::find(kTable, name, &Fidelity::name);
}

}  // namespace

std::span<const Fidelity> fidelities() { return kTable; }

Result<const Fidelity*> parse_fidelity(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &Fidelity::name);
  if (found != kTable.end()) return &*found;
  std::vector<std::string_view> known;
  for (const Fidelity& one : kTable) known.push_back(one.name);
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown fidelity '{}'", name),
               suggestion(name, known)};
}

Result<PickedFidelity> pick_fidelity(const SimRequest& request) {
  RINGSIDE_TRY(check_request(request));
  if (request.trace != nullptr) return PickedFidelity{named("event"), "a trace has each step"};
  if (is_point_to_point(request.choice.collective)) {
    return PickedFidelity{named("event"), "each transfer has links of its own"};
  }
  RINGSIDE_TRY(const TaskPlanner planner,
               TaskPlanner::make(request.choice, request.channels, request.call));
  std::int64_t loops = 0;
  for (int channel = 0; channel < planner.nchannels(); ++channel) {
    RINGSIDE_TRY(const ChannelTask task, planner.task(Rank{0}, channel));
    loops += task.loops();
  }
  const std::int64_t all = loops * planner.nranks();
  if (all <= kMostTaskLoops) {
    return PickedFidelity{named("event"), fmt::format("{} loops of ranks and channels, few", all)};
  }
  return PickedFidelity{named("flow"), fmt::format("{} loops of ranks and channels, more than {}",
                                                   all, kMostTaskLoops)};
}

}  // namespace ringside
