#pragma once

#include "engine/collectives/heads.h"
#include "engine/collectives/tree.h"

/// NVLS: the switch reduces and multicasts. The H heads of a node divide the data. A head reads its slice from all
/// ranks of the node in one load-reduce, and stores the result to all of them in one multicast. Ports to and from the
/// switch lead to SwitchGroups; heads send their own share to the switch like all ranks. There are n ranks per node and
/// N nodes. Each function is one strand.
/// source  roles: NCCL 2.30's NVLS kernels
namespace ringside {

/// NVLS all-reduce, first strand: sends each slice to its head's load-reduce.
/// rounds  2; N > 1: 3     traffic  a rank with the switch: the buffer in each direction, and a head
///                                 1 / H of it more in each direction; with the network 1 / H
template <Primitives P>
RINGSIDE_HD void nvls_scatter(P& primitives, const Heads& heads) {
  for_each_head(heads, [&](int h) { primitives.send(h, port(h)); });
}

/// Heads send the node's sum to the network or, with one node, back to the node.
template <Primitives P>
RINGSIDE_HD void nvls_reduce(P& primitives, const Heads& heads) {
  if (!heads.is_head()) return;
  primitives.recv_send(heads.own, heads.node_side(),
                       heads.nodes == 1 ? heads.node_side() : heads.network());
}

/// With several nodes, heads send the network's result to the node.
template <Primitives P>
RINGSIDE_HD void nvls_broadcast(P& primitives, const Heads& heads) {
  if (!heads.is_head() || heads.nodes == 1) return;
  primitives.recv_send(heads.own, heads.network(), heads.node_side());
}

/// Last strand: receives each slice from its head's multicast.
template <Primitives P>
RINGSIDE_HD void nvls_gather(P& primitives, const Heads& heads) {
  for_each_head(heads, [&](int h) { primitives.recv(h, port(h)); });
}

/// NVLSTree all-reduce: as NVLS, but the heads of a slice combine their nodes' sums along a tree over the nodes, whose
/// first child is the switch. These two strands run between nvls_scatter and nvls_gather.
/// rounds  2 + 2 x depth   traffic  with the switch as NVLS; 1 / H of the buffer up and down each edge
template <Primitives P>
RINGSIDE_HD void nvls_tree_reduce(P& primitives, const Heads& heads, Tree tree) {
  if (!heads.is_head()) return;
  primitives.recv_send(heads.own, tree.below(), tree.is_root ? tree.below() : tree.above());
}

template <Primitives P>
RINGSIDE_HD void nvls_tree_broadcast(P& primitives, const Heads& heads, Tree tree) {
  if (!heads.is_head() || tree.is_root) return;
  primitives.recv_send(heads.own, tree.above(), tree.below());
}

/// NVLS all-gather, where every rank is a head: it processes the blocks node by node, this rank's own node first.
/// rounds  1; N > 1: 2     traffic  with the switch: 1 / H of the output out, all of it in; with the
///                                 network: the own block out, the rail's other N - 1 in
template <Primitives P>
RINGSIDE_HD void nvls_all_gather_network(P& primitives, const Heads& heads, int turn) {
  if (turn == 0 && heads.nodes > 1) primitives.send(heads.own_block(), heads.network());
}

template <Primitives P>
RINGSIDE_HD void nvls_all_gather_multicast(P& primitives, const Heads& heads, int turn) {
  if (turn == 0) return primitives.send(heads.own_block(), heads.node_side());
  const int node = heads.node_at(turn);
  primitives.recv_send(heads.block(node, heads.own), heads.network(node), heads.node_side());
}

template <Primitives P>
RINGSIDE_HD void nvls_all_gather_receive(P& primitives, const Heads& heads, int turn) {
  const int node = heads.node_at(turn);
  for_each_head(heads, [&](int h) { primitives.recv(heads.block(node, h), port(h)); });
}

/// NVLS reduce-scatter, where every rank is a head: it processes the own node's blocks last.
/// rounds  1; N > 1: 2     traffic  with the switch: all of the input out, 1 / H of it in; with the
///                                 network: the rail's N blocks out, the own one in
template <Primitives P>
RINGSIDE_HD void nvls_reduce_scatter_send(P& primitives, const Heads& heads, int turn) {
  const int node = heads.node_at(turn + 1);
  for_each_head(heads, [&](int h) { primitives.send(heads.block(node, h), port(h)); });
}

template <Primitives P>
RINGSIDE_HD void nvls_reduce_scatter_reduce(P& primitives, const Heads& heads, int turn) {
  if (heads.nodes == 1) return primitives.recv(heads.own_block(), heads.node_side());
  const int node = heads.node_at(turn + 1);
  primitives.recv_send(heads.block(node, heads.own), heads.node_side(), heads.network(node));
}

template <Primitives P>
RINGSIDE_HD void nvls_reduce_scatter_network(P& primitives, const Heads& heads, int turn) {
  if (heads.nodes == 1 || turn + 1 != heads.nodes) return;
  primitives.recv(heads.own_block(), heads.network(heads.node));
}

}  // namespace ringside
