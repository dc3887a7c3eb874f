#pragma once

#include "engine/collectives/collnet_direct.h"
#include "engine/collectives/nvls.h"
#include "engine/collectives/one_shot.h"
#include "engine/collectives/role.h"
#include "engine/collectives/two_shot.h"

namespace ringside {

template <Primitives P>
RINGSIDE_HD void run_ring(P& primitives, const Role& role, RoundList rounds, int strand) {
  switch (role.collective) {
    case Collective::AllReduce:
      return ring_all_reduce(primitives, role.ring);
    case Collective::AllGather:
    case Collective::AllGatherV:
      return ring_all_gather(primitives, role.ring);
    case Collective::ReduceScatter:
      return ring_reduce_scatter(primitives, role.ring);
    case Collective::Broadcast:
      return ring_broadcast(primitives, role.ring, role.root);
    case Collective::Reduce:
      return ring_reduce(primitives, role.ring, role.root);
    default:
      return strand == 0 ? exchange_sends(primitives, rounds) : exchange_recvs(primitives, rounds);
  }
}

template <Primitives P>
RINGSIDE_HD void run_tree(P& primitives, const Role& role, int strand) {
  return strand == 0 ? tree_reduce(primitives, role.tree) : tree_broadcast(primitives, role.tree);
}

template <Primitives P>
RINGSIDE_HD void run_nvls(P& primitives, const Role& role, int strand, int turn) {
  const Heads& heads = role.heads;
  switch (role.collective) {
    case Collective::AllGather:
      if (strand == 0) return nvls_all_gather_network(primitives, heads, turn);
      if (strand == 1) return nvls_all_gather_multicast(primitives, heads, turn);
      return nvls_all_gather_receive(primitives, heads, turn);
    case Collective::ReduceScatter:
      if (strand == 0) return nvls_reduce_scatter_send(primitives, heads, turn);
      if (strand == 1) return nvls_reduce_scatter_reduce(primitives, heads, turn);
      return nvls_reduce_scatter_network(primitives, heads, turn);
    default:
      if (strand == 0) return nvls_scatter(primitives, heads);
      if (strand == 1) return nvls_reduce(primitives, heads);
      if (strand == 2) return nvls_broadcast(primitives, heads);
      return nvls_gather(primitives, heads);
  }
}

template <Primitives P>
RINGSIDE_HD void run_nvls_tree(P& primitives, const Role& role, int strand) {
  if (strand == 0) return nvls_scatter(primitives, role.heads);
  if (strand == 1) return nvls_tree_reduce(primitives, role.heads, role.tree);
  if (strand == 2) return nvls_tree_broadcast(primitives, role.heads, role.tree);
  return nvls_gather(primitives, role.heads);
}

template <Primitives P>
RINGSIDE_HD void run_two_shot(P& primitives, const Ring& ranks, int strand) {
  if (strand == 0) return two_shot_scatter(primitives, ranks);
  if (strand == 1) return two_shot_reduce(primitives, ranks);
  return two_shot_gather(primitives, ranks);
}

template <Primitives P>
RINGSIDE_HD void run_collnet_direct(P& primitives, const Role& role, int strand, int turn) {
  const Heads& heads = role.heads;
  switch (role.collective) {
    case Collective::AllGather:
      if (strand == 0) return direct_all_gather_network(primitives, heads, turn);
      if (strand == 1) return direct_all_gather_broadcast(primitives, heads, turn);
      return direct_all_gather_receive(primitives, heads, turn);
    case Collective::ReduceScatter:
      if (strand == 0) return direct_reduce_scatter_send(primitives, heads, turn);
      if (strand == 1) return direct_reduce_scatter_reduce(primitives, heads, turn);
      return direct_reduce_scatter_network(primitives, heads, turn);
    default:
      if (strand == 0) return direct_scatter(primitives, heads);
      if (strand == 1) return direct_reduce(primitives, heads);
      if (strand == 2) return direct_broadcast(primitives, heads);
      return direct_gather(primitives, heads);
  }
}

/// Runs one strand of one loop; with one rank, a copy, whatever the algorithm. The only property of the loop that it
/// uses is its turn, so all loops of a turn take the same steps.
/// shape  strand 0 .. role.strands.count - 1, turn 0 .. turns of the task's map - 1
template <Primitives P>
RINGSIDE_HD void run_strand(P& primitives, const Role& role, RoundList rounds, int strand,
                            int turn) {
  if (role.ring.size == 1) return primitives.copy(0);
  switch (role.algorithm) {
    case Algorithm::Ring:
      return run_ring(primitives, role, rounds, strand);
    case Algorithm::Tree:
    case Algorithm::CollNetChain:
      return run_tree(primitives, role, strand);
    case Algorithm::Nvls:
      return run_nvls(primitives, role, strand, turn);
    case Algorithm::NvlsTree:
      return run_nvls_tree(primitives, role, strand);
    case Algorithm::CollNetDirect:
      return run_collnet_direct(primitives, role, strand, turn);
    case Algorithm::Pat:
      return role.collective == Collective::AllGather ? pat_all_gather(primitives, role.pat)
                                                      : pat_reduce_scatter(primitives, role.pat);
    case Algorithm::OneShot:
      return strand == 0 ? one_shot_send(primitives, role.ring.size)
                         : one_shot_reduce(primitives, role.ring.size);
    case Algorithm::TwoShot:
      return run_two_shot(primitives, role.ring, strand);
  }
}

/// Runs all loops of one strand, for executors that run the strands concurrently. Calls begin_loop(loop) of the model
/// before the steps of each loop.
template <Primitives P, Task T>
RINGSIDE_HD void run_strand_alone(P& primitives, const T& task, int strand) {
  for (std::int64_t loop = 0; loop < task.loops(); ++loop) {
    primitives.begin_loop(loop);
    run_strand(primitives, task.role(), task.round_list(), strand, task.turn_of(loop));
  }
}

/// Runs the whole task on one thread: each strand runs its lag behind the first.
template <Primitives P, Task T>
RINGSIDE_HD void run_channel(P& primitives, const T& task) {
  const std::int64_t loops = task.loops();
  const Strands& strands = task.role().strands;
  for (std::int64_t time = 0; time < loops + strands.last_lag(); ++time) {
    for (int strand = 0; strand < strands.count; ++strand) {
      const std::int64_t loop = time - strands.lag[strand];
      if (loop < 0 || loop >= loops) continue;
      primitives.begin_loop(loop);
      run_strand(primitives, task.role(), task.round_list(), strand, task.turn_of(loop));
    }
  }
}

}  // namespace ringside
