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

/// What a caller asks for, the same on every rank but for `sends` and `recvs`.
struct CallShape {
  /// elements: each rank's buffer; all_gather, reduce_scatter: each rank's block; all_to_all, gather,
  /// scatter: the block of each pair of ranks; send_recv, send, recv: of each transfer, where none is
  /// listed
  std::int64_t count = 0;
  DataType type = DataType::Float32;
  Rank root{0};  ///< broadcast, reduce, gather, scatter

  std::vector<std::int64_t> counts = {};  ///< all_gather_v: elements of each rank's block

  /// send_recv, send, recv: at most one transfer each way with each peer, which lists its other end.
  /// Without a list, send_recv is nccl-tests' pattern: `count` to the next rank, and from the one before;
  /// so a rank that has nothing to do where others have lists gives a count of 0.
  std::vector<Transfer> sends = {}, recvs = {};
};

struct PlanTables;

/// A collective call, checked, and what its tasks have in common: each is a matter of moments then, however many
/// ranks there are. (An exchange has a round for each of them.)
///
/// Ownership  choice, channels and call outlive the plan; tasks stand alone
/// Threads    const methods may be called from any thread
class TaskPlanner {
 public:
  /// errors  as plan_channels(), but for those of a rank
  static Result<TaskPlanner> make(const Choice& choice, const Channels& channels,
                                  const CallShape& call);

  [[nodiscard]] int nranks() const;
  [[nodiscard]] int nchannels() const;

  /// Whether each rank's tasks on two channels are alike but for where their data begins: same roles, same peers, as
  /// many elements.  shape  channels of the call
  [[nodiscard]] bool are_alike(int a, int b) const;

  /// The same call where channels whose shares of the data differ by no more than `share` have the largest of them: for who
  /// asks for times, not for data. As it is for what each rank has blocks or transfers of its own.
  [[nodiscard]] TaskPlanner evened(double share) const;

  /// What one rank does on all channels, and on one of them.  errors  as plan_channels()
  [[nodiscard]] Result<std::vector<ChannelTask>> tasks(Rank rank) const;
  [[nodiscard]] Result<ChannelTask> task(Rank rank, int channel) const;

 private:
  explicit TaskPlanner(std::shared_ptr<const PlanTables> tables) : tables_(std::move(tables)) {}

  /// Of channels [first, last).
  [[nodiscard]] Result<std::vector<ChannelTask>> tasks(Rank rank, int first, int last) const;

  std::shared_ptr<const PlanTables> tables_;
};

/// The collective as one task a channel, for `rank`: what its Primitives models run, on hosts, on
/// GPUs and in the simulator alike.
///
/// returns  choice.nchannels tasks, index = channel; those beyond the data have no loops
/// errors   Unsupported: no such collective by that algorithm, or nothing laid for it in `channels`.
///          InvalidArgument: rank, root or peer not there, a count negative, more channels chosen than
///          there are, a chunk smaller than one element, two transfers with one peer
/// source   NCCL 2.30: a channel's share is a multiple of 512 B (simple), 16 B (ll), 1920 B (ll128); a
///          shrunken chunk of 16 B (nvls: 16 KiB)
Result<std::vector<ChannelTask>> plan_channels(const Choice& choice, const Channels& channels,
                                               const CallShape& call, Rank rank);

/// Bytes of the largest of the ranks' buffers: what sizes are given in, and choices made by.
Bytes call_bytes(Collective collective, const CallShape& call, int nranks);

}  // namespace ringside
