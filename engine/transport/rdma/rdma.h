#pragma once

#include <memory>

#include "engine/transport/end.h"
#include "engine/transport/transport.h"

/// Connections over RDMA adapters (InfiniBand, RoCE) by reliable queue pairs.
///
/// The receiver has 8 slots, or 32 short ones for LL. The sender writes into them by RDMA WRITE from its own copy or
/// from the user's memory; the immediate data names the slot. The receiver writes back how many slots it has freed, and
/// the sender writes only to free slots. LL and LL128 send whole lines with their flags (wire_lines.h); short messages
/// are inlined in the request. NCCL_IB_QPS_PER_CONNECTION and the adapter's ports set the number of queue pairs; slots
/// use them in rotation, or are split over all. The ends exchange their addresses over the socket from the door, which
/// stays open and shows the other's death.
///
/// rdma_ports.h chooses adapter, port and GID; rdma_settings.h reads the settings. libibverbs is loaded on first use;
/// without it, or in a build without its headers, RDMA is unavailable.
namespace ringside {

/// errors  Unsupported: no library, no adapter, no usable port, or NCCL_IB_DISABLE is set; InvalidArgument: a variable
///         is invalid; System: an adapter cannot be opened
Result<std::unique_ptr<TransportState>> open_rdma(const LocalSite& here);

/// shape   slot size: at most 8 MiB
/// errors  System: the adapter rejects more memory or queues.  Later, from peek(): Corrupt: a write fits no slot;
///         PeerGone; System: see rdma_failure.h
Result<std::unique_ptr<RecvEnd>> make_rdma_recv_end(Joint joint);

/// errors  as make_rdma_recv_end(); Corrupt, InvalidArgument: the receiver's message is invalid or describes another
///         shape
Result<std::unique_ptr<SendEnd>> make_rdma_send_end(Joint joint);

}  // namespace ringside
