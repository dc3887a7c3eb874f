#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/debuglog/line.h"
#include "engine/debuglog/start_text.h"
#include "engine/debuglog/version.h"

/// NCCL's warnings about failures while communicators are made and used, in the wording of each version.
/// source  docs/formats 4. Source lines and functions are those of one NCCL release each, and are used for all releases
namespace ringside {

/// A warning, and the `file:line -> result` lines that NCCL logs as the error propagates up the call stack, innermost
/// call first.
struct Warning {
  WarnPlace place;
  std::string message;
  std::vector<std::string> propagation = {};
};

/// `init.cc:1393 -> 6`, the line that NCCL logs at INFO in each function that returns the error.
/// result  the ncclResult_t
std::string result_text(NcclVersion version, const WarnPlace& place, int result);

/// Writes the warning, then its propagation lines.
void write_warning(DebugLog& log, LineThread thread, const Warning& warning);

/// Returns the warning that two ranks use one GPU.
Warning duplicate_gpu_warning(NcclVersion version, int rank, int other, std::int64_t bus_id);

/// Returns the warning that another rank runs another NCCL release. Before 2.23 NCCL does not compare releases; instead the exchange of messages
/// of unequal size fails.
Warning other_version_warning(NcclVersion version, int rank, NcclVersion other, int other_rank);

/// Returns the warning that a connection failed after all retries.
/// error  text of the errno, such as "Connection refused"
Warning connect_warning(NcclVersion version, const NetInterface& to, int port,
                        std::string_view error);
/// Returns the line logged before each connection retry. From 2.24 on it contains the attempt number.
std::string connect_retry_text(NcclVersion version, std::string_view error, int attempt);

/// Returns the warning that an RDMA adapter did not register memory: the limit of locked memory is too low.
Warning register_memory_warning(NcclVersion version);
/// Returns the warning that an RDMA device cannot be opened.
Warning open_device_warning(NcclVersion version, std::string_view hca);
/// Returns the warning that a queue pair did not connect to the peer's (EINVAL).
Warning modify_qp_warning(NcclVersion version, const Hca& hca, int gid_index,
                          const NetInterface& own, const NetInterface& peer);

/// Returns the warning about an RDMA completion with an error status.
/// status  the verbs' status, such as 12 (retries exhausted)
Warning completion_warning(NcclVersion version, const NetInterface& peer, int port, int status,
                           std::string_view hca);
/// Returns the warning about an asynchronous event of an RDMA device.
/// event  such as "port error"
Warning async_event_warning(NcclVersion version, std::string_view hca, std::string_view event);

/// Returns the warning that /dev/shm is full.
/// size  of the file, bytes
Warning shared_memory_warning(NcclVersion version, std::string_view path, std::int64_t size);

/// Returns the warning that memory was not bound to a multicast object of NVLink SHARP (CUDA error 401).
Warning nvls_bind_warning(NcclVersion version);
/// Returns the warning that a GPU has no memory left.
Warning cuda_memory_warning(NcclVersion version);
/// Returns the warning that the ranks do not form a ring: their topologies differ.
Warning ring_lacks_rank_warning(NcclVersion version, int ring, int rank);
/// Returns the warning that a peer closed its bootstrap connection.
Warning remote_closed_warning(NcclVersion version, const NetInterface& peer, int port);

/// Returns the INFO line that the driver refuses peer access between two GPUs connected by PCIe; 2.12+.
std::string p2p_refused_text(int a, int b);

}  // namespace ringside
