#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/topology/host.h"

namespace ringside {

/// Reads device properties from Linux that hwloc does not report. `root` is "/sys", or a test's folder. A missing or
/// unreadable file is normal and gives an empty result.
class SystemFiles {
 public:
  explicit SystemFiles(std::string root) : root_(std::move(root)) {}

  /// Sets the link that a PCI function could have: the lower of its own and of the port above it. hwloc
  /// reads what it has now, and an idle GPU slows its link down.
  /// source  NCCL 2.30.7 graph/xml.cc: max_link_speed and max_link_width, of both ends
  void read_link(HostPci& function) const;

  /// Returns the ports of an RDMA device that are up.
  [[nodiscard]] std::vector<HostNet> rdma_ports(const std::string& device) const;

  /// Returns a network interface; nullopt if it is down.
  [[nodiscard]] std::optional<HostNet> interface(const std::string& name) const;

  /// Returns the names of all network interfaces, sorted.
  [[nodiscard]] std::vector<std::string> interfaces() const;

  /// Returns whether NICs can access GPU memory by its address: nvidia_peermem or its predecessor is loaded.
  [[nodiscard]] bool has_peer_memory() const;

 private:
  [[nodiscard]] std::string read(const std::string& path) const;
  std::string root_;
};

}  // namespace ringside
