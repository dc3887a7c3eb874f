#include "engine/runtime/host_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/collectives/run.h"
#include "engine/protocol/slot_fifo.h"
#include "engine/reduce/reduce_op.h"

namespace ringside {
namespace {

struct Pick {
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
};

/// The largest size for which each is the best, as measured over shared memory on 2 cores of 2 MiB each.
Pick usual_pick(const HostSituation& at) {
  if (at.collective == Collective::AllReduce && at.nranks <= kMaxPortsInSet) {
    const Bytes simple_to = at.is_crowded ? 8_KiB : 40_KiB;
    if (at.bytes <= 2_KiB) return {Algorithm::OneShot, Protocol::LL128};
    if (at.bytes <= simple_to) return {Algorithm::OneShot, Protocol::Simple};
    return {};
  }
  if (at.bytes <= 2_KiB) return {Algorithm::Ring, Protocol::LL128};
  return {};
}

Status check_algorithm(Collective collective, Algorithm algorithm) {
  if (has_algorithm(collective, algorithm)) return {};
  std::string known;
  for (int i = 0; i <= static_cast<int>(Algorithm::OneShot); ++i) {
    const auto one = static_cast<Algorithm>(i);
    if (!has_algorithm(collective, one)) continue;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(one));
  }
  return Error{
      ErrorCode::Unsupported,
      fmt::format("no {} by the {} algorithm", to_string(collective), to_string(algorithm)),
      fmt::format("there is {}", known)};
}

}  // namespace

Result<Choice> choose_on_host(const HostSituation& situation, const HostWishes& wishes) {
  Pick pick = usual_pick(situation);
  if (wishes.algorithm) {
    RINGSIDE_TRY(check_algorithm(situation.collective, *wishes.algorithm));
    pick.algorithm = *wishes.algorithm;
  }
  if (wishes.protocol) pick.protocol = *wishes.protocol;
  RINGSIDE_TRY(check_reduction(situation.collective, pick.algorithm, situation.type, situation.op));
  HostOverrides overrides;
  if (wishes.nchannels != 0) overrides.nchannels = wishes.nchannels;
  overrides.slot = wishes.slot.value != 0 ? wishes.slot : host_slot(pick.protocol, situation.cache);
  RINGSIDE_TRY(Choice choice,
               choose_host(situation.collective, situation.bytes, situation.nranks, overrides));
  choice.algorithm = pick.algorithm;
  choice.protocol = pick.protocol;
  return choice;
}

Bytes host_slot(Protocol protocol, Bytes cache) {
  constexpr std::uint64_t kGrain = 4096;
  switch (protocol) {
    case Protocol::LL:
      return 4_KiB;
    case Protocol::LL128:
      return 16_KiB;
    case Protocol::Simple:
      break;
  }
  const std::uint64_t share = cache.value / (2 * kSlots);
  return Bytes{std::clamp<std::uint64_t>(share / kGrain * kGrain, 16 << 10, 128 << 10)};
}

bool needs_nodes(Algorithm algorithm) {
  return algorithm == Algorithm::CollNetDirect || algorithm == Algorithm::CollNetChain ||
         algorithm == Algorithm::NvlsTree;
}

bool is_modelled(Algorithm algorithm) {
  return needs_nodes(algorithm) || algorithm == Algorithm::Nvls;
}

int played_ranks_per_node(int nranks) { return nranks > 2 && nranks % 2 == 0 ? nranks / 2 : 1; }

}  // namespace ringside
