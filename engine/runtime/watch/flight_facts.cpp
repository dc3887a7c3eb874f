#include "engine/runtime/watch/flight_facts.h"

#include <numeric>

#include "base/vocabulary.h"
#include "engine/runtime/bootstrap/ring_links.h"

namespace ringside {

FlightFacts flight_facts(const CollectiveCall& call, int nranks) {
  FlightFacts facts;
  facts.collective = call.collective;
  facts.type = call.type;
  facts.input = call.count;
  facts.output = call.count;
  facts.site = call.site;
  if (has_root(call.collective)) facts.root = to_int(call.root);
  switch (call.collective) {
    case Collective::AllGather:
    case Collective::Gather:
      facts.output = call.count * nranks;
      break;
    case Collective::ReduceScatter:
    case Collective::Scatter:
      facts.input = call.count * nranks;
      break;
    case Collective::AllToAll:
      facts.input = facts.output = call.count * nranks;
      break;
    case Collective::AllGatherV:
      facts.output = std::accumulate(call.counts.begin(), call.counts.end(), std::int64_t{0});
      break;
    default:
      break;
  }
  return facts;
}

std::vector<FlightFacts> flight_messages(const CollectiveCall& call, Rank me, int nranks) {
  std::vector<FlightFacts> messages;
  const auto add = [&](Collective collective, Rank peer, std::int64_t count) {
    messages.push_back({collective, call.type, count, count, -1, to_int(peer), call.site});
  };
  if (call.sends.empty() && call.recvs.empty()) {
    // Sends to the next rank, receives from the previous rank.
    if (call.collective != Collective::Recv) add(Collective::Send, next_of(me, nranks), call.count);
    if (call.collective != Collective::Send) {
      add(Collective::Recv, previous_of(me, nranks), call.count);
    }
    return messages;
  }
  for (const Transfer& one : call.sends) add(Collective::Send, one.peer, one.count);
  for (const Transfer& one : call.recvs) add(Collective::Recv, one.peer, one.count);
  return messages;
}

}  // namespace ringside
