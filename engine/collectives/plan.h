#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/channels/channels.h"
#include "engine/collectives/task.h"
#include "engine/tuning/choice.h"

namespace ringside {

/// One send to or receive from a peer.  unit  elements; the offset is in the input of a send, in the
/// output of a receive
struct Transfer {
  Rank peer{0};
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

/// The size and type of a call: the same on every rank, except for `sends` and `recvs`.
struct CallShape {
  /// elements: each rank's buffer; all_gather, reduce_scatter: each rank's block; all_to_all, gather,
  /// scatter: the block of each pair of ranks; send_recv, send, recv: each transfer, if no transfers are listed
  std::int64_t count = 0;
  DataType type = DataType::Float32;
  Rank root{0};  ///< broadcast, reduce, gather, scatter

  std::vector<std::int64_t> counts = {};  ///< all_gather_v: elements of each rank's block

  /// send_recv, send, recv: at most one transfer per peer and direction; the peer lists the matching one. Without a
  /// list, send_recv is nccl-tests' pattern: `count` to the next rank, and from the one before; so a rank without
  /// transfers passes a count of 0 if other ranks have lists.
  std::vector<Transfer> sends = {}, recvs = {};
};

struct PlanTables;

/// Plans the tasks of a collective call. make() checks the call and computes the data that all its tasks share, so that
/// each task takes little time, whatever the number of ranks (except exchanges, which have a round per rank).
///
/// Ownership  choice, channels and call outlive the planner; tasks do not depend on it
/// Threads    const methods may be called from any thread
class TaskPlanner {
 public:
  /// errors  as plan_channels(), except the errors about a rank
  static Result<TaskPlanner> make(const Choice& choice, const Channels& channels,
                                  const CallShape& call);

  [[nodiscard]] int nranks() const;
  [[nodiscard]] int nchannels() const;

  /// Returns true only if each rank's tasks on two channels differ only in the start of their data: the roles, peers
  /// and numbers of elements are equal. For collectives and algorithms that it does not compare, it returns false.
  /// shape  channels of the call
  [[nodiscard]] bool are_alike(int a, int b) const;

  /// Returns a planner in which channels whose shares differ by at most the fraction `share` all get the largest of
  /// them. Use it to compute times, not to move data. all_gather_v, CollNetChain and collectives of transfers are
  /// unchanged, because they do not split a buffer over channels.
  [[nodiscard]] TaskPlanner evened(double share) const;

  /// Return one rank's tasks on all channels, or its task on one.  errors  as plan_channels()
  [[nodiscard]] Result<std::vector<ChannelTask>> tasks(Rank rank) const;
  [[nodiscard]] Result<ChannelTask> task(Rank rank, int channel) const;

 private:
  explicit TaskPlanner(std::shared_ptr<const PlanTables> tables) : tables_(std::move(tables)) {}

  /// Returns the tasks of channels [first, last).
  [[nodiscard]] Result<std::vector<ChannelTask>> tasks(Rank rank, int first, int last) const;

  std::shared_ptr<const PlanTables> tables_;
};

/// Plans a collective: one task per channel for `rank`, which Primitives models run on hosts, on GPUs and in the
/// simulator.
///
/// returns  choice.nchannels tasks, index = channel; channels without data have no loops
/// errors   Unsupported: the algorithm does not support the collective, or `channels` lacks its structures.
///          InvalidArgument: rank, root or peer does not exist, a count is negative, more channels chosen than exist, a
///          chunk smaller than one element, two transfers with one peer
/// source   NCCL 2.30: a channel's share is a multiple of 512 B (simple), 16 B (ll), 1920 B (ll128); a
///          shrunken chunk of 16 B (nvls: 16 KiB)
Result<std::vector<ChannelTask>> plan_channels(const Choice& choice, const Channels& channels,
                                               const CallShape& call, Rank rank);

/// Returns the bytes of the largest buffer of a rank, which is the size that reports and choices use.
Bytes call_bytes(Collective collective, const CallShape& call, int nranks);

}  // namespace ringside
