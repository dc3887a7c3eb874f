#include "engine/channels/merge.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/channels/heads.h"

namespace ringside {
namespace {

constexpr int kMostDirectRanks = 8;  ///< per node; source  NCCL_MAX_DIRECT_ARITY + 1

/// Pattern, latency and hops keep the values of rank 0's node, because NCCL does not exchange them.
void merge_graph(GraphSummary& merged, const GraphSummary& other) {
  merged.nchannels = std::min(merged.nchannels, other.nchannels);
  merged.same_channels = merged.same_channels && other.same_channels;
  merged.bw_intra = std::min(merged.bw_intra, other.bw_intra);
  merged.bw_inter = std::min(merged.bw_inter, other.bw_inter);
  merged.type_intra = std::max(merged.type_intra, other.type_intra);
  merged.type_inter = std::max(merged.type_inter, other.type_inter);
  merged.cross_nic = std::max(merged.cross_nic, other.cross_nic);
}

template <typename Kind>
Kind merged_kind(Kind first, Kind second) {
  return first == second ? first : Kind::Mixed;
}

CommShape shape_of(const NodeReport& report) {
  CommShape shape;
  std::ranges::copy(report.graphs.by_id, shape.graphs.begin());
  shape.min_local_ranks = shape.max_local_ranks = report.nranks;
  shape.min_cc = report.min_cc;
  shape.max_cc = report.max_cc;
  shape.cpu_arch = report.cpu_arch;
  shape.cpu_vendor = report.cpu_vendor;
  shape.own_cpu_arch = report.cpu_arch;
  shape.own_cpu_vendor = report.cpu_vendor;
  shape.max_tree_pattern = report.graphs[GraphId::Tree].pattern;
  shape.has_nvswitch = report.has_nvswitch;
  shape.nvls_heads = head_count(report.graphs[GraphId::Nvls]);
  shape.p2p_channels_per_peer = report.p2p_channels_per_peer;
  shape.is_all_nvlink = report.is_all_nvlink;
  shape.is_all_direct_p2p = report.is_all_direct_p2p;
  shape.min_net_count = report.net_count;
  shape.min_net_bw = report.min_net_bw;
  return shape;
}

/// NCCL does not exchange has_nvswitch and is_all_direct_p2p either: they keep rank 0's values.
void merge_report(CommShape& shape, const NodeReport& report) {
  for (std::size_t id = 0; id < shape.graphs.size(); ++id) {
    merge_graph(shape.graphs[id], report.graphs.by_id[id]);
  }
  shape.min_local_ranks = std::min(shape.min_local_ranks, report.nranks);
  shape.max_local_ranks = std::max(shape.max_local_ranks, report.nranks);
  shape.min_cc = std::min(shape.min_cc, report.min_cc);
  shape.max_cc = std::max(shape.max_cc, report.max_cc);
  shape.cpu_arch = merged_kind(shape.cpu_arch, report.cpu_arch);
  shape.cpu_vendor = merged_kind(shape.cpu_vendor, report.cpu_vendor);
  shape.max_tree_pattern = std::max(shape.max_tree_pattern, report.graphs[GraphId::Tree].pattern);
  shape.nvls_heads = std::min(shape.nvls_heads, head_count(report.graphs[GraphId::Nvls]));
  shape.p2p_channels_per_peer = std::min(shape.p2p_channels_per_peer, report.p2p_channels_per_peer);
  shape.is_all_nvlink = shape.is_all_nvlink && report.is_all_nvlink;
  shape.min_net_count = std::min(shape.min_net_count, report.net_count);
  shape.min_net_bw = std::min(shape.min_net_bw, report.min_net_bw);
}

/// Keeps the values of rank 0's node for everything that the release does not exchange.
void keep_own(CommShape& shape, const NodeReport& own, const CountRules& rules) {
  if (rules.capability_is_own) {
    shape.min_cc = own.min_cc;
    shape.max_cc = own.max_cc;
  }
  if (rules.cross_nic_is_own) {
    for (std::size_t id = 0; id < shape.graphs.size(); ++id) {
      shape.graphs[id].cross_nic = own.graphs.by_id[id].cross_nic;
    }
  }
  if (rules.p2p_counts_rank_0) {
    shape.p2p_channels_per_peer = own.p2p_channels_per_peer;
    shape.min_net_count = own.net_count;
    shape.is_all_nvlink = own.is_all_nvlink;
  }
}

Status check_nets(const JobView& job, const ChannelParameters& parameters) {
  if (parameters.ignore_net_mismatch) return {};
  for (int node = 1; node < job.nnodes(); ++node) {
    if (job.report(node).net_count == job.report(0).net_count) continue;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("node {} has {} network devices for a rank, node 0 has {}", node,
                             job.report(node).net_count, job.report(0).net_count),
                 "give each node as many, or unset NCCL_IGNORE_NET_MISMATCH"};
  }
  return {};
}

/// Decides which features the whole job uses, from the features that each node found.
void decide_features(CommShape& shape, const JobView& job, const ChannelParameters& parameters) {
  GraphSummary& ring = shape.graphs[static_cast<std::size_t>(GraphId::Ring)];
  GraphSummary& tree = shape.graphs[static_cast<std::size_t>(GraphId::Tree)];
  ring.nchannels = tree.nchannels = std::min(ring.nchannels, tree.nchannels);

  shape.has_nvls = shape.graph(GraphId::Nvls).nchannels > 0;
  if (!shape.has_nvls) shape.nvls_heads = 0;

  shape.has_collnet = parameters.collnet_enable &&
                      shape.graph(GraphId::CollNetChain).nchannels > 0 &&
                      shape.nnodes >= parameters.collnet_node_threshold &&
                      (parameters.rules.counts.large_nodes_have_collnet ||
                       shape.max_local_ranks <= kMostDirectRanks);
  shape.has_collnet_chain = shape.has_collnet;
  if (!shape.has_collnet) return;
  const NodeReport& first = job.report(0);
  shape.collnet_heads = static_cast<int>(
      head_gpus(first.graphs[GraphId::CollNetDirect], shape.graph(GraphId::CollNetDirect).nchannels)
          .size());
  shape.collnet_depth = first.nranks > 1 ? 2 : 1;
}

}  // namespace

Result<CommShape> merge_reports(const JobView& job, const ChannelParameters& parameters) {
  RINGSIDE_TRY(check_nets(job, parameters));
  CommShape shape = shape_of(job.report(0));
  shape.nranks = job.nranks;
  shape.nnodes = job.nnodes();
  for (int node = 1; node < job.nnodes(); ++node) merge_report(shape, job.report(node));
  keep_own(shape, job.report(0), parameters.rules.counts);
  decide_features(shape, job, parameters);
  return shape;
}

}  // namespace ringside
