#pragma once

#include <cstdint>
#include <string>

#include "engine/transport/rdma/rdma_ports.h"
#include "ringside/error.h"
#include "ringside/units.h"

/// Builds Errors for RDMA failures that name the place and, if known, the reason. They use NCCL's wording where it
/// exists, so that readers of NCCL's logs recognize them (docs/formats/nccl-warnings.md).
namespace ringside {

/// Both ends of a queue pair.
struct RdmaPath {
  std::string peer;    ///< text of describe_peer()
  std::string device;  ///< "mlx5_0:1"
  std::string remote_device = {};
  Gid local;
  Gid remote;
  int gid_index = 0;
  std::uint32_t queue = 0;
  std::uint32_t remote_queue = 0;
  int mtu = 0;  ///< longest payload of a packet, bytes; 0: not agreed
};

/// Returns the Error for a work completion with an error status.
/// status, vendor  the fields of ibv_wc
/// returns  code Unreachable: the peer did not answer any retry; PeerGone: the peer's queue pair no longer exists
Error rdma_completion_error(int status, std::uint32_t vendor, bool is_send, const RdmaPath& path);

/// Returns the Error for writes that the peer does not acknowledge and the adapter does not report.
Error rdma_unacknowledged_error(Seconds waited, const RdmaPath& path);

/// Adds to an Unreachable error that the peer's host does answer over TCP.
Error with_answering_host(Error error);

/// Returns the Error for a queue pair whose state change from `from` to `to` failed.
/// number  errno
Error rdma_connect_error(int number, const char* from, const char* to, const RdmaPath& path);

/// Returns the Error for memory that the adapter did not register.
/// bytes, limit  size of the memory; limit of locked memory as of getrlimit()
Error rdma_memory_error(int number, std::size_t bytes, std::uint64_t limit,
                        const std::string& device);

}  // namespace ringside
