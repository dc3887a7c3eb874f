#include "study/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/assert.h"
#include "engine/collectives/plan.h"
#include "engine/collectives/record.h"
#include "study/release_spread.h"
#include "study/validate/measured_reach.h"
#include "trace/file_sink.h"

namespace ringside::study {
namespace {

/// --algo and --proto as NCCL's variables.
Result<JobOptions> forced(const SimQuestion& question, Collective collective) {
  JobOptions job = question.job;
  const bool is_forced = !question.algorithm.empty() || !question.protocol.empty();
  if (is_forced && is_point_to_point(collective)) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--algo and --proto with {}", to_string(collective)),
                 "it is made of sends and receives, by Simple"};
  }
  if (!question.net.empty()) {
    RINGSIDE_TRY(const NetKind net, parse_net_kind(question.net));
    if (net == NetKind::Tcp && job.hosts.gdr.value_or(false)) {
      return Error{ErrorCode::InvalidArgument, "GPUDirect RDMA with --net tcp",
                   "NCCL's sockets read and write the hosts' memory; tcpx and fastrak do not"};
    }
    if (net == NetKind::Tcp) job.hosts.gdr = false;
  }
  if (!question.algorithm.empty()) {
    RINGSIDE_TRY(const Algorithm algorithm, parse_algorithm(question.algorithm));
    if (static_cast<int>(algorithm) >= kNcclAlgorithms) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("--algo {}: NCCL has no such algorithm", question.algorithm),
                   "it runs between processes of this machine: ringside bench"};
    }
    job.set.push_back(fmt::format("NCCL_ALGO={}", nccl_name(algorithm)));
  }
  // NCCL has no other algorithm for it.
  const bool has_algorithm = std::ranges::any_of(
      job.set, [](const std::string& one) { return one.starts_with("NCCL_ALGO="); });
  if (collective == Collective::AllGatherV && !has_algorithm)
    job.set.emplace_back("NCCL_ALGO=Ring");
  if (!question.protocol.empty()) {
    RINGSIDE_TRY(const Protocol protocol, parse_protocol(question.protocol));
    job.set.push_back(fmt::format("NCCL_PROTO={}", nccl_name(protocol)));
  }
  return job;
}

/// Returns the error if the options leave no combination that NCCL supports: it lists the options, and the reason that
/// excludes each combination they leave.
Error unsupported_by_options(const SimPlan& plan, const TuningCall& call) {
  const SimQuestion& question = plan.question;
  std::string options;
  if (!question.algorithm.empty()) options += fmt::format(" --algo {}", question.algorithm);
  if (!question.protocol.empty()) options += fmt::format(" --proto {}", question.protocol);
  std::vector<std::string> reasons;
  for (const Candidate& one : plan.job.tuner.candidates(call)) {
    const std::string_view algorithm = to_string(one.algorithm);
    const std::string_view protocol = to_string(one.protocol);
    const bool is_meant = (question.algorithm.empty() || question.algorithm == algorithm) &&
                          (question.protocol.empty() || question.protocol == protocol);
    if (!is_meant || one.obstacle == Obstacle::None) continue;
    reasons.push_back(fmt::format("{}/{}: {}", algorithm, protocol, to_string(one.obstacle)));
  }
  return {ErrorCode::InvalidArgument,
          fmt::format("NCCL has no {} by{} on {}", to_string(call.collective), options,
                      question.job.on),
          fmt::format("leave it to NCCL, or give another ({})", fmt::join(reasons, "; "))};
}

Status check_calls(const SimQuestion& question, const Calls& calls) {
  if (calls.collective == Collective::Send || calls.collective == Collective::Recv) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} alone has no other end", to_string(calls.collective)),
                 "simulate send_recv: each rank sends to the next one"};
  }
  if (!question.trace.empty() && calls.sizes.size() != 1) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("--trace with {} sizes", calls.sizes.size()),
                 "a trace holds one simulation: give --bytes one size"};
  }
  return {};
}

CallShape shape_of(const Calls& calls, std::int64_t count, int nranks) {
  CallShape shape{.count = count, .type = calls.type};
  if (calls.collective == Collective::AllGatherV) {
    shape.counts.assign(static_cast<std::size_t>(nranks), count);
  }
  return shape;
}

