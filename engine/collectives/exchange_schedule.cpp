#include "engine/collectives/exchange_schedule.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/assert.h"
#include "engine/collectives/integers.h"

namespace ringside {
namespace {

constexpr int kBlock = 8;                  // source  NCCL_P2P_SCHEDULE_GROUP_SIZE
constexpr std::int64_t kPartGrain = 4096;  // bytes

int block_size(std::span<const std::vector<Rank>> nodes) {
  std::size_t block = kBlock;
  if (nodes.size() == 1) return static_cast<int>(nodes.front().size());
  for (const std::vector<Rank>& node : nodes) block = std::gcd(block, node.size());
  return static_cast<int>(block);
}

/// Returns 0 and then every other number below `count` exactly once, in steps of 1, 2, 3, ... modulo a power
/// of two, which reach all of them.
std::vector<int> spreading_deltas(int count) {
  const unsigned reach = std::bit_ceil(static_cast<unsigned>(count));
  std::vector<int> deltas;
  unsigned delta = 0;
  for (unsigned step = 1; step <= reach; ++step) {
    if (delta < static_cast<unsigned>(count)) deltas.push_back(static_cast<int>(delta));
    delta = (delta + step) % reach;
  }
  return deltas;
}

}  // namespace

ExchangeSchedule exchange_schedule(std::span<const std::vector<Rank>> nodes, Rank me) {
  ExchangeSchedule schedule{
      .rounds = {}, .block = block_size(nodes), .nodes = static_cast<int>(nodes.size())};
  std::vector<Rank> ranks;  // block after block
  for (const std::vector<Rank>& node : nodes) ranks.insert(ranks.end(), node.begin(), node.end());
  const auto at = std::ranges::find(ranks, me);
  RINGSIDE_ASSERT(at != ranks.end(), "rank {} is on no node", to_int(me));
  const int block = schedule.block;
  const int blocks = static_cast<int>(ranks.size()) / block;
  const int mine = static_cast<int>(at - ranks.begin()) / block;
  const int local = static_cast<int>(at - ranks.begin()) % block;
  const auto rank_at = [&](int b, int i) { return ranks[static_cast<std::size_t>(b * block + i)]; };
  for (const int delta : spreading_deltas(blocks)) {
    for (int step = 0; step < block; ++step) {
      schedule.rounds.push_back(
          {rank_at((mine + delta) % blocks, (local + step) % block),
           rank_at((mine - delta + blocks) % blocks, (local - step + block) % block)});
    }
  }
  return schedule;
}

int first_channel_of(const ExchangeSchedule& schedule, int round, int nchannels) {
  int base = round;
  if (schedule.nodes > 1) {
    const int per_block = static_cast<int>(ceil_div(schedule.block, kBlock));
    base = round / schedule.block * per_block + round % schedule.block / kBlock;
  }
  int reversed = 0;
  for (int bit = 1; bit < nchannels; bit *= 2) {
    reversed = 2 * reversed + ((base & bit) != 0 ? 1 : 0);
  }
  return reversed;
}

TransferCut cut_transfer(std::int64_t bytes, const CutLimits& limits) {
  const auto& [chunk, nranks, nodes, nchannels, per_peer] = limits;
  const std::int64_t least = std::max<std::int64_t>(chunk / (nodes > 1 ? 2 : 8), 1);
  const std::int64_t most = nodes > 1 ? chunk : 32 * chunk;
  int few = per_peer;
  while (few > 1 && static_cast<std::int64_t>(few) * nranks > nchannels) few /= 2;
  TransferCut cut{static_cast<int>(std::clamp<std::int64_t>(ceil_div(bytes, least), 1, few)), 0};
  while (std::max(least, ceil_div(bytes, cut.parts)) > most && cut.parts <= per_peer / 2) {
    cut.parts *= 2;
  }
  cut.each = ceil_div(ceil_div(bytes, cut.parts), kPartGrain) * kPartGrain;
  return cut;
}

}  // namespace ringside
