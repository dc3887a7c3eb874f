#include "engine/tuning/select.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/tuning/aggregate.h"
#include "engine/tuning/channels_threads.h"
#include "engine/tuning/chunk.h"

namespace ringside {
namespace {

bool is_float8(DataType type) {
  return type == DataType::Float8E4m3 || type == DataType::Float8E5m2;
}

/// Returns the factor of the estimated time: NCCL avoids long rings for 8-bit floats, because they round at each rank.
/// source  NCCL from 2.24 on
float penalty(const TuningCall& call, Algorithm algorithm, int nranks) {
  constexpr int kLongRing = 8;
  constexpr float kPenalty = 1024;
  const bool is_long = algorithm == Algorithm::Ring && nranks > kLongRing;
  return is_long && is_reduction(call.collective) && is_float8(call.type) ? kPenalty : 1.0F;
}

std::uint64_t element_bytes(const TuningCall& call) {
  return is_reduction(call.collective) ? size_of(call.type).value : 1;
}

bool shrinks(Collective c) { return c == Collective::AllGather || c == Collective::ReduceScatter; }

/// Sets one chunk size for each share of a split.
void set_chunks(const TuningModel& model, const CommShape& shape, const CostTable& table,
                const TuningCall& call, const TuningCall& whole, TunedChoice& choice) {
  if (model.scheduler.kind != Scheduler::Cells) {  // one size for all channels, from all their data
    choice.chunk = chunk_for(model, shape, table,
                             {.collective = choice.collective,
                              .algorithm = choice.algorithm,
                              .protocol = choice.protocol,
                              .bytes = whole.bytes,
                              .nchannels = choice.max_channels});
    return;
  }
  const bool is_collnet = facts_of(choice.algorithm).uses_collnet(shape.nnodes);
  const std::uint64_t buffers =
      shrinks(call.collective) ? static_cast<std::uint64_t>(shape.nranks) : 1;
  const auto chunk = [&](std::uint64_t elements) {
    return chunk_for(model, shape, table,
                     {.collective = choice.collective,
                      .algorithm = choice.algorithm,
                      .protocol = choice.protocol,
                      .bytes = Bytes{elements * element_bytes(call) * buffers},
                      .nchannels = is_collnet ? choice.max_channels : 1});
  };
  choice.chunk = chunk(choice.channels.lo);
  if (choice.channels.mid > 0) choice.chunk_mid = chunk(choice.channels.mid);
  if (choice.channels.hi > 0) choice.chunk_hi = chunk(choice.channels.hi);
}

}  // namespace

Tuner::Tuner(TuningModel model, const CommShape& shape, const TuningParameters& parameters)
    : model_(std::move(model)),
      shape_(shape),
      parameters_(parameters),
      table_(make_cost_table(model_, shape, parameters)) {}

Result<Tuner> Tuner::make(const CommShape& shape, const TuningParameters& parameters,
                          std::string_view version) {
  RINGSIDE_TRY(TuningModel model, load_tuning_model(version));
  if (parameters.names_collectives && !model.lists_name_collectives) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("NCCL_ALGO and NCCL_PROTO of NCCL {} know no lists by collective",
                             model.version),
                 "give one list for all, or ask for 2.24 or newer"};
  }
  return Tuner(std::move(model), shape, parameters);
}

std::vector<Candidate> Tuner::candidates(const TuningCall& call, int ntasks) const {
  std::vector<Candidate> all;
  all.reserve(static_cast<std::size_t>(kAlgorithms) * kProtocols);
  for (int a = 0; a < kAlgorithms; ++a) {
    for (int p = 0; p < kProtocols; ++p) {
      Candidate candidate{static_cast<Algorithm>(a), static_cast<Protocol>(p)};
      const Cost& cost = table_.cost(call.collective, candidate.algorithm, candidate.protocol);
      candidate.obstacle = cost.obstacle;
      candidate.is_last_resort = cost.is_last_resort;
      if (candidate.obstacle == Obstacle::None) {
        const bool reduces =
            is_reduction(call.collective) ||
            (model_.nvls_tests_gather_type && call.collective == Collective::AllGather &&
             candidate.algorithm == Algorithm::Nvls);
        if (reduces && !has_kernel(candidate.algorithm, call)) {
          candidate.obstacle = Obstacle::Reduction;
        }
      }
      if (candidate.obstacle == Obstacle::None) {
        candidate.prediction =
            *predict(model_, shape_, table_, call.collective, candidate.algorithm,
                     candidate.protocol, call.bytes, ntasks);
        candidate.prediction.time_us *= penalty(call, candidate.algorithm, shape_.nranks);
      }
      all.push_back(candidate);
    }
  }
  return all;
}

bool Tuner::has_kernel(Algorithm algorithm, const TuningCall& call) const {
  if (algorithm == Algorithm::Pat && model_.pat_over_nvls) {
    return shape_.nranks == shape_.nnodes || can_reduce(Algorithm::Nvls, call.type, call.op);
  }
  return can_reduce(algorithm, call.type, call.op);
}

bool Tuner::beats(const Candidate& later, const Candidate& earlier) const {
  if (later.is_last_resort != earlier.is_last_resort) return earlier.is_last_resort;
  return model_.last_of_equals_wins ? later.prediction.time_us <= earlier.prediction.time_us
                                    : later.prediction.time_us < earlier.prediction.time_us;
}

