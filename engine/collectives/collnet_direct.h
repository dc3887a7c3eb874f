#pragma once

#include "engine/collectives/heads.h"

/// CollNetDirect: each rank of a node sends every slice directly to the slice's head. The head adds its own share, lets
/// the network reduce over the nodes, and sends the result to its node. There are H heads and L ranks per node, and N >
/// 1 nodes; ports to and from the network lead to SwitchGroups. Each function is one strand.
/// source  roles: NCCL 2.30's CollNet direct kernels
namespace ringside {

/// CollNetDirect all-reduce, first strand: sends each slice to its head.
/// rounds  3               traffic  1 / H of the buffer in each direction: on each link of a head with another
///                                 rank of its node, and of a head with the network
template <Primitives P>
RINGSIDE_HD void direct_scatter(P& primitives, const Heads& heads) {
  for_each_head(heads, [&](int h) {
    if (h != heads.own) primitives.send(h, port(h));
  });
}

template <Primitives P>
RINGSIDE_HD void direct_reduce(P& primitives, const Heads& heads) {
  if (!heads.is_head()) return;
  if (heads.inner == 0) return primitives.send(heads.own, heads.network());
  primitives.recv_reduce_send(heads.own, heads.node_side(), heads.network());
}

template <Primitives P>
RINGSIDE_HD void direct_broadcast(P& primitives, const Heads& heads) {
  if (!heads.is_head()) return;
  if (heads.inner == 0) return primitives.recv(heads.own, heads.network());
  primitives.recv_copy_send(heads.own, heads.network(), heads.node_side());
}

template <Primitives P>
RINGSIDE_HD void direct_gather(P& primitives, const Heads& heads) {
  for_each_head(heads, [&](int h) {
    if (h != heads.own) primitives.recv(h, port(h));
  });
}

/// CollNetDirect all-gather, where every rank is a head: its rail consists of the ranks with the same local number on
/// all nodes. It processes the blocks node by node, this rank's own node first.
/// rounds  2               traffic  1 / L of the output on each link within the node; the network: the
///                                 own block out, the rail's other N - 1 in
template <Primitives P>
RINGSIDE_HD void direct_all_gather_network(P& primitives, const Heads& heads, int turn) {
  if (turn == 0) primitives.send(heads.own_block(), heads.network());
}

template <Primitives P>
RINGSIDE_HD void direct_all_gather_broadcast(P& primitives, const Heads& heads, int turn) {
  const int node = heads.node_at(turn);
  const int block = heads.block(node, heads.own);
  if (heads.inner == 0) {
    return turn == 0 ? primitives.copy(block) : primitives.recv(block, heads.network(node));
  }
  if (turn == 0) return primitives.copy_send(block, heads.node_side());
  primitives.recv_copy_send(block, heads.network(node), heads.node_side());
}

template <Primitives P>
RINGSIDE_HD void direct_all_gather_receive(P& primitives, const Heads& heads, int turn) {
  const int node = heads.node_at(turn);
  for_each_head(heads, [&](int h) {
    if (h != heads.own) primitives.recv(heads.block(node, h), port(h));
  });
}

/// CollNetDirect reduce-scatter, where every rank is a head: it processes the own node's blocks last.
/// rounds  2               traffic  1 / L of the input on each link within the node; the network: the
///                                 rail's N blocks out, the own one in
template <Primitives P>
RINGSIDE_HD void direct_reduce_scatter_send(P& primitives, const Heads& heads, int turn) {
  const int node = heads.node_at(turn + 1);
  for_each_head(heads, [&](int h) {
    if (h != heads.own) primitives.send(heads.block(node, h), port(h));
  });
}

template <Primitives P>
RINGSIDE_HD void direct_reduce_scatter_reduce(P& primitives, const Heads& heads, int turn) {
  const int node = heads.node_at(turn + 1);
  const int block = heads.block(node, heads.own);
  if (heads.inner == 0) return primitives.send(block, heads.network(node));
  primitives.recv_reduce_send(block, heads.node_side(), heads.network(node));
}

template <Primitives P>
RINGSIDE_HD void direct_reduce_scatter_network(P& primitives, const Heads& heads, int turn) {
  if (turn + 1 == heads.nodes) primitives.recv(heads.own_block(), heads.network(heads.node));
}

}  // namespace ringside
