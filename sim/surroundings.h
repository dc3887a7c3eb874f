#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "engine/channels/job.h"

namespace ringside {

/// The transport between hosts. It has costs in addition to those of the NIC in a host's
/// description.
enum class NetKind : std::uint8_t { InfiniBand, Roce, Efa, Tcp, FasTrak, Slingshot, Tcpx };
inline constexpr std::size_t kNetKinds = 7;

/// The launch of the job's kernels.
enum class LaunchStyle : std::uint8_t {
  Process,  ///< one process per GPU
  Threads,  ///< one process for all GPUs of a node, which launches one after the other
  Graph     ///< launched by a CUDA graph
};
inline constexpr std::size_t kLaunchStyles = 3;

/// Both return the lower-case name used in options: ib, roce, efa, tcp, fastrak, slingshot, tcpx;
/// process, threads, graph.
const char* to_string(NetKind kind);
const char* to_string(LaunchStyle style);

/// errors  InvalidArgument: unknown name; the message suggests the nearest one
Result<NetKind> parse_net_kind(std::string_view name);
Result<LaunchStyle> parse_launch_style(std::string_view name);

/// Inputs of the time model that no host description contains.
struct Surroundings {
  NetKind net = NetKind::InfiniBand;
  LaunchStyle launch = LaunchStyle::Process;
  bool domain_spans_hosts = false;  ///< NVLink joins GPUs of several hosts
};

/// Returns the network of the first NIC of the job's first node: the one that its description states (NetInfo::link),
/// else a guess from the device's name, InfiniBand for unknown names. A node without NICs has InfiniBand.
/// source  device names in NCCL's own and the vendors' topology files: mlx5_0, rdmap*, efa_0,
///         fastrak0, cxi0, eth0
NetKind likely_net(const Job& job);

/// Returns the default surroundings of a job: likely_net(), one process per GPU, and whether its
/// nodes span hosts.
Surroundings likely_surroundings(const Job& job);

}  // namespace ringside
