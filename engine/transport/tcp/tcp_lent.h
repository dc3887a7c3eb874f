#pragma once

#include <memory>

#include "base/fd.h"
#include "engine/transport/end.h"
#include "engine/transport/transport.h"

/// Ends of tcp.h on slots that a caller has lent: the operating system copies to and from there.
namespace ringside {

/// The first of the offers that processors read; without a region: none, or lines, which ends make themselves.
LentSlots tcp_lent_of(const Joint& joint);
LentUse tcp_use_of(const LentSlots& lent);

/// As make_tcp_recv_end(), of one socket. Reads no further than the slot that is due and the length of the next one, since
/// what is behind them belongs elsewhere.
std::unique_ptr<RecvEnd> make_tcp_lent_recv_end(UniqueFd peer, ConnectionShape shape,
                                                LentSlots lent);

}  // namespace ringside
