#pragma once

#include <span>

#include "base/result.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// The bandwidth without a narrower link: between a GPU and its silicon, or from a vertex to itself. GB/s
/// source  NCCL 2.30.7 graph/topo.h: LOC_BW
inline constexpr float kLocalBandwidth = 5000.0F;

/// Returns a host as its ranks see it together: without devices that have no GPU or NIC of the job below them, and
/// with the others in the order in which the ranks' views are joined. Views are joined in rank order; each contains
/// its rank's GPU and all NICs.
/// source  NCCL 2.30.7 graph/xml.cc: ncclTopoTrimXml, ncclTopoFuseXml
Host joined_view(const Host& host);

/// Makes the vertices and links of the hosts, without paths.
///
/// hosts       joined views of one NVLink domain
/// first_rank  rank of the first GPU; the ranks within a host follow those of its description
/// errors      InvalidArgument: an NVLink between GPUs that only one of them lists; a CPU without an attribute that
///             the release requires
/// source      NCCL 2.30.7 graph/topo.cc
Result<System> build_graph(std::span<const Host> hosts, int first_rank, const TopologyRules& rules);

/// Adds a link or widens an existing one of this kind; a vertex keeps its links widest first.
void connect(System& system, NodeRef from, NodeRef to, LinkKind kind, float bandwidth);

/// Returns the system without some vertices of one kind, and without paths.
/// keep  [index]: whether the vertex stays
System without(const System& system, NodeKind kind, const std::vector<bool>& keep);

/// Joins the two levels of PCI switches that are in fact one switch.
/// device_ids  by PCI vertex: vendor, device, subsystem vendor, subsystem device, 16 bits each
/// source      NCCL 2.30.7 graph/topo.cc: Broadcom PEX switches of generations 4 and 5
void flatten_switches(System& system, std::vector<std::uint64_t> device_ids,
                      const TopologyRules& rules);

/// Moves the link to the parent to the end of each vertex's list, and connects each link with its opposite direction.
void finish_links(System& system, const TopologyRules& rules);

}  // namespace ringside