Result<Surroundings> surroundings_of(const SimQuestion& question, const Job& job) {
  Surroundings found = likely_surroundings(job);
  const NetKind likely = found.net;
  if (!question.net.empty()) {
    RINGSIDE_TRY(found.net, parse_net_kind(question.net));
    // Both kinds share the maker's name; the devices show which one it is.
    if (found.net == NetKind::FasTrak && likely == NetKind::Tcpx) found.net = likely;
  }
  RINGSIDE_TRY(found.launch, parse_launch_style(question.launch));
  return found;
}

/// Returns the links that the fabric's file takes down: one of these disconnects the hosts, if one does.
std::string down_text(const FabricSettings& fabric) {
  constexpr int kShown = 4;
  std::string text;
  int shown = 0;
  for (const LinkRule& rule : fabric.rules) {
    if (rule.share > 0) continue;
    if (++shown > kShown) return text + ", ...";
    text += fmt::format("{}{} ({})", text.empty() ? "; down: " : ", ", rule.text, rule.where);
  }
  return text;
}

/// Passes everything to both sinks, of which the first may be null.
struct BothSinks : TraceSink {
  BothSinks(TraceSink* one, TraceSink* other) : first(one), second(other) {}
  Status write(std::span<const std::byte> block) override {
    if (first != nullptr) {
      RINGSIDE_TRY(first->write(block));
    }
    return second->write(block);
  }
  TraceSink* first;
  TraceSink* second;
};

/// Returns whether all ranks and channels together take at most `most` steps.
Result<bool> has_at_most(std::int64_t most, const SimRequest& request) {
  RINGSIDE_TRY(const TaskPlanner planner,
               TaskPlanner::make(request.choice, request.channels, request.call));
  ProgramBook book;
  std::int64_t steps = 0;
  for (int rank = 0; rank < planner.nranks(); ++rank) {
    RINGSIDE_TRY(const std::vector<ChannelTask> tasks, planner.tasks(Rank{rank}));
    for (const ChannelTask& task : tasks) steps += count_steps(*book.of(task).program);
    if (steps > most) return false;
  }
  return true;
}

/// Returns the time of one message over the busiest link.
Seconds longest_crossing(const SimRow& row) {
  const Choice& choice = row.call.tuned.choice;
  const auto bytes = static_cast<double>(std::min(choice.chunk, row.call.bytes).value);
  return Seconds{bytes * wire_factor(choice.protocol) / row.busiest->rate.value};
}

Seconds shortest_step(const SimCosts& costs) {
  Seconds least = Seconds::max();
  for (const Seconds step : costs.step) least = std::min(least, step);
  return costs.nvswitch > Seconds{} ? std::min(least, costs.nvswitch) : least;
}

/// Widens the error beyond the measured systems: predictions are worse there, by an unknown amount.
void set_error(const SimPlan& plan, SimRow& row) {
  constexpr double kBeyond = 1.5;  // a guess: no measurement of such a system exists
  if (row.fidelity == kModelFidelity) {
    row.error_percent = plan.model.error_nccl[size_class_of(row.call.bytes)];
    return;
  }
  const SimModel::TypicalError typical = plan.model.typical_error(row.call.bytes, plan.group);
  row.error_percent = typical.percent * (beyond_measured(plan).empty() ? 1 : kBeyond);
  row.error_systems = typical.systems;
  // The tuner's prediction does not consider a fabric.
  if (row.call.tuned.prediction && !plan.job.asked.fabric && !has_fallback_search(plan, row)) {
    row.nearer_nccl_error = plan.model.nearer_nccl_error(row.call.bytes, plan.group);
  }
}

