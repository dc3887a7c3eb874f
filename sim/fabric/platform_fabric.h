#pragma once

#include <memory>

#include "sim/fabric/fabric.h"

namespace ringside {

/// Builds a fabric with the links and routes of a SimGrid platform. Host k of the cluster is the
/// platform's k-th host. All NICs of a host share the host's platform links; each NIC has a cable
/// of its own rate. The latencies of all links on a route add up. A FATPIPE faster than the NICs
/// delays no flow and is omitted; a slower one is an error.
///
/// errors  Corrupt: settings without a platform, more hosts than the platform has, a FATPIPE slower
///         than a NIC
Result<std::unique_ptr<const Fabric>> make_platform_fabric(FabricSettings settings,
                                                           std::vector<FabricHosts> hosts);

}  // namespace ringside
