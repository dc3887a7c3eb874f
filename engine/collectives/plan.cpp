#include "engine/collectives/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/collectives/plan_parts.h"
#include "engine/tuning/chunk.h"

namespace ringside {
namespace {

constexpr std::int64_t kChunkGrainBytes = 16;

Error bad_call(const std::string& what, const std::string& help) {
  return {ErrorCode::InvalidArgument, what, help};
}

/// Whether each channel runs along a ring or tree of its own; the others are alike on all channels.
bool needs_lanes(const Choice& choice, const Channels& channels) {
  return channels.rings.front().size() == 1 ||
         (facts_of(choice.algorithm).has_own_lanes && !is_point_to_point(choice.collective));
}

Status check_numbers(const PlanInput& input) {
  const auto check_rank = [&](const char* what, Rank rank) -> Status {
    if (to_int(rank) >= 0 && to_int(rank) < input.nranks) return {};
    return bad_call(fmt::format("{} {} among {} ranks", what, to_int(rank), input.nranks),
                    fmt::format("give 0 to {}", input.nranks - 1));
  };
  const CallShape& call = input.call;
  RINGSIDE_TRY(check_rank("rank", input.rank));
  RINGSIDE_TRY(check_rank("root", call.root));
  if (call.count < 0) return bad_call(fmt::format("a count of {}", call.count), "give 0 or more");
  if (input.chunk < 1) {
    return bad_call("a chunk that holds no element", "choose a longer chunk");
  }
  if (input.choice.collective != Collective::AllGatherV) return {};
  if (call.counts.size() != static_cast<std::size_t>(input.nranks) ||
      std::ranges::any_of(call.counts, [](std::int64_t count) { return count < 0; })) {
    return bad_call(fmt::format("{} counts for {} ranks", call.counts.size(), input.nranks),
                    "give each rank's count, 0 or more");
  }
  return {};
}

/// By one channel after the other.
Result<std::vector<ChannelTask>> plan_each(const PlanInput& input) {
  const std::vector<ChannelPart> parts =
      split_channels(input.call.count, input.choice.nchannels, input.channel_grain);
  const Planner plan = input.nranks == 1 ? plan_ring : planner_of(input.choice.algorithm);
  std::vector<ChannelTask> tasks;
  for (int channel = 0; channel < input.choice.nchannels; ++channel) {
    RINGSIDE_TRY(ChannelTask task, plan(input, channel, parts[static_cast<std::size_t>(channel)]));
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace

ChannelTask PlanInput::task(const ChunkMap::Shape& shape) const {
  return {{.collective = choice.collective,
           .algorithm = choice.algorithm,
           .ring = {to_int(rank), nranks},
           .root = to_int(call.root)},
          ChunkMap(shape)};
}

ChunkMap::Shape PlanInput::shape(std::span<const Rank> order, const ChannelPart& part) const {
  return {.collective = choice.collective,
          .order = order,
          .count = call.count,
          .part = part,
          .chunk = chunk,
          .grain = chunk_grain};
}

std::vector<Rank> natural_order(int nranks) {
  std::vector<Rank> order;
  order.reserve(static_cast<std::size_t>(nranks));
  for (int rank = 0; rank < nranks; ++rank) order.push_back(Rank{rank});
  return order;
}

Error nothing_laid(const PlanInput& input, const std::string& what) {
  return {ErrorCode::Unsupported,
          fmt::format("{} by {}: {}", to_string(input.choice.collective),
                      to_string(input.choice.algorithm), what),
          "choose another algorithm"};
}

Result<std::vector<ChannelTask>> plan_channels(const Choice& choice, const Channels& channels,
                                               const CallShape& call, Rank rank) {
  RINGSIDE_TRY(check_algorithm(choice.collective, choice.algorithm));
  const int most = needs_lanes(choice, channels) ? channels.count() : kMaxChannels;
  if (choice.nchannels < 1 || choice.nchannels > most) {
    return bad_call(fmt::format("{} channels chosen, {} laid", choice.nchannels, most),
                    "choose as many as there are at most");
  }
  const auto element = static_cast<std::int64_t>(size_of(call.type).value);
  PlanInput input{
      .choice = choice,
      .channels = channels,
      .call = call,
      .rank = rank,
      .nranks = static_cast<int>(channels.rings.front().size()),
      .chunk = static_cast<std::int64_t>(choice.chunk.value) / element,
      .channel_grain = static_cast<std::int64_t>(grain_of(choice.protocol).value) / element,
      .chunk_grain = kChunkGrainBytes / element,
      .chunks_in_flight = kSlots / std::max(choice.slots_per_chunk, 1)};
  RINGSIDE_TRY(check_numbers(input));
  const NodeGroups groups = node_groups(input);
  input.groups = &groups;
  return is_point_to_point(choice.collective) ? plan_exchange(input) : plan_each(input);
}

Bytes call_bytes(Collective collective, const CallShape& call, int nranks) {
  auto count = static_cast<std::uint64_t>(call.count);
  switch (collective) {
    case Collective::AllGather:
    case Collective::ReduceScatter:
    case Collective::AllToAll:
    case Collective::Gather:
    case Collective::Scatter:
      count *= static_cast<std::uint64_t>(nranks);
      break;
    case Collective::AllGatherV:
      count = std::accumulate(call.counts.begin(), call.counts.end(), std::uint64_t{0},
                              [](std::uint64_t sum, std::int64_t one) {
                                return sum + static_cast<std::uint64_t>(one);
                              });
      break;
    default:
      break;
  }
  return size_of(call.type) * count;
}

}  // namespace ringside
