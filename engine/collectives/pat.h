#pragma once

#include "engine/collectives/primitives.h"

/// PAT, parallel aggregated trees: one binomial tree per block, and all trees run concurrently. A rank has offset s in
/// the tree of the block of the rank s ahead of it; the tree's edges connect s and s - lowest_bit(s). Port k leads to
/// the ranks at distance 2^k. n is the number of ranks.
///
/// Leaves come first in the reduction: `together` of them are sent before the first wait, so a connection must hold
/// that many chunks. With n / 2 of them, each step waits only for its own tree.
/// source  NCCL 2.30: PatRSAlgorithm and PatAGAlgorithm (order of blocks; their two operations for two contributions
///         are one operation with two ports here)
namespace ringside {

/// One rank's position, and the order in which it processes the blocks.
struct Pat {
  int index = 0;  ///< the rank
  int size = 1;
  int together = 1;  ///< a power of two

  [[nodiscard]] RINGSIDE_HD constexpr int block(int offset) const {
    return (index + offset) % size;
  }
  /// Returns the port towards the block's owner.  shape  offset > 0
  [[nodiscard]] RINGSIDE_HD static constexpr Ports towards(int offset) {
    return port(lowest_bit(static_cast<unsigned>(offset)));
  }
  /// Returns the ports away from the block's owner, to the ranks at offset + 2^k.
  [[nodiscard]] RINGSIDE_HD constexpr Ports away(int offset) const {
    int count = 0;
    while (offset + (1 << count) < size && (offset & (1 << count)) == 0) ++count;
    return ports_from(0, count);
  }
};

/// Calls visit(offset) for 0 .. n - 1, leaves first: rows of `together` offsets, each row half a tree
/// apart, and within a row the odd ones before the even ones at every scale.
template <typename Visit>
RINGSIDE_HD constexpr void for_each_offset(Pat pat, bool leaves_first, Visit&& visit) {
  const int reach = ceil_power_of_two(pat.size);
  const int row = reach / pat.together;
  for (int i = 0; i < reach; ++i) {
    const int at = leaves_first ? i : reach - 1 - i;
    int column = 0;  // the bits of the place in the row, inverted and mirrored
    for (int bit = 1; bit < pat.together; bit *= 2) {
      column = 2 * column + ((at % pat.together & bit) == 0 ? 1 : 0);
    }
    const int offset = column * row + (row - 1 - at / pat.together);
    if (offset < pat.size) visit(offset);
  }
}

/// PAT reduce-scatter: each block's contributions up its tree.
/// rounds  log2(n), rounded down, if n / 2 chunks may be in flight (rounded up to a power of two)
/// traffic (n - 1) / n of the input out of each rank
template <Primitives P>
RINGSIDE_HD void pat_reduce_scatter(P& primitives, Pat pat) {
  for_each_offset(pat, true, [&](int offset) {
    const int block = pat.block(offset);
    const Ports from = pat.away(offset);
    if (offset == 0) {
      primitives.recv_reduce_copy(block, from);
    } else if (from.is_empty()) {
      primitives.send(block, Pat::towards(offset));
    } else {
      primitives.recv_reduce_send(block, from, Pat::towards(offset));
    }
  });
}

/// PAT all-gather: each block down its tree.
/// rounds  log2(n), rounded down, if n / 2 chunks may be in flight (rounded up to a power of two)
/// traffic (n - 1) / n of the output out of each rank
template <Primitives P>
RINGSIDE_HD void pat_all_gather(P& primitives, Pat pat) {
  for_each_offset(pat, false, [&](int offset) {
    const int block = pat.block(offset);
    const Ports to = pat.away(offset);
    if (offset == 0) {
      primitives.copy_send(block, to);
    } else if (to.is_empty()) {
      primitives.recv(block, Pat::towards(offset));
    } else {
      primitives.recv_copy_send(block, Pat::towards(offset), to);
    }
  });
}

}  // namespace ringside