/// Returns how much of a call overlaps the previous one if calls are enqueued back to back, as in nccl-tests, which
/// divides by their number. Broadcasts and reduces use a chain: its first rank begins the next call while the last one
/// still receives this one, so the chain fills only once for all calls. Calls that need data of every rank do not
/// overlap.
Result<Seconds> overlap_in_loop(const SimPlan& plan, const SimRow& row, SimRequest request,
                                const Fidelity& fidelity) {
  const Choice& choice = request.choice;
  const int hops = request.network->nranks() - 1;
  const bool is_chain =
      (choice.collective == Collective::Broadcast || choice.collective == Collective::Reduce) &&
      choice.algorithm == Algorithm::Ring;
  if (!is_chain || hops < 2 || fidelity.name == kModelFidelity) return Seconds{};
  const auto first =
      static_cast<std::int64_t>(choice.chunk.value * static_cast<std::uint64_t>(choice.nchannels) /
                                size_of(request.call.type).value);
  request.call.count = std::min(request.call.count, first);
  const Seconds least =
      std::max(request.overheads.least, request.costs.launch + row.result.busiest);
  request.overheads = {};
  request.trace = nullptr;
  request.wants_loads = false;
  request.progress = {};
  RINGSIDE_TRY(const SimResult filled, fidelity.run(request));
  const Seconds fill = filled.time - request.costs.launch;
  Seconds longest = fill / hops;
  if (plan.job.shape().nnodes > 1) {
    longest = std::max(longest, request.costs.step[static_cast<std::size_t>(StepLink::Net)]);
  }
  return std::clamp(fill - longest, Seconds{}, std::max(row.result.time - least, Seconds{}));
}

std::optional<Seconds> predicted_of(const SimTuned& tuned) {
  if (!tuned.prediction) return std::nullopt;
  return Seconds{tuned.prediction->time_us * 1e-6};
}

}  // namespace

Result<SimPlan> plan_simulation(const SimQuestion& question) {
  RINGSIDE_TRY(const Fidelity* const fidelity, parse_fidelity(question.fidelity));
  RINGSIDE_TRY(Calls calls, parse_calls(question.calls));
  RINGSIDE_TRY(check_calls(question, calls));
  RINGSIDE_TRY(const JobOptions options, forced(question, calls.collective));
  RINGSIDE_TRY(TunedJob job, load_tuned_job(options, question.nccl));
  RINGSIDE_TRY(const Surroundings surroundings, surroundings_of(question, job.asked.job));
  RINGSIDE_TRY(SimModel model,
               question.model.empty() ? load_sim_model() : load_sim_model(question.model));
  Channels channels = channels_of(job.asked.job);
  if (question.channels < 0 || question.channels > channels.count()) {
    return Error{ErrorCode::InvalidArgument, fmt::format("--channels {}", question.channels),
                 fmt::format("this job has {}: give 1 to {}", channels.count(), channels.count())};
  }
  const SystemGroup group = group_of(job.asked.job, surroundings);
  return SimPlan{question,     fidelity, std::move(calls), std::move(job),
                 surroundings, group,    std::move(model), std::move(channels)};
}

Result<SimCall> tune_call(const SimPlan& plan, Bytes size) {
  const int nranks = plan.job.shape().nranks;
  const Collective collective = plan.calls.collective;
  const Bytes one_each = call_bytes(collective, shape_of(plan.calls, 1, nranks), nranks);
  SimCall call;
  call.shape = shape_of(plan.calls, static_cast<std::int64_t>(size.value / one_each.value), nranks);
  call.bytes = call_bytes(collective, call.shape, nranks);
  const TuningCall tuning = plan.calls.at(call.bytes);
  auto tuned = tune(plan.job.tuner, plan.model, plan.surroundings, tuning);
  const bool is_forced = !plan.question.algorithm.empty() || !plan.question.protocol.empty();
  if (!tuned && is_forced && static_cast<int>(collective) < kTunedCollectives) {
    return unsupported_by_options(plan, tuning);
  }
  RINGSIDE_TRY(call.tuned, std::move(tuned));
  if (plan.question.channels > 0) call.tuned.choice.nchannels = plan.question.channels;
  return call;
}

JobNetwork network_of(const SimPlan& plan, const SimCall& call) {
  const AskedJob& asked = plan.job.asked;
  return {asked.job,   call.tuned.graph,   asked.topology,
          &plan.model, asked.job_fabric(), call.tuned.choice.nchannels};
}

