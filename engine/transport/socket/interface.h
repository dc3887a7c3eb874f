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

/// Returns this host's interfaces in the kernel's order, without link-local IPv6 addresses.
/// errors  System
Result<std::vector<Interface>> local_interfaces();

/// The settings that select the interface on which a rank listens.
struct InterfaceSettings {
  /// NCCL_SOCKET_IFNAME's grammar: `eth,ib` matches names with these prefixes; `=eth0,eth1` exactly these names;
  /// `^docker,lo` all names without these prefixes; `^=eth0` all other names. Empty: not set.
  std::string names = {};
  std::optional<SocketAddress::Family> family = {};  ///< NCCL_SOCKET_FAMILY
  bool is_single_host = false;  ///< whether all ranks are on this host, so that loopback suffices
};

/// Reads NCCL_SOCKET_IFNAME and NCCL_SOCKET_FAMILY (`AF_INET` or `AF_INET6`).
/// errors  InvalidArgument: another family
Result<InterfaceSettings> interface_settings_from(const Environment& environment,
                                                  bool is_single_host);

/// Returns the first interface that is up and matches the settings. Without names it prefers loopback if all ranks are
/// on one host; else interfaces that begin with `ib`; else any except docker, virbr and loopback; else
/// docker; else loopback.
/// errors  System: no interface matches; the text lists the settings and the host's interfaces
/// source  NCCL, ncclFindInterfaces
Result<Interface> choose_interface(std::span<const Interface> there,
                                   const InterfaceSettings& settings);

}  // namespace ringside
