#pragma once

#include <cstdint>
#include <string>

#include "engine/transport/rdma/rdma_ports.h"
#include "ringside/error.h"
#include "ringside/units.h"

/// What went wrong with RDMA, in words that say where and, as far as it can be known, why. NCCL's own words where it
/// has some, so that a reader of NCCL's logs can read these (docs/formats/nccl-warnings.md).
namespace ringside {

/// Both ends of a queue pair.
struct RdmaPath {
  std::string peer;    ///< as describe_peer() has it
  std::string device;  ///< "mlx5_0:1"
  std::string remote_device = {};
  Gid local;
  Gid remote;
  int gid_index = 0;
  std::uint32_t queue = 0;
  std::uint32_t remote_queue = 0;
  int mtu = 0;  ///< longest payload of a packet, bytes; 0: not agreed
};

/// "IBV_WC_RETRY_EXC_ERR"; "unknown"
const char* rdma_status_name(int status);

/// Of a work completion with an error status.
/// status, vendor  ibv_wc's
/// code   Unreachable: no answer, however often it was sent; PeerGone: the other end is no longer what it was
Error rdma_completion_error(int status, std::uint32_t vendor, bool is_send, const RdmaPath& path);

/// Of writes that the peer does not acknowledge, without any report of the adapter.
Error rdma_unacknowledged_error(Seconds waited, const RdmaPath& path);

/// The same of an Unreachable peer whose host does answer, over TCP.
Error with_answering_host(Error error);

/// A queue pair that would not be connected.
/// number  errno's
Error rdma_connect_error(int number, const char* from, const char* to, const RdmaPath& path);

/// Memory that the adapter would not take.
/// bytes, limit  of this piece; of memory that may be locked, as getrlimit() has it
Error rdma_memory_error(int number, std::size_t bytes, std::uint64_t limit,
                        const std::string& device);

}  // namespace ringside
