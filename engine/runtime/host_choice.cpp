#include "engine/runtime/host_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/collectives/run.h"
#include "engine/protocol/slot_fifo.h"
#include "engine/reduce/reduce_op.h"
#include "engine/runtime/connect.h"

namespace ringside {
namespace {

/// Those have a port for each rank.
bool joins_all_pairs(Algorithm algorithm) {
  return algorithm == Algorithm::OneShot || algorithm == Algorithm::TwoShot;
}

struct Pick {
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
};

/// What the table says, as far as it can be done: a rule of few ranks may stand for many.
Pick usual_pick(const HostSituation& at, const HostTable& table) {
  const HostRule* rule = table.find({.collective = at.collective,
                                     .has_tcp = at.has_tcp,
                                     .is_crowded = at.is_crowded,
                                     .nranks = at.nranks,
                                     .up_to = at.bytes});
  if (rule == nullptr) return at.bytes <= 2_KiB ? Pick{Algorithm::Ring, Protocol::LL128} : Pick{};
  const bool is_possible = has_algorithm(at.collective, rule->algorithm) &&
                           check_reduction(at.collective, rule->algorithm, at.type, at.op) &&
                           (at.nranks <= kMaxPortsInSet || !joins_all_pairs(rule->algorithm));
  return is_possible ? Pick{rule->algorithm, rule->protocol}
                     : Pick{Algorithm::Ring, rule->protocol};
}

Status check_algorithm(Collective collective, Algorithm algorithm) {
  if (has_algorithm(collective, algorithm)) return {};
  std::string known;
  for (int i = 0; i < kAlgorithmCount; ++i) {
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

Result<Choice> choose_on_host(const HostSituation& situation, const HostWishes& wishes,
                              const HostTable& table) {
  Pick pick = usual_pick(situation, table);
  if (wishes.algorithm) {
    RINGSIDE_TRY(check_algorithm(situation.collective, *wishes.algorithm));
    pick.algorithm = *wishes.algorithm;
  }
  if (wishes.protocol) pick.protocol = *wishes.protocol;
  RINGSIDE_TRY(check_reduction(situation.collective, pick.algorithm, situation.type, situation.op));
  HostOverrides overrides;
  if (wishes.nchannels != 0) overrides.nchannels = wishes.nchannels;
  overrides.slot = wishes.slot.value != 0
                       ? wishes.slot
                       : host_slot(pick.protocol, situation.cache, situation.has_tcp);
  // Short calls over tcp have connections of their own, which share sockets.
  const bool is_short = situation.has_tcp && situation.bytes <= kShortSlot;
  if (is_short && wishes.slot.value == 0) overrides.slot = std::min(*overrides.slot, kShortSlot);
  RINGSIDE_TRY(Choice choice,
               choose_host(situation.collective, situation.bytes, situation.nranks, overrides));
  choice.algorithm = pick.algorithm;
  choice.protocol = pick.protocol;
  return choice;
}

Bytes host_slot(Protocol protocol, Bytes cache, bool has_tcp) {
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
  return Bytes{
      std::clamp<std::uint64_t>(share / kGrain * kGrain, 16 << 10, has_tcp ? 64 << 10 : 128 << 10)};
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
