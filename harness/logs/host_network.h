#pragma once

#include <string>
#include <vector>

#include "engine/debuglog/start_text.h"
#include "engine/debuglog/version.h"
#include "engine/topology/host.h"

namespace ringside {

enum class NetworkKind {
  Socket,
  Ib,   ///< NCCL's own, over verbs
  Ofi,  ///< aws-ofi-nccl over libfabric
};

/// Which of NCCL's network backends serves a host, and by which devices.
struct HostNetwork {
  NetworkKind kind = NetworkKind::Socket;
  std::string name = "Socket";    ///< as `Using network` has it
  std::vector<Hca> devices = {};  ///< by NCCL's number; of Socket: the interfaces
  bool has_gdr = false;           ///< the driver module for it is there
  OfiFacts ofi = {};
};

/// Derived from the devices' names: rdmap and efa are Amazon's, cxi is Slingshot's, those without a number
/// of their own (guid, port) are Ethernet interfaces, others do verbs.
HostNetwork network_of(Host host, NcclVersion version);

}  // namespace ringside
