#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/collectives/direct_stores.h"
#include "engine/collectives/record.h"

namespace ringside {

/// The order in which the strands of a rank run in a proof.
enum class Interleaving : std::uint8_t {
  OneThread,   ///< as run_channel(): each strand runs its lag behind the first
  FirstAhead,  ///< concurrently; the first strand that is not blocked proceeds
  LastAhead,   ///< concurrently; the last strand that is not blocked proceeds
};

/// The conditions under which prove() runs a call.
struct ProofOptions {
  /// Chunks that one connection holds (8 slots / slots per chunk), >= 1
  int chunks_in_flight = 2;
  Interleaving interleaving = Interleaving::OneThread;
  /// [rank]: messages that senders store directly into outputs; empty: none. Stores take effect at once, whatever the
  /// receiver does.
  std::span<const DirectStores> direct = {};
};

/// The traffic of one edge: between two ranks, or between a rank and a group (whose side is kNoRank).
struct EdgeTraffic {
  Rank from = kNoRank;
  Rank to = kNoRank;
  int group = -1;  ///< id of the group; -1: between two ranks
  SwitchGroup::Medium medium = SwitchGroup::Medium::NvSwitch;  ///< medium of the group
  std::int64_t chunks = 0;
  std::int64_t elements = 0;
};

/// The counts of a successful proof.
struct ProofSummary {
  std::int64_t steps = 0;  ///< steps of all ranks and loops, including steps on 0 elements
  /// Length of the longest chain of dependent messages over all loops, if a message takes one unit of time and
  /// computation none. For a task with one loop it is the algorithm's number of rounds.
  std::int64_t rounds = 0;
  std::vector<EdgeTraffic> edges;  ///< the edges that were used, over all loops
};

/// Runs the recorded programs of all ranks together on sets of contributions instead of data: a chunk's value is the
/// set of ranks whose input it contains. Connections and groups are bounded: a sender waits while `chunks_in_flight` of
/// its messages are not received by all receivers, and a receiver waits until all senders have sent. Each port belongs
/// to one strand, and each wait is for one specific message. So a proof for one concurrent order holds for all orders:
/// none deadlocks, and none moves other data.
///
/// tasks     [rank]: the tasks on one channel
/// programs  [rank]: their programs: record(task), or a test's modification of it
/// errors    Corrupt, naming the rank and, where they are known, loop, step and chunk: a contribution counted twice or
///           missing at the end, an input read that does not exist or was overwritten (in place, other than by itself),
///           an output never written, a chunk or length that the receiver does not expect, two strands on one port, a
///           port without a peer, data left on a connection, a deadlock. With direct stores, for any order of the
///           strands: an input that may be read after another rank has overwritten it in place, ends that disagree on
///           which messages are stored directly
Result<ProofSummary> prove(std::span<const ChannelTask> tasks, std::span<const Program> programs,
                           const ProofOptions& options = {});

/// Proves the programs that record() makes of the tasks.
/// errors  as above
Result<ProofSummary> prove(std::span<const ChannelTask> tasks, const ProofOptions& options = {});

}  // namespace ringside
