#pragma once

#include <memory>

#include "sim/fabric/fabric.h"

namespace ringside {

/// Links and routes of a SimGrid platform: host k of the cluster is the platform's k-th. All NICs of a host share what the
/// file gives the host, each behind a cable of its own rate. Links' latencies add up, all of them: the file defines
/// them. A FATPIPE faster than the NICs delays no flow and is omitted; a slower one is an error.
///
/// errors  Corrupt: no platform was read, fewer hosts than the cluster has, a FATPIPE slower than a NIC
Result<std::unique_ptr<const Fabric>> make_platform_fabric(FabricSettings settings,
                                                           std::vector<FabricHosts> hosts);

}  // namespace ringside
