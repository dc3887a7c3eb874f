#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/result.h"
#include "engine/transport/socket/address.h"

namespace ringside {

/// One address of one network interface.
struct Interface {
  std::string name;
  SocketAddress address;  ///< port 0
  bool is_up = true;
  friend bool operator==(const Interface&, const Interface&) = default;
};

/// This host's interfaces in the kernel's order, without link-local IPv6 addresses.
/// errors  System
Result<std::vector<Interface>> local_interfaces();

/// Which interface a rank wants to be reached at.
struct InterfaceSettings {
  /// NCCL_SOCKET_IFNAME's grammar: `eth,ib` names that begin so; `=eth0,eth1` exactly these;
  /// `^docker,lo` none that begins so; `^=eth0` not exactly this. Empty: not set.
  std::string names = {};
  std::optional<SocketAddress::Family> family = {};  ///< NCCL_SOCKET_FAMILY
  bool is_single_host = false;  ///< all ranks are on this host: loopback will do
};

/// NCCL_SOCKET_IFNAME and NCCL_SOCKET_FAMILY (`AF_INET` or `AF_INET6`).
/// errors  InvalidArgument: another family
Result<InterfaceSettings> interface_settings_from(const Environment& environment,
                                                  bool is_single_host);

/// The first interface that is up and fits the settings. Without names: loopback when all ranks are on one
/// host; else what begins with `ib`; else what is neither docker, virbr nor loopback; else loopback.
/// errors  System: none fits; the text has the settings and the interfaces of the host
/// source  NCCL, ncclFindInterfaces
Result<Interface> choose_interface(std::span<const Interface> there,
                                   const InterfaceSettings& settings);

}  // namespace ringside
