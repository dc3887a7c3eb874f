#include "engine/channels/connect.h"

#include <algorithm>

#include "base/assert.h"
#include "engine/channels/channel_counts.h"
#include "engine/channels/join.h"
#include "engine/channels/merge.h"
#include "engine/channels/trees.h"

namespace ringside {
namespace {

/// Returns whether each number from 0 to count - 1 occurs exactly once.
bool is_permutation_of(const std::vector<int>& numbers, int count) {
  if (static_cast<int>(numbers.size()) != count) return false;
  std::vector<bool> seen(numbers.size());
  for (const int number : numbers) {
    if (number < 0 || number >= count || seen[static_cast<std::size_t>(number)]) return false;
    seen[static_cast<std::size_t>(number)] = true;
  }
  return true;
}

/// Asserts that a node's report is consistent. Every ring and tree is built from reports and ranks that
/// passed this check.
void check_report(const NodeReport& report) {
  for (const GraphId id : {GraphId::Ring, GraphId::Tree, GraphId::CollNetChain}) {
    const Graph& graph = report.graphs[id];
    RINGSIDE_ASSERT(static_cast<int>(graph.intra.size()) >= graph.nchannels,
                    "graph {}: {} channels, {} listed", static_cast<int>(id), graph.nchannels,
                    graph.intra.size());
    for (const std::vector<int>& channel : graph.intra) {
      RINGSIDE_ASSERT(is_permutation_of(channel, report.nranks),
                      "a channel of graph {} does not hold each of {} GPUs once",
                      static_cast<int>(id), report.nranks);
    }
  }
  for (const GraphId id : {GraphId::Nvls, GraphId::CollNetDirect}) {
    const Graph& graph = report.graphs[id];
    RINGSIDE_ASSERT(static_cast<int>(graph.intra.size()) >= graph.nchannels &&
                        std::ranges::none_of(graph.intra, &std::vector<int>::empty),
                    "graph {} has channels without a head", static_cast<int>(id));
  }
}

JobView checked_view(std::span<const NodeReport> reports, std::span<const JobNode> nodes) {
  RINGSIDE_ASSERT(!reports.empty() && !nodes.empty(), "a job has a node");
  for (const NodeReport& report : reports) check_report(report);
  std::vector<int> ranks;
  for (const JobNode& node : nodes) {
    RINGSIDE_ASSERT(node.report >= 0 && node.report < static_cast<int>(reports.size()),
                    "report {} of {}", node.report, reports.size());
    const NodeReport& report = reports[static_cast<std::size_t>(node.report)];
    RINGSIDE_ASSERT(static_cast<int>(node.ranks.size()) == report.nranks, "{} ranks for {} GPUs",
                    node.ranks.size(), report.nranks);
    ranks.insert(ranks.end(), node.ranks.begin(), node.ranks.end());
  }
  const int nranks = static_cast<int>(ranks.size());
  RINGSIDE_ASSERT(is_permutation_of(ranks, nranks), "a rank is on no node or on two");
  RINGSIDE_ASSERT(std::ranges::find(nodes.front().ranks, 0) != nodes.front().ranks.end(),
                  "the first node is rank 0's");
  return {reports, nodes, nranks};
}

void size_shape(CommShape& shape, const ChannelParameters& parameters) {
  const NvlsSizes nvls = nvls_sizes(shape, parameters);
  shape.nvls_channels = nvls.nchannels;
  shape.nvls_chunk = nvls.chunk;
  shape.nvls_tree_chunk = nvls.tree_chunk;
  shape.buffers = buffer_sizes(shape, parameters);
  const P2pSizes p2p = p2p_sizes(shape, parameters);
  shape.p2p_channels = p2p.nchannels;
  shape.p2p_channels_per_peer = p2p.per_peer;
  shape.p2p_chunk = p2p.chunk;
}

/// Maps the channels that were built to the channels that the job uses; repeated channels are copies.
template <typename Lane>
void repeat_channels(std::vector<Lane>& lanes, const std::vector<int>& repeated) {
  const std::size_t built = lanes.size();
  lanes.resize(repeated.size());
  for (std::size_t channel = 0; channel < lanes.size(); ++channel) {
    const std::size_t original = static_cast<std::size_t>(repeated[channel]) % built;
    if (original != channel) lanes[channel] = lanes[original];
  }
}

}  // namespace

Result<Connection> connect_nodes(std::span<const NodeReport> reports,
                                 std::span<const JobNode> nodes,
                                 const ChannelParameters& parameters) {
  const JobView job = checked_view(reports, nodes);
  Connection connection;
  CommShape& shape = connection.shape;
  RINGSIDE_TRY(shape, merge_reports(job, parameters));
  const int searched = shape.graph(GraphId::Ring).nchannels;
  RINGSIDE_ASSERT(searched > 0, "a search for rings and trees always finds one");
  std::vector<int> repeated = repeated_channels(shape, parameters);
  if (parameters.rules.counts.raises_to_nvls) {
    shape.collective_channels = static_cast<int>(repeated.size());
    raise_to_nvls(repeated, nvls_sizes(shape, parameters).nchannels);
  }
  shape.nchannels = static_cast<int>(repeated.size());
  size_shape(shape, parameters);

  Channels& channels = connection.channels;
  channels.rings = join_rings(job, shape, parameters.rules.counts.ring_swap);
  channels.trees = join_trees(job, searched);
  channels.tree_depth = tree_depth(job.nranks, job.nnodes());
  repeat_channels(channels.rings, repeated);
  repeat_channels(channels.trees, repeated);
  if (shape.has_nvls) {
    const bool are_all_joined = !parameters.rules.counts.nvls_joins_ring_channels;
    channels.nvls =
        join_nvls(job, shape.nvls_heads,
                  are_all_joined ? shape.nvls_heads : std::min(shape.nvls_heads, searched));
  }
  if (shape.has_collnet) {
    channels.collnet = join_collnet(job, shape.graph(GraphId::CollNetDirect).nchannels);
  }
  for (const JobNode& node : nodes) {
    std::vector<Rank>& ranks = channels.nodes.emplace_back();
    for (const int rank : node.ranks) ranks.push_back(Rank{rank});
  }
  return connection;
}

}  // namespace ringside
