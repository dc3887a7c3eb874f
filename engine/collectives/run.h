#pragma once

#include "engine/collectives/collnet_direct.h"
#include "engine/collectives/nvls.h"
#include "engine/collectives/one_shot.h"
#include "engine/collectives/task.h"
#include "engine/collectives/two_shot.h"

namespace ringside {

/// Whether the collective is a list of sends and receives; its algorithm is always given as Ring.
constexpr bool is_point_to_point(Collective collective) {
  switch (collective) {
    case Collective::SendRecv:
    case Collective::Send:
    case Collective::Recv:
    case Collective::AllToAll:
    case Collective::Scatter:
    case Collective::Gather:
      return true;
    default:
      return false;
  }
}

/// Whether run_strand() below knows the pair.
/// source  NCCL 2.30's list of kernels: device/generate.py
constexpr bool has_algorithm(Collective collective, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::Ring:
      return true;
    case Algorithm::Tree:
    case Algorithm::CollNetChain:
    case Algorithm::NvlsTree:
    case Algorithm::OneShot:
    case Algorithm::TwoShot:
      return collective == Collective::AllReduce;
    case Algorithm::CollNetDirect:
    case Algorithm::Nvls:
      return collective == Collective::AllReduce || collective == Collective::AllGather ||
             collective == Collective::ReduceScatter;
    case Algorithm::Pat:
      return collective == Collective::AllGather || collective == Collective::ReduceScatter;
  }
  return false;
}

template <Primitives P>
void run_ring(P& primitives, const ChannelTask& task) {
  switch (task.collective) {
    case Collective::AllReduce:
      return ring_all_reduce(primitives, task.ring);
    case Collective::AllGather:
    case Collective::AllGatherV:
      return ring_all_gather(primitives, task.ring);
    case Collective::ReduceScatter:
      return ring_reduce_scatter(primitives, task.ring);
    case Collective::Broadcast:
      return ring_broadcast(primitives, task.ring, task.root);
    case Collective::Reduce:
      return ring_reduce(primitives, task.ring, task.root);
    default:
      return exchange_rounds(primitives, task.rounds);
  }
}

template <Primitives P>
void run_tree(P& primitives, const ChannelTask& task, int strand) {
  return strand == 0 ? tree_reduce(primitives, task.tree) : tree_broadcast(primitives, task.tree);
}

template <Primitives P>
void run_nvls(P& primitives, const ChannelTask& task, int strand, int turn) {
  const Heads& heads = task.heads;
  switch (task.collective) {
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
void run_nvls_tree(P& primitives, const ChannelTask& task, int strand) {
  if (strand == 0) return nvls_scatter(primitives, task.heads);
  if (strand == 1) return nvls_tree_reduce(primitives, task.heads, task.tree);
  if (strand == 2) return nvls_tree_broadcast(primitives, task.heads, task.tree);
  return nvls_gather(primitives, task.heads);
}

template <Primitives P>
void run_two_shot(P& primitives, const Ring& ranks, int strand) {
  if (strand == 0) return two_shot_scatter(primitives, ranks);
  if (strand == 1) return two_shot_reduce(primitives, ranks);
  return two_shot_gather(primitives, ranks);
}

template <Primitives P>
void run_collnet_direct(P& primitives, const ChannelTask& task, int strand, int turn) {
  const Heads& heads = task.heads;
  switch (task.collective) {
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

/// One strand of one loop; among one rank a copy, whatever the algorithm. It sees of the loop only which turn it is (loop modulo map.turns()), so all
/// loops of a turn take the same steps.
/// shape  strand 0 .. task.strands.count - 1, turn 0 .. task.map.turns() - 1
template <Primitives P>
void run_strand(P& primitives, const ChannelTask& task, int strand, int turn) {
  if (task.ring.size == 1) return primitives.copy(0);
  switch (task.algorithm) {
    case Algorithm::Ring:
      return run_ring(primitives, task);
    case Algorithm::Tree:
    case Algorithm::CollNetChain:
      return run_tree(primitives, task, strand);
    case Algorithm::Nvls:
      return run_nvls(primitives, task, strand, turn);
    case Algorithm::NvlsTree:
      return run_nvls_tree(primitives, task, strand);
    case Algorithm::CollNetDirect:
      return run_collnet_direct(primitives, task, strand, turn);
    case Algorithm::Pat:
      return task.collective == Collective::AllGather ? pat_all_gather(primitives, task.pat)
                                                      : pat_reduce_scatter(primitives, task.pat);
    case Algorithm::OneShot:
      return strand == 0 ? one_shot_send(primitives, task.ring.size)
                         : one_shot_reduce(primitives, task.ring.size);
    case Algorithm::TwoShot:
      return run_two_shot(primitives, task.ring, strand);
  }
}

/// All loops of one strand, for executors that run the strands side by side. The model is told of each
/// loop before its steps, by begin_loop(loop).
template <Primitives P>
void run_strand_alone(P& primitives, const ChannelTask& task, int strand) {
  for (std::int64_t loop = 0; loop < task.map.loops(); ++loop) {
    primitives.begin_loop(loop);
    run_strand(primitives, task, strand, task.map.turn_of(loop));
  }
}

/// The whole task, in the order of one thread: each strand its lag behind the first.
template <Primitives P>
void run_channel(P& primitives, const ChannelTask& task) {
  const std::int64_t loops = task.map.loops();
  const Strands& strands = task.strands;
  for (std::int64_t time = 0; time < loops + strands.last_lag(); ++time) {
    for (int strand = 0; strand < strands.count; ++strand) {
      const std::int64_t loop = time - strands.lag[static_cast<std::size_t>(strand)];
      if (loop < 0 || loop >= loops) continue;
      primitives.begin_loop(loop);
      run_strand(primitives, task, strand, task.map.turn_of(loop));
    }
  }
}

}  // namespace ringside
