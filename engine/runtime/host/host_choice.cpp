#include "engine/runtime/host/host_choice.h"

#include <algorithm>

#include "engine/collectives/ports.h"
#include "engine/reduce/reduce_op.h"

namespace ringside {
namespace {

/// With as many ranks as cores, the thread of a second channel has no core to run on.
constexpr int kUsualChannels = 1;

struct Pick {
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
};

/// Returns the protocol of a call that no rule of the table covers: by size LL, LL128, Simple.
Protocol protocol_without_rule(const HostSituation& at) {
  if (at.bytes <= at.transport->ll_up_to) return Protocol::LL;
  return at.bytes <= 2_KiB ? Protocol::LL128 : Protocol::Simple;
}

/// Returns the table's choice if it is possible for this call; a rule for few ranks may also apply to many.
Pick usual_pick(const HostSituation& at, const HostTable& table) {
  const HostRule* rule = table.find({.collective = at.collective,
                                     .transport = at.transport,
                                     .is_crowded = at.is_crowded,
                                     .nranks = at.nranks,
                                     .up_to = at.bytes});
  if (rule == nullptr) return {Algorithm::Ring, protocol_without_rule(at)};
  const bool is_possible =
      has_algorithm(at.collective, rule->algorithm) &&
      check_reduction(at.collective, rule->algorithm, at.type, at.op) &&
      (at.nranks <= kMaxPortsInSet || !facts_of(rule->algorithm).joins_all_pairs);
  return is_possible ? Pick{rule->algorithm, rule->protocol}
                     : Pick{Algorithm::Ring, rule->protocol};
}

/// Short calls over tcp have their own connections, which share sockets.
Bytes usual_slot(const HostSituation& at, const Pick& pick) {
  const bool is_far = at.crosses_hosts && pick.protocol == Protocol::Simple &&
                      at.transport->slot_between_hosts.value != 0;
  const Bytes slot =
      is_far ? at.transport->slot_between_hosts : host_slot(pick.protocol, at.cache, *at.transport);
  const Bytes shared = at.transport->shares_socket_up_to;
  return at.transport->shares_sockets() && at.bytes <= shared ? std::min(slot, shared) : slot;
}

}  // namespace

Result<Choice> choose_on_host(const HostSituation& situation, const CallSettings& settings,
                              const HostTable& table) {
  Pick pick = usual_pick(situation, table);
  if (settings.algorithm) {
    RINGSIDE_TRY(check_algorithm(situation.collective, *settings.algorithm));
    pick.algorithm = *settings.algorithm;
  }
  if (settings.protocol) pick.protocol = *settings.protocol;
  RINGSIDE_TRY(check_reduction(situation.collective, pick.algorithm, situation.type, situation.op));
  return make_choice(
      {.collective = situation.collective,
       .algorithm = pick.algorithm,
       .protocol = pick.protocol,
       .nchannels = host_channel_count(settings),
       .slot = settings.slot.value != 0 ? settings.slot : usual_slot(situation, pick),
       .slots_per_chunk = kMaxSlotsPerChunk});
}

int host_channel_count(const CallSettings& settings) {
  return settings.nchannels != 0 ? settings.nchannels : kUsualChannels;
}

Bytes host_slot(Protocol protocol, Bytes cache, const Transport& transport) {
  constexpr std::uint64_t kGrain = 4096;  // a page
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
      std::clamp<std::uint64_t>(share / kGrain * kGrain, 16 << 10, transport.longest_slot.value)};
}

int played_ranks_per_node(int nranks) { return nranks > 2 && nranks % 2 == 0 ? nranks / 2 : 1; }

}  // namespace ringside
