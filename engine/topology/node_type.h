#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace ringside {

/// What the members of a cluster have in common: the GPUs of one node, the switch that joins them,
/// and the NICs that leave it. Every GPU reaches every other one of its node through that switch.
///
/// unit  bandwidths are of one direction; the other one has as much again
struct NodeType {
  std::string name;
  int gpus = 0;
  int compute_capability = 0;    ///< 10 x major + minor: 90 for 9.0
  BytesPerSecond gpu_link;       ///< between one GPU and the switch
  std::vector<int> nic_gpu;      ///< by NIC: the GPU it sits beside; at most one NIC a GPU
  BytesPerSecond nic_line_rate;  ///< of one NIC on the wire
  BytesPerSecond nic_host_link;  ///< between one NIC and its GPU (PCIe)

  /// What a collective pays beside the bandwidth, by the ring algorithm with the simple protocol.
  struct Latency {
    Seconds base;      ///< once a collective: launching it
    Seconds gpu_step;  ///< a step to a GPU of the same node
    Seconds net_step;  ///< a step to a GPU of another node
  } latency;

  [[nodiscard]] int nics() const { return static_cast<int>(nic_gpu.size()); }
  /// What one NIC carries in one direction: the lower of its wire and its way to the GPU.
  [[nodiscard]] BytesPerSecond nic_bandwidth() const {
    return nic_line_rate < nic_host_link ? nic_line_rate : nic_host_link;
  }
  /// The NIC through which a GPU leaves its node: its own, or the first where it has none.
  /// shape  the node has a NIC
  [[nodiscard]] int nic_of(int gpu) const;
};

/// `nodes` alike, their NICs joined by one switch that never holds anybody up. Ranks are numbered
/// node by node.
struct Cluster {
  NodeType node;
  int nodes = 1;

  [[nodiscard]] int nranks() const { return node.gpus * nodes; }
};

/// errors  InvalidArgument: nodes < 1, several nodes without a NIC, more than 65536 ranks
Result<Cluster> make_cluster(NodeType node, int nodes);

/// A node type from its YAML text (grammar: README.md beside this file). `where` opens each
/// message. errors  Corrupt: not YAML, a wrong version, an unknown or missing key, a value out of
/// range; with
///         `where:line` and the mend
Result<NodeType> parse_node(const std::string& text, const std::string& where);

/// A preset by its name, or else the file at that path.
/// errors  NotFound: neither; the nearest preset is named.  Corrupt, System: as parse_node,
/// read_file
Result<NodeType> load_node(const std::string& name_or_path);

/// Names of the built-in node types.
std::span<const std::string_view> node_preset_names();

}  // namespace ringside
