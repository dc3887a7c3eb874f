#include "sim/tuned.h"

#include <algorithm>

#include "engine/tuning/chunk.h"

namespace ringside {
namespace {

/// Returns the data bytes in a slot: LL and LL128 use the rest for flags.
Bytes data_of_slot(const CommShape& shape, Protocol protocol) {
  const auto slot = static_cast<double>(shape.buffers[static_cast<std::size_t>(protocol)]) / kSlots;
  return Bytes{static_cast<std::uint64_t>(slot / wire_factor(protocol))};
}

Choice choice_of(const CommShape& shape, const TunedChoice& tuned) {
  Choice choice{.collective = tuned.collective,
                .algorithm = tuned.algorithm,
                .protocol = tuned.protocol,
                .nchannels = std::min(tuned.channels.nchannels(), shape.nchannels),
                .slot = data_of_slot(shape, tuned.protocol),
                .slots_per_chunk = 1,
                .chunk = std::max(tuned.chunk, tuned.chunk_mid.value_or(Bytes{0}))};
  const std::uint64_t slots = (choice.chunk.value + choice.slot.value - 1) / choice.slot.value;
  choice.slots_per_chunk = static_cast<int>(std::clamp<std::uint64_t>(slots, 1, kMaxSlotsPerChunk));
  return choice;
}

/// Returns the bytes that one rank sends to another in an exchange.
Bytes transfer_of(const TuningCall& call, int nranks) {
  const bool is_whole = call.collective == Collective::SendRecv;
  return is_whole ? call.bytes : call.bytes / static_cast<std::uint64_t>(std::max(nranks, 1));
}

// Bytes per channel; source  NCCL_P2P_LL_THRESHOLD's default.
constexpr std::uint64_t kMostByLl = 16384;

/// Connections to other hosts share one set of buffers, which does not support LL: a call with such connections uses
/// Simple.
/// source  NCCL 2.30.7 enqueue.cc: addP2pToPlan; transport/net.cc: NCCL_NET_SHARED_BUFFERS
Protocol protocol_of_exchange(const CommShape& shape, const TuningCall& call, int per_peer) {
  if (shape.nnodes > 1) return Protocol::Simple;
  const std::uint64_t most = kMostByLl * static_cast<std::uint64_t>(std::max(per_peer, 1));
  return transfer_of(call, shape.nranks).value <= most ? Protocol::LL : Protocol::Simple;
}

}  // namespace

Result<SimTuned> tune(const Tuner& tuner, const SimModel& model, const Surroundings& surroundings,
                      const TuningCall& call) {
  const CommShape& shape = tuner.shape();
  if (is_point_to_point(call.collective)) {
    const int channels = std::max(shape.p2p_channels, 1);
    const int per_peer = std::max(shape.p2p_channels_per_peer, 0);
    const Choice choice{.collective = call.collective,
                        .protocol = protocol_of_exchange(
                            shape, call, per_peer > 0 ? std::min(per_peer, channels) : channels),
                        .nchannels = channels,
                        .slot = data_of_slot(shape, Protocol::Simple),
                        .slots_per_chunk = 1,
                        .chunk = Bytes{static_cast<std::uint64_t>(shape.p2p_chunk)},
                        .channels_per_peer = per_peer};
    return SimTuned{.choice = choice,
                    .costs = costs_of(tuner, model, surroundings, call.collective, choice.algorithm,
                                      choice.protocol),
                    .overheads = overheads_of(tuner, model, surroundings, choice.protocol)};
  }
  TuningCall known = call;
  if (call.collective == Collective::AllGatherV) known.collective = Collective::AllGather;
  RINGSIDE_TRY(const TunedChoice tuned, tuner.choose(known));
  SimTuned result{.choice = choice_of(shape, tuned),
                  .costs = costs_of(tuner, model, surroundings, known.collective, tuned.algorithm,
                                    tuned.protocol),
                  .overheads = overheads_of(tuner, model, surroundings, tuned.protocol),
                  .graph = facts_of(tuned.algorithm).graph,
                  .prediction = tuned.prediction};
  result.choice.collective = call.collective;
  if (known.collective != call.collective) result.prediction.reset();
  return result;
}

Channels channels_of(const Job& job) {
  Channels channels = job.connection.channels;
  const auto laid = channels.rings.size();
  const auto wanted = static_cast<std::size_t>(job.connection.shape.p2p_channels);
  for (std::size_t i = laid; i < wanted; ++i) channels.rings.push_back(channels.rings[i % laid]);
  return channels;
}

}  // namespace ringside
