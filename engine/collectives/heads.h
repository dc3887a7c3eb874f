#pragma once

#include "engine/collectives/primitives.h"

namespace ringside {

/// One rank's view of its node for NVLS and CollNetDirect. The head of a slice is the rank that combines the slice's
/// data for the node, and through the network for all nodes.
///
/// Ports, with the same numbers for sending and receiving
///   0 .. count - 1   slice h, to and from head h
///   then `inner`     heads only: to the node, for the own slice. NVLS: the switch.
///                    CollNetDirect: each other rank of the node
///   then             heads only: the network; one port per node for block collectives
/// Chunk numbers: slice h of a loop is h; for block collectives the block of head h on node j is j x count + h.
struct Heads {
  int count = 1;
  int own = -1;  ///< slice of which this rank is the head; -1: none
  /// Slice to begin with; it differs between ranks, so that not all begin at the same head
  int first = 0;
  int inner = 0;
  int node = 0;
  int nodes = 1;

  [[nodiscard]] RINGSIDE_HD constexpr bool is_head() const { return own >= 0; }
  [[nodiscard]] RINGSIDE_HD constexpr Ports node_side() const { return ports_from(count, inner); }
  [[nodiscard]] RINGSIDE_HD constexpr Ports network(int of_node = 0) const {
    return port(count + inner + of_node);
  }
  /// Returns the node whose blocks are moved `turn` turns after this node's own.
  [[nodiscard]] RINGSIDE_HD constexpr int node_at(int turn) const { return (node + turn) % nodes; }
  [[nodiscard]] RINGSIDE_HD constexpr int block(int of_node, int head) const {
    return of_node * count + head;
  }
  [[nodiscard]] RINGSIDE_HD constexpr int own_block() const { return block(node, own); }
};

/// Calls visit(h) for each slice, from this rank's first one on.
template <typename Visit>
RINGSIDE_HD constexpr void for_each_head(const Heads& heads, Visit&& visit) {
  for (int i = 0; i < heads.count; ++i) visit((heads.first + i) % heads.count);
}

}  // namespace ringside
