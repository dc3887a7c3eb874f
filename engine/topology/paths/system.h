#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "engine/topology/host.h"
#include "engine/topology/parameters.h"
#include "engine/topology/path_type.h"

namespace ringside {

/// Kinds of vertices of the system graph. A rank is a Gpu; the links of its silicon belong to the Dev.
enum class NodeKind : std::uint8_t { Gpu, Pci, Nvs, Cpu, Nic, Net, Dev };
inline constexpr int kNodeKinds = 7;

/// Kinds of edges. source  NCCL's numbers (LINK_*)
enum class LinkKind : std::uint8_t { Loc = 0, Nvl = 1, C2c = 3, Pci = 4, Sys = 9, Net = 10 };

/// Returns the name in NCCL's topology dump: "NVL".
const char* to_string(LinkKind kind);

/// source  NCCL's numbers
enum class CpuArch : std::int8_t { Unknown = -1, X86 = 1, Power = 2, Arm = 3, Mixed = 4 };
enum class CpuVendor : std::int8_t { Unknown = -1, Intel = 1, Amd = 2, Zhaoxin = 3, Mixed = 4 };

/// A vertex of the system graph.
struct NodeRef {
  NodeKind kind = NodeKind::Gpu;
  int index = 0;  ///< within its kind, in NCCL's order
  friend bool operator==(NodeRef, NodeRef) = default;
};
inline NodeRef gpu_ref(int index) { return {NodeKind::Gpu, index}; }
inline NodeRef net_ref(int index) { return {NodeKind::Net, index}; }

using LinkId = std::int32_t;

/// One direction of a link.
/// unit  GB/s = 1e9 bytes/s in single precision, as in NCCL: close choices depend on it
struct Link {
  LinkKind kind = LinkKind::Loc;
  NodeRef from, to;
  float bandwidth = 0;
  LinkId reverse = -1;  ///< the opposite direction of the link; -1: none
};

/// The best path between two vertices.
struct Path {
  PathType type = PathType::Dis;
  float bandwidth = 0;  ///< GB/s, of the narrowest link
  std::vector<LinkId> links = {};
  [[nodiscard]] int hops() const { return static_cast<int>(links.size()); }
};

/// The properties that vertices of all kinds have.
struct SystemNode {
  int host = 0;                    ///< index of the host within an NVLink domain
  std::int64_t id = 0;             ///< bus id, NUMA number or net device, by kind
  std::vector<LinkId> links = {};  ///< widest first, the way up to the CPU last
};

/// The properties of a Gpu vertex.
struct GpuInfo {
  int rank = 0;  ///< in the job
  int dev = 0;   ///< NVML index
  int sm = 0;
  bool gdr = false;
  std::string bus_id = {};
  int device = 0;    ///< index of its silicon
  int mlopart = -1;  ///< number of the partition of its silicon; -1: the whole silicon
};

/// The properties of a Net vertex.
struct NetInfo {
  int dev = 0;
  std::uint64_t guid = 0;
  int port = 0;
  float bandwidth = 0;  ///< GB/s of the wire
  float latency_us = 0;
  bool gdr = false, coll = false;
  int rail = -1, plane = -1;
  bool is_connectx8 = false;
  int local_gpu = -1;  ///< index of the GPU that it serves; -1: none
  std::string name = {};
  std::string link = {};  ///< HostNet::link
};

/// The properties of a Cpu vertex.
struct CpuInfo {
  CpuArch arch = CpuArch::Unknown;
  CpuVendor vendor = CpuVendor::Unknown;
  int model = -1;
};

/// The silicon below one or more GPU nodes.
struct DevInfo {
  int sm = 0;
  std::string bus_id = {};
};

/// One node of a job as its ranks see it: a host, an NVLink domain of several hosts, or the part of a host whose GPUs
/// reach each other. It contains vertices, links, and the paths between vertices.
///
/// Ownership  a value: copies are independent; a search stores remaining bandwidth separately
struct System {
  std::array<std::vector<SystemNode>, kNodeKinds> nodes;  ///< [kind][index]
  std::vector<Link> links;
  std::vector<GpuInfo> gpus;
  std::vector<NetInfo> nets;
  std::vector<CpuInfo> cpus;
  std::vector<DevInfo> devs;
  /// Kind of vertex that links and `devs` belong to; Gpu before 2.30
  NodeKind silicon = NodeKind::Dev;
  int nhosts = 1;
  bool is_inter = false;  ///< the job has ranks elsewhere
  float max_bandwidth = 0,
        total_bandwidth = 0;  ///< GB/s; source  NCCL 2.30.7 graph/search.cc: ncclTopoSearchInit

  /// [from kind][to kind][from index x count(to) + to index]; the type is Dis if there is no path. Stored from every
  /// vertex to every Gpu, Net, Nvs, Cpu and Dev.
  std::array<std::array<std::vector<Path>, kNodeKinds>, kNodeKinds> paths;

  [[nodiscard]] int count(NodeKind kind) const {
    return static_cast<int>(nodes[static_cast<std::size_t>(kind)].size());
  }
  [[nodiscard]] const SystemNode& node(NodeRef ref) const {
    return nodes[static_cast<std::size_t>(ref.kind)][static_cast<std::size_t>(ref.index)];
  }
  [[nodiscard]] const Path& path(NodeRef from, NodeRef to) const {
    return paths[static_cast<std::size_t>(from.kind)][static_cast<std::size_t>(to.kind)]
                [static_cast<std::size_t>(from.index * count(to.kind) + to.index)];
  }
  [[nodiscard]] const Link& link(LinkId id) const { return links[static_cast<std::size_t>(id)]; }
  [[nodiscard]] NodeRef silicon_of(int gpu) const {
    return {silicon, gpus[static_cast<std::size_t>(gpu)].device};
  }
};

/// The hosts of one NVLink domain, or one host alone.
struct SystemRequest {
  std::span<const Host* const> hosts;  ///< one; several: joined by NVLink (MNNVL), in rank order
  int first_rank = 0;                  ///< rank of the first of these GPUs in the job
  int nranks = 0;                      ///< number of ranks of the whole job
};

/// Returns the nodes of these hosts: one, or one per group of GPUs that reach each other by P2P or shared memory. They
/// are ordered by their lowest rank. Each contains all NICs.
///
/// errors  InvalidArgument: a host that cannot take part (no GPU; more than kMaxGpusPerHost GPUs in a domain)
Result<std::vector<System>> make_systems(const SystemRequest& request,
                                         const TopologyParameters& parameters);

/// Returns the vertices of kind `to` that `from` reaches with the most bandwidth and, among those, by the closest path
/// type.
/// source  NCCL: ncclTopoGetLocal
std::vector<int> local_nodes(const System& system, NodeRef from, NodeKind to);

/// Returns the index of the NIC that GPU `gpu` uses for `channel` by default; -1: there are no NICs.
/// source  NCCL: ncclTopoGetLocalNet
int local_net(const System& system, int gpu, int channel, const TopologyParameters& parameters);

/// Returns the bandwidth of one NVLink for a compute capability, GB/s.  source  NCCL: ncclTopoNVLinkBw
float nvlink_bandwidth(int sm, const NvLinkSpeeds& speeds = {});

}  // namespace ringside
