#pragma once

#include <string>
#include <vector>

#include "engine/debuglog/start_text.h"
#include "engine/debuglog/version.h"
#include "engine/topology/host.h"

namespace ringside {

/// The network plugin that NCCL uses between hosts.
enum class NetworkKind {
  Socket,
  Ib,   ///< NCCL's own, over verbs
  Ofi,  ///< aws-ofi-nccl over libfabric
};

/// The network backend of NCCL that a host uses, with its devices.
struct HostNetwork {
  NetworkKind kind = NetworkKind::Socket;
  std::string name = "Socket";    ///< as logged in `Using network`
  std::vector<Hca> devices = {};  ///< by NCCL's number; for Socket: the interfaces
  bool has_gdr = false;           ///< the driver module for GPUDirect RDMA is loaded
  OfiFacts ofi = {};
};

/// Derives the network from device names: rdmap and efa are Amazon's, cxi is Slingshot; devices
/// without guid and port are Ethernet interfaces; all others use verbs.
HostNetwork network_of(Host host, NcclVersion version);

}  // namespace ringside
