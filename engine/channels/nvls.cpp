#include "engine/channels/heads.h"
#include "engine/channels/join.h"
#include "engine/channels/trees.h"

namespace ringside {
namespace {

/// Joins each head's tree: it contains the ranks that have the head's position on their nodes.
void join_heads(const std::vector<Rank>& heads, std::size_t parity,
                std::vector<Channels::TreePlace>& places) {
  const int nnodes = static_cast<int>(heads.size());
  const auto head = [&heads](int node) { return heads[static_cast<std::size_t>(node)]; };
  for (int node = 0; node < nnodes; ++node) {
    const TreeNode tree = double_tree(nnodes, node)[parity];
    Channels::TreePlace& place = places[static_cast<std::size_t>(to_int(head(node)))];
    if (tree.parent >= 0) place.parent = head(tree.parent);
    for (const int child : tree.children) {
      if (child >= 0) place.children.push_back(head(child));
    }
  }
}

}  // namespace

Channels::Nvls join_nvls(const JobView& job, int nheads, int njoined) {
  Channels::Nvls nvls;
  nvls.heads.resize(static_cast<std::size_t>(nheads));
  for (int node = 0; node < job.nnodes(); ++node) {
    const Graph& graph = job.report(node).graphs[GraphId::Nvls];
    const std::vector<int> gpus = head_gpus(graph, graph.nchannels);
    for (std::size_t head = 0; head < nvls.heads.size(); ++head) {
      nvls.heads[head].push_back(job.rank(node, gpus[head]));
    }
  }
  if (job.nnodes() == 1) return nvls;

  nvls.trees.resize(2);
  for (std::size_t parity = 0; parity < 2; ++parity) {
    nvls.trees[parity].resize(static_cast<std::size_t>(job.nranks));
    for (std::size_t head = 0; head < static_cast<std::size_t>(njoined); ++head) {
      join_heads(nvls.heads[head], parity, nvls.trees[parity]);
    }
  }
  return nvls;
}

}  // namespace ringside
