#include "engine/collectives/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringside {
namespace {

constexpr std::int64_t kChannelGrainBytes = 512;
constexpr std::int64_t kChunkGrainBytes = 16;

/// Position of a rank on a ring, or -1.
int position_of(const std::vector<Rank>& ring, Rank rank) {
  const auto at = std::find(ring.begin(), ring.end(), rank);
  return at == ring.end() ? -1 : static_cast<int>(at - ring.begin());
}

Error bad_call(const std::string& what, const std::string& help) {
  return {ErrorCode::InvalidArgument, what, help};
}

}  // namespace

Result<std::vector<ChannelTask>> plan_channels(const Choice& choice, const Channels& channels,
                                               const CallShape& call, Rank rank) {
  if (!has_algorithm(choice.collective, choice.algorithm)) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("no {} by the {} algorithm", to_string(choice.collective),
                             to_string(choice.algorithm)),
                 "there is all_reduce, all_gather, reduce_scatter and broadcast, by ring"};
  }
  if (choice.nchannels < 1 || choice.nchannels > channels.count()) {
    return bad_call(fmt::format("{} channels chosen, {} laid", choice.nchannels, channels.count()),
                    "choose as many as there are at most");
  }
  if (call.count < 0) return bad_call(fmt::format("a count of {}", call.count), "give 0 or more");
  const auto element = static_cast<std::int64_t>(size_of(call.type).value);
  const auto chunk = static_cast<std::int64_t>(choice.chunk.value) / element;
  if (chunk < 1) return bad_call("a chunk that holds no element", "choose a longer chunk");

  const std::vector<ChannelPart> parts =
      split_channels(call.count, choice.nchannels, kChannelGrainBytes / element);
  std::vector<ChannelTask> tasks;
  for (int channel = 0; channel < choice.nchannels; ++channel) {
    const std::vector<Rank>& ring = channels.rings[static_cast<std::size_t>(channel)];
    const int n = static_cast<int>(ring.size());
    const int index = position_of(ring, rank);
    const int root = position_of(ring, call.root);
    if (index < 0 || root < 0) {
      return bad_call(fmt::format("{} {} among {} ranks", index < 0 ? "rank" : "root",
                                  to_int(index < 0 ? rank : call.root), n),
                      fmt::format("give 0 to {}", n - 1));
    }
    tasks.push_back({.collective = choice.collective,
                     .algorithm = choice.algorithm,
                     .ring = {index, n},
                     .root = root,
                     .map = ChunkMap({.collective = choice.collective,
                                      .order = ring,
                                      .count = call.count,
                                      .part = parts[static_cast<std::size_t>(channel)],
                                      .chunk = chunk,
                                      .grain = kChunkGrainBytes / element})});
  }
  return tasks;
}

Bytes call_bytes(Collective collective, const CallShape& call, int nranks) {
  const bool blocks =
      collective == Collective::AllGather || collective == Collective::ReduceScatter;
  const auto count = static_cast<std::uint64_t>(call.count);
  return size_of(call.type) * count * (blocks ? static_cast<std::uint64_t>(nranks) : 1);
}

}  // namespace ringside
