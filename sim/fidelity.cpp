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

/// Loops of all ranks and channels that `event` simulates in about a second (2 x 10 us each, if links are shared).
constexpr std::int64_t kMostTaskLoops = 1 << 17;

/// Transfers of an exchange over a fabric: all are in flight at once, and each end of one changes the rates of the
/// others.
constexpr std::int64_t kMostCoupled = 1 << 12;

Result<SimResult> simulate_as_fits(const SimRequest& request) {
  RINGSIDE_TRY(const PickedFidelity picked, pick_fidelity(request));
  return picked.fidelity->run(request);
}

/// Returns the tuner's own estimate, which uses no links.
Result<SimResult> predict(const SimRequest& request) {
  if (request.trace != nullptr) {
    return Error{ErrorCode::InvalidArgument, "model simulates no steps that a trace could hold",
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

/// Runs `kRun` and limits its result to what the links permit.
template <auto kRun>
Result<SimResult> within_links(const SimRequest& request) {
  RINGSIDE_TRY(SimResult result, kRun(request));
  RINGSIDE_TRY(check_against_links(request, result));
  return result;
}

constexpr std::array kTable{
    Fidelity{"chunk", "each chunk is a flow of SimGrid's, the algorithms run as they are",
             within_links<simulate>, true},
    Fidelity{"event", "each chunk is a flow of our own loop, over the recorded steps",
             within_links<simulate_events>, true},
    Fidelity{"flow",
             "what is alike counts once, and loops until each takes as long as the one before",
             within_links<simulate_flows>},
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
  RINGSIDE_TRY(const TaskPlanner planner,
               TaskPlanner::make(request.choice, request.channels, request.call));
  const Collective collective = request.choice.collective;
  // In gather and scatter, only the root has many transfers.
  const bool is_of_root = collective == Collective::Gather || collective == Collective::Scatter;
  const Rank busiest = is_of_root ? request.call.root : Rank{0};
  std::int64_t loops = 0;
  for (int channel = 0; channel < planner.nchannels(); ++channel) {
    RINGSIDE_TRY(const ChannelTask task, planner.task(busiest, channel));
    const auto rounds = static_cast<std::int64_t>(task.rounds.size());
    loops += task.loops() * std::max<std::int64_t>(rounds, 1);
  }
  const std::int64_t all = is_of_root ? loops : loops * planner.nranks();
  const char* const what =
      is_point_to_point(collective) ? "transfers" : "loops of all ranks and channels";
  const bool is_coupled = is_point_to_point(collective) && request.network->has_fabric();
  const std::int64_t most = is_coupled ? kMostCoupled : kMostTaskLoops;
  if (all <= most) {
    return PickedFidelity{named("event"), fmt::format("{} {}, at most {}", all, what, most)};
  }
  return PickedFidelity{named("flow"), fmt::format("{} {}, more than {}", all, what, most)};
}

}  // namespace ringside
