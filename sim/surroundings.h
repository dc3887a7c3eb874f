#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "engine/channels/job.h"

namespace ringside {

/// What carries messages between hosts: where a NIC's description ends, its transport's own costs begin.
enum class NetKind : std::uint8_t { InfiniBand, Roce, Efa, Tcp, FasTrak, Slingshot, Tcpx };
inline constexpr std::size_t kNetKinds = 7;

/// How the job's kernels are launched.
enum class LaunchStyle : std::uint8_t {
  Process,  ///< a process for each GPU
  Threads,  ///< one process for all GPUs of a node, one after the other
  Graph     ///< from a CUDA graph
};
inline constexpr std::size_t kLaunchStyles = 3;

/// In lower case, as options name them: ib, roce, efa, tcp, fastrak, slingshot, tcpx; process, threads, graph.
const char* to_string(NetKind kind);
const char* to_string(LaunchStyle style);

/// errors  InvalidArgument: no such name; the nearest is named
Result<NetKind> parse_net_kind(std::string_view name);
Result<LaunchStyle> parse_launch_style(std::string_view name);

/// Inputs that decide on times and that no host's description contains.
struct Surroundings {
  NetKind net = NetKind::InfiniBand;
  LaunchStyle launch = LaunchStyle::Process;
  bool domain_spans_hosts = false;  ///< NVLink joins GPUs of several hosts
};

/// What the first network device of the job is said to be, or what its name suggests; InfiniBand where they say nothing.
/// source  names in NCCL's own and the vendors' topology files: mlx5_0, rdmap*, efa_0, fastrak0, cxi0, eth0
NetKind likely_net(const Job& job);

/// Of a job: likely_net(), a process a GPU, and what its nodes are.
Surroundings likely_surroundings(const Job& job);

}  // namespace ringside
