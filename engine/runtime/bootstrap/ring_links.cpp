#include "engine/runtime/bootstrap/ring_links.h"

#include <fmt/format.h>

#include <utility>

#include "base/warning.h"

namespace ringside {

Result<RingLinks> link_ring(RingHello::Purpose purpose, Rank me, int nranks, Acceptor& acceptor,
                            const Endpoint& next, const Secret& secret, const Patience& patience) {
  const int rank = to_int(me);
  const Rank successor = next_of(me, nranks);
  const Rank predecessor = previous_of(me, nranks);
  RingLinks links;
  // The watch reports an MTU that differs, so its own packets are short enough for both.
  const Segments segments = purpose == RingHello::Purpose::Watch ? Segments::Short : Segments::Long;
  Result<UniqueFd> connected = connect_authenticated(next, secret, to_bytes(RingHello{purpose, me}),
                                                     patience, NoListener::IsEarly, segments);
  if (!connected) {
    const Error& why = connected.error();
    return Error{
        why.code,
        fmt::format("rank {} cannot connect to rank {}: {}", rank, to_int(successor), why.message),
        why.help.empty() ? "look at that rank's own messages; NCCL_SOCKET_IFNAME chooses "
                           "the interface that it is reached at"
                         : why.help};
  }
  links.next = *std::move(connected);
  for (;;) {
    Result<Accepted> accepted = acceptor.accept(patience);
    if (!accepted) {
      return Error{accepted.error().code,
                   fmt::format("rank {} waited for rank {}: {}", rank, to_int(predecessor),
                               accepted.error().message),
                   "look at that rank's own messages"};
    }
    const Result<RingHello> hello = parse_ring_hello(accepted->hello);
    if (hello && hello->purpose == purpose && hello->from == predecessor) {
      links.previous = std::move(accepted->fd);
      return links;
    }
    report_warning(
        {"engine/runtime/bootstrap/ring_links.cpp", __LINE__, __func__},
        fmt::format("rank {} refused {}: {}", rank, accepted->peer,
                    hello ? fmt::format("rank {} is not its predecessor", to_int(hello->from))
                          : hello.error().message));
  }
}

}  // namespace ringside