Result<SimRow> simulate_call(const SimPlan& plan, SimCall call, const SimExtras& extras) {
  const AskedJob& asked = plan.job.asked;
  const JobNetwork network = network_of(plan, call);
  std::shared_ptr<TraceFileSink> file;
  if (!plan.question.trace.empty()) {
    RINGSIDE_TRY(file, TraceFileSink::create(plan.question.trace));
  }
  SimRow row;
  row.call = std::move(call);
  SimRequest request{.network = &network,
                     .channels = plan.channels,
                     .choice = row.call.tuned.choice,
                     .call = row.call.shape,
                     .costs = row.call.tuned.costs,
                     .overheads = row.call.tuned.overheads,
                     .predicted = predicted_of(row.call.tuned),
                     .trace = file.get(),
                     .trace_label = plan.question.job.on,
                     .wants_loads = extras.wants_loads,
                     .progress = extras.progress};
  PickedFidelity picked{plan.fidelity, {}};
  if (plan.fidelity->name == kAutoFidelity) {
    RINGSIDE_TRY(picked, pick_fidelity(request));
  }
  if (extras.trace != nullptr && picked.fidelity->takes_steps) {
    RINGSIDE_TRY(row.is_traced, has_at_most(extras.most_steps, request));
  }
  BothSinks both(file.get(), extras.trace);
  if (row.is_traced) {
    request.trace = &both;
    request.traces_slices = extras.wants_slices;
  }
  row.fidelity = picked.fidelity->name;
  row.why = std::move(picked.why);
  auto result = picked.fidelity->run(request);
  if (const std::string unjoined = network.unjoined(); !result && !unjoined.empty()) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}: the fabric does not join {}{}", plan.question.job.on, unjoined,
                             down_text(asked.fabric->fabric->settings())),
                 asked.fabric->fabric->settings().rails == Rails::Only
                     ? "its rails are apart: let PXN hand messages to the GPU of the other rail "
                       "(NCCL_PXN_DISABLE=0), or give rails: optimised"
                     : "give it links that do (docs/reference/clusters.md), or another placement"};
  }
  RINGSIDE_TRY(row.result, std::move(result));
  if (plan.question.is_in_loop) {
    RINGSIDE_TRY(row.overlap, overlap_in_loop(plan, row, request, *picked.fidelity));
    row.result.time -= row.overlap;
  }
  set_error(plan, row);
  if (row.result.busiest_link >= 0) row.busiest = network.link(row.result.busiest_link);
  if (row.result.busiest_fabric_link >= 0) {
    const Fabric& fabric = *asked.fabric->fabric;
    const int link = row.result.busiest_fabric_link - network.first_fabric_link();
    const FabricLink busiest = fabric.link(link);
    row.busiest_fabric =
        BusyFabricLink{busiest, fabric.shape().tiers[static_cast<std::size_t>(busiest.tier)].name,
                       row.result.busiest * row.result.busiest_fabric_part};
  }
  row.is_alone = network.nranks() == 1;
  if (row.is_alone) return row;
  row.algbw = row.call.bytes / row.result.time;
  row.busbw = row.algbw * busbw_factor(plan.calls.collective, network.nranks());
  return row;
}

std::vector<Curve> curves_of(const std::vector<SimRow>& rows) {
  std::vector<Curve> curves{{.name = "simulated"}, {.name = "NCCL's model", .is_secondary = true}};
  for (const SimRow& row : rows) {
    curves[0].points.push_back({row.call.bytes, row.result.time, row.busbw});
    const std::optional<Seconds> predicted = predicted_of(row.call.tuned);
    if (!predicted || row.is_alone) continue;
    const BytesPerSecond busbw = row.busbw * (row.result.time / *predicted);
    curves[1].points.push_back({row.call.bytes, *predicted, busbw});
  }
  return curves;
}

const SimRow& best_of(const std::vector<SimRow>& rows) {
  RINGSIDE_ASSERT(!rows.empty(), "no rows");
  return *std::max_element(rows.begin(), rows.end(),
                           [](const SimRow& a, const SimRow& b) { return a.busbw < b.busbw; });
}

std::string limit_of(const SimRow& row) {
  constexpr double kMostly = 0.5;
  constexpr double kLittle = 0.1;
  if (row.is_alone) return "launch";
  if (!row.path_limit.empty()) return row.path_limit;
  if (!row.busiest) return "not known";
  if (row.busy_share() >= kMostly) return "bandwidth";
  return longest_crossing(row) < kLittle * shortest_step(row.call.tuned.costs) ? "latency"
                                                                               : "steps";
}

}  // namespace ringside::study
