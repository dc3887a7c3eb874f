#include "engine/collectives/prove_goal.h"

namespace ringside {

ProofGoal::ProofGoal(std::span<const ChannelTask> tasks)
    : collective_(tasks.front().collective), n_(static_cast<int>(tasks.size())) {
  for (std::size_t rank = 0; rank < tasks.size(); ++rank) {
    if (tasks[rank].ring.index == tasks[rank].root) root_ = static_cast<int>(rank);
  }
}

bool ProofGoal::has_input(const ChannelTask& task, int rank, int chunk) const {
  switch (collective_) {
    case Collective::AllReduce:
    case Collective::ReduceScatter:
    case Collective::Reduce:
      return true;
    case Collective::AllGather:
    case Collective::AllGatherV:
      return to_int(task.map.owner(chunk)) == rank;
    case Collective::Broadcast:
      return rank == root_;
    default:
      return chunk / n_ == rank;
  }
}

std::optional<Contributions> ProofGoal::output(const ChannelTask& task, int rank, int chunk) const {
  const auto if_so = [](bool is_so, const Contributions& what) {
    return is_so ? std::optional(what) : std::nullopt;
  };
  switch (collective_) {
    case Collective::AllReduce:
      return Contributions::all(n_);
    case Collective::ReduceScatter:
      return if_so(to_int(task.map.owner(chunk)) == rank, Contributions::all(n_));
    case Collective::Reduce:
      return if_so(rank == root_, Contributions::all(n_));
    case Collective::AllGather:
    case Collective::AllGatherV:
      return Contributions::of(to_int(task.map.owner(chunk)), n_);
    case Collective::Broadcast:
      return Contributions::of(root_, n_);
    default:
      return if_so(chunk % n_ == rank, Contributions::of(chunk / n_, n_));
  }
}

std::vector<int> ProofGoal::chunks(const ChannelTask& task, int rank) const {
  const bool is_transfers = is_point_to_point(collective_);
  std::vector<int> chunks;
  for (int i = 0; i < (is_transfers ? n_ : task.map.chunks()); ++i) {
    chunks.push_back(is_transfers ? i * n_ + rank : i);
  }
  return chunks;
}

}  // namespace ringside
