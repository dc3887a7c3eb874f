#pragma once

#include <memory>

#include "engine/transport/end.h"
#include "engine/transport/transport.h"

/// Connections over RDMA adapters (InfiniBand, RoCE) by reliable queue pairs.
///
/// The receiver has the slots, 8, or 32 short ones of LL; the sender writes into them (RDMA WRITE with immediate data, which says to which slot
/// the bytes belong) from a copy of its own or from the user's memory, and the receiver writes back how many it has
/// freed: the sender writes only where it may. LL and LL128 travel as whole lines with their flags (wire_lines.h), short
/// ones inside the request itself. A connection has as many queue pairs as NCCL_IB_QPS_PER_CONNECTION and the card's
/// ports say; slots take turns on them, or are split over all. What one end has to know of the other goes over the
/// socket from the door, which then stays open and shows the other's death.
///
/// Which card, port and GID: rdma_ports.h. How: rdma_settings.h. libibverbs is opened when it is first asked for;
/// without it, or built without its headers, no rank is reached by RDMA.
namespace ringside {

/// errors  Unsupported: no library, no adapter, no port that may be used, or NCCL_IB_DISABLE; InvalidArgument: a
///         variable; System: an adapter that cannot be opened
Result<std::unique_ptr<TransportState>> open_rdma(const LocalSite& here);

/// shape   slot size: at most 8 MiB
/// errors  System: the adapter took no more memory or queues. Later, from peek()  Corrupt: what came fits no slot;
///         PeerGone; System: rdma_failure.h
Result<std::unique_ptr<RecvEnd>> make_rdma_recv_end(Joint joint);

/// errors  as make_rdma_recv_end(); Corrupt, InvalidArgument: what the receiver says of itself
Result<std::unique_ptr<SendEnd>> make_rdma_send_end(Joint joint);

}  // namespace ringside
