#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/debuglog/line.h"
#include "engine/debuglog/start_text.h"
#include "engine/debuglog/version.h"

/// What goes wrong while communicators are made and used, in the words of each version.
/// source  docs/formats 4. Lines and functions of NCCL's source are those of
/// one release each, and are used for all of them
namespace ringside {

/// A warning, and the lines by which the failure is handed on from the innermost call outwards.
struct Warning {
  WarnPlace place;
  std::string message;
  std::vector<std::string> handed_on = {};
};

/// `init.cc:1393 -> 6`, as each call says that hands a failure on; INFO.
/// result  ncclResult_t
std::string result_text(NcclVersion version, const WarnPlace& place, int result);

/// Writes both.
void write_warning(DebugLog& log, LineThread thread, const Warning& warning);

Warning duplicate_gpu_warning(NcclVersion version, int rank, int other, std::int64_t bus_id);

/// Another rank runs another release. Before 2.23 NCCL does not compare them, and the exchange of unequal
/// messages fails instead.
Warning other_version_warning(NcclVersion version, int rank, NcclVersion other, int other_rank);

/// error  "Connection refused"
Warning connect_warning(NcclVersion version, const NetInterface& to, int port,
                        std::string_view error);
/// Before it, while there is hope; 2.24+ counts.
std::string connect_retry_text(NcclVersion version, std::string_view error, int attempt);

Warning register_memory_warning(NcclVersion version);
Warning open_device_warning(NcclVersion version, std::string_view hca);
Warning modify_qp_warning(NcclVersion version, const Hca& hca, int gid_index,
                          const NetInterface& own, const NetInterface& peer);

/// A completion with an error.
/// status  of the verbs: 12, retries exhausted
Warning completion_warning(NcclVersion version, const NetInterface& peer, int port, int status,
                           std::string_view hca);
/// event  "port error"
Warning async_event_warning(NcclVersion version, std::string_view hca, std::string_view event);

/// /dev/shm is full.  unit  bytes
Warning shared_memory_warning(NcclVersion version, std::string_view path, int size);

Warning nvls_bind_warning(NcclVersion version);
Warning cuda_memory_warning(NcclVersion version);
Warning ring_lacks_rank_warning(NcclVersion version, int ring, int rank);
Warning remote_closed_warning(NcclVersion version, const NetInterface& peer, int port);

/// The driver refuses peer access between two GPUs that PCIe connects; INFO, 2.12+.
std::string p2p_refused_text(int a, int b);

}  // namespace ringside
