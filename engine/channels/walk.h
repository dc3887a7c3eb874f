#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/channels/attempt.h"
#include "engine/channels/link_budget.h"
#include "engine/channels/net_candidates.h"
#include "engine/channels/parameters.h"
#include "engine/topology/host.h"
#include "engine/topology/paths/system.h"

namespace ringside {

/// One exhaustive depth-first search at given speeds and path types. It places channel after channel on the system,
/// backtracks if a link is full, and keeps the best set of channels. Every visited GPU and every finished channel costs
/// one step of the allowance; when that is used up, it ends with the best set so far.
///
/// source  NCCL 2.30.7 graph/search.cc: ncclTopoSearchRec and what it calls. The order in which GPUs
///         and NICs are tried is NCCL's, since the first of equal solutions wins.
class Walk {
 public:
  Walk(const System& system, const ChannelParameters& parameters, NetCandidates& candidates)
      : system_(system),
        parameters_(parameters),
        candidates_(candidates),
        budget_(system, parameters.rules.search) {}

  enum class End { Exhausted, TimedOut, Perfect };
  struct Outcome {
    End end;
    int steps_left;     ///< remaining allowance; 0 when timed out
    bool has_improved;  ///< `best` has changed
  };
  /// Searches for a better set than `best` with the speeds, types and limits of `attempt`.
  Outcome run(Attempt& attempt, Attempt& best, int allowance);

 private:
  enum class Order { Free, Pci, Replay };  ///< which GPU comes next: any, index order, as before

  /// One branch of the search: how the current channel must end, and how many steps are left.
  struct Branch {
    int back_to_net;    ///< position after which the channel returns to a NIC; -1: it need not
    int back_to_first;  ///< position after which it returns to its first GPU; -1: it need not
    Order order;
    int* steps;  ///< remaining allowance; -1: a perfect set was found, stop at once
  };

  void next_channel(int& steps);
  void next_channel_inside(Branch branch);
  void next_channel_from_net(Branch branch);
  void start_at_net(Branch branch, int net);
  void start_widest(Branch branch, int net);
  void head_by_number(Branch branch);
  void visit(int gpu, int position, Branch branch);
  void leave_by_net(int gpu, int position, Branch branch);
  void go_on(int gpu, int position, Branch branch);
  void close_ring(int gpu, Branch branch);
  void spread_over_switch(int head, int& steps);
  void spread_to_peers(int head, int& steps);
  void finish_channel(int& steps);

  void try_gpu(const NodeRef* from, int gpu, int position, Branch branch);
  bool follow(NodeRef from, NodeRef to, float times);
  void unfollow(NodeRef from, NodeRef to, float times);
  [[nodiscard]] float speed_between(NodeRef from, NodeRef to) const;
  void count_hops(const Path& path, float times);

  [[nodiscard]] bool may_return_to(int net) const;
  /// A short list that costs no allocation: it is made at every step.
  struct GpuList {
    std::array<int, kMaxGpusPerHost> gpus;
    int count = 0;
  };
  [[nodiscard]] GpuList next_gpus(int gpu, int position, int back_to_net) const;
  [[nodiscard]] GpuList neighbours_over_switch(int gpu) const;
  [[nodiscard]] GpuList all_next_gpus(int gpu, int position, int back_to_net) const;
  [[nodiscard]] bool is_paired() const;
  [[nodiscard]] bool is_used(int gpu) const;
  [[nodiscard]] bool is_better() const;
  [[nodiscard]] int previous_gpu_at(int position) const;
  [[nodiscard]] const SearchRules& rules() const { return parameters_.rules.search; }
  [[nodiscard]] int channel() const { return attempt_->nchannels; }
  [[nodiscard]] int ngpus() const { return system_.count(NodeKind::Gpu); }
  [[nodiscard]] bool is_tree() const;

  const System& system_;
  const ChannelParameters& parameters_;
  NetCandidates& candidates_;
  LinkBudget budget_;
  Attempt* attempt_ = nullptr;
  Attempt* best_ = nullptr;
  bool has_improved_ = false;
  std::vector<std::uint64_t> used_;  ///< by GPU: one bit for each channel under way that has it
};

}  // namespace ringside