std::optional<Candidate> Tuner::fastest(const TuningCall& call, int ntasks) const {
  if (shape_.nranks == 1) return Candidate{Algorithm::Ring, Protocol::Simple};
  std::optional<Candidate> best;
  for (const Candidate& candidate : candidates(call, ntasks)) {
    if (candidate.obstacle != Obstacle::None) continue;
    if (!best || beats(candidate, *best)) best = candidate;
  }
  return best ? best : fallback(call, ntasks);
}

std::optional<Candidate> Tuner::fallback(const TuningCall& call, int ntasks) const {
  if (model_.ring_fallback != RingFallback::Protocol && model_.ring_fallback != RingFallback::Any) {
    return std::nullopt;
  }
  TuningParameters parameters = parameters_;
  for (auto& permissions : parameters.algorithms) permissions.fill(Permission::Default);
  if (model_.ring_fallback == RingFallback::Any) {
    for (auto& permissions : parameters.protocols) permissions.fill(Permission::Default);
  }
  const CostTable table = make_cost_table(model_, shape_, parameters);
  std::optional<Candidate> best;
  for (int p = 0; p < kProtocols; ++p) {
    Candidate candidate{Algorithm::Ring, static_cast<Protocol>(p)};
    const auto found = predict(model_, shape_, table, call.collective, candidate.algorithm,
                               candidate.protocol, call.bytes, ntasks);
    if (!found) continue;
    candidate.prediction = *found;
    if (!best || found->time_us < best->prediction.time_us) best = candidate;
  }
  return best;
}

Error Tuner::nothing_left(const TuningCall& call) const {
  std::vector<std::string> reasons;
  for (const Candidate& candidate : candidates(call)) {
    if (candidate.obstacle == Obstacle::NotForCollective ||
        candidate.obstacle == Obstacle::SimpleOnly || candidate.obstacle == Obstacle::Algorithm ||
        candidate.obstacle == Obstacle::Protocol) {
      continue;
    }
    reasons.push_back(fmt::format("{}/{}: {}", to_string(candidate.algorithm),
                                  to_string(candidate.protocol), to_string(candidate.obstacle)));
  }
  std::string help = "NCCL fails here: let NCCL_ALGO and NCCL_PROTO leave an algorithm that can";
  if (!reasons.empty()) help += fmt::format(" ({})", fmt::join(reasons, "; "));
  return {ErrorCode::InvalidArgument,
          fmt::format("no algorithm is left for {}", to_string(call.collective)), std::move(help)};
}

Result<TunedChoice> Tuner::choose(const TuningCall& call) const {
  RINGSIDE_TRY(std::vector<TunedChoice> choices, choose_group({&call, 1}));
  return std::move(choices.front());
}

Result<std::vector<TunedChoice>> Tuner::choose_group(std::span<const TuningCall> calls) const {
  for (const TuningCall& call : calls) {
    if (static_cast<int>(call.collective) < kTunedCollectives) continue;
    return Error{ErrorCode::Unsupported,
                 fmt::format("{} is not a collective that NCCL tunes", to_string(call.collective)),
                 "ask for all_reduce, all_gather, reduce_scatter, broadcast or reduce"};
  }
  std::vector<TunedChoice> choices(calls.size());
  std::vector<SplitTask> tasks;
  std::vector<std::size_t> order;
  std::vector<TuningCall> wholes(calls.size());
  for (const Aggregate& aggregate : aggregates(calls, shape_.nranks)) {
    // Before 2.22 a launch was planned in one pass.
    const int ntasks =
        model_.scheduler.kind != Scheduler::Cells
            ? 1
            : (static_cast<int>(calls.size()) + shape_.nchannels - 1) / shape_.nchannels;
    const std::optional<Candidate> best = fastest(aggregate.whole, ntasks);
    if (!best) return nothing_left(aggregate.whole);
    const Width width =
        width_for(model_, shape_, table_, best->algorithm, best->protocol, aggregate.whole.bytes);
    for (const std::size_t i : aggregate.members) {
      wholes[i] = aggregate.whole;
      choices[i] = {.collective = calls[i].collective,
                    .algorithm = best->algorithm,
                    .protocol = best->protocol,
                    .max_channels = width.nchannels,
                    .channels = {},
                    .nthreads = width.nthreads,
                    .chunk = {},
                    .prediction = best->prediction};
      const std::uint64_t count = element_count(calls[i], shape_.nranks);
      if (count == 0 || shape_.nranks == 1) continue;
      tasks.push_back({calls[i].collective, best->algorithm, best->protocol, count,
                       element_bytes(calls[i]), width.nchannels, width.nthreads});
      order.push_back(i);
    }
  }
  const std::vector<ChannelSplit> splits =
      split_channels(tasks,
                     {.nranks = shape_.nranks,
                      .nnodes = shape_.nnodes,
                      .nchannels = collective_channels(model_, shape_),
                      .nvls_channels = shape_.nvls_channels,
                      .pat_takes_nvls_channels = model_.pat_over_nvls},
                     model_.scheduler);
  for (std::size_t k = 0; k < order.size(); ++k) choices[order[k]].channels = splits[k];
  for (std::size_t i = 0; i < calls.size(); ++i) {
    set_chunks(model_, shape_, table_, calls[i], wholes[i], choices[i]);
  }
  return choices;
}

std::uint64_t element_count(const TuningCall& call, int nranks) {
  const std::uint64_t parts = shrinks(call.collective) ? static_cast<std::uint64_t>(nranks) : 1;
  return call.bytes.value / parts / element_bytes(call);
}

}  // namespace ringside
