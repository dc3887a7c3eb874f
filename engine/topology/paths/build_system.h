#pragma once

#include <span>

#include "base/result.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// The bandwidth without a narrower link: between a GPU and its silicon, or from a vertex to itself. GB/s
/// source  NCCL 2.30.7 graph/topo.h: LOC_BW
inline constexpr float kLocalBandwidth = 5000.0F;

/// A host as its ranks see it together: devices without a GPU or NIC of the job below them omitted,
/// the rest in the order in which the ranks' own views of the host are joined. The views are joined
/// in rank order; each holds its rank's GPU and all NICs.
/// source  NCCL 2.30.7 graph/xml.cc: ncclTopoTrimXml, ncclTopoFuseXml
Host joined_view(const Host& host);

/// Vertices and links of the hosts, without any path.
///
/// hosts       joined views, one NVLink domain
/// first_rank  of the first GPU; the ranks within a host follow the ranks that its GPUs have there
/// errors      InvalidArgument: an NVLink from one GPU to another that has none back; a CPU without what the release
///             insists on
/// source      NCCL 2.30.7 graph/topo.cc
Result<System> build_graph(std::span<const Host> hosts, int first_rank, const TopologyRules& rules);

/// Adds a link or widens an existing one of this kind; a vertex keeps its links widest first.
void connect(System& system, NodeRef from, NodeRef to, LinkKind kind, float bandwidth);

/// The system without the vertices of one kind that are not kept. Drops all paths.
/// keep  by index
System without(const System& system, NodeKind kind, const std::vector<bool>& keep);

/// Joins the two levels of PCI switches that are in fact one switch.
/// device_ids  by PCI vertex: vendor, device, subsystem vendor, subsystem device, 16 bits each
/// source      NCCL 2.30.7 graph/topo.cc: Broadcom PEX switches of generations 4 and 5
void flatten_switches(System& system, std::vector<std::uint64_t> device_ids,
                      const TopologyRules& rules);

/// Links every vertex's way up last, and each link with its other direction.
void finish_links(System& system, const TopologyRules& rules);

}  // namespace ringside
