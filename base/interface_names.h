#pragma once

#include <string_view>

#include "base/text_parts.h"

namespace ringside {

/// Returns whether a network interface connects only containers or virtual machines of its own host, by the names that
/// Docker, libvirt, Kubernetes' networks, Podman and LXC give by default.
constexpr bool is_bridge_name(std::string_view name) {
  return starts_with_any(
      name, {"docker", "virbr", "cni", "flannel", "cali", "podman", "br-", "veth", "lxc", "lxdbr"});
}

}  // namespace ringside
