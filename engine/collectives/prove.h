#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/collectives/direct_stores.h"
#include "engine/collectives/record.h"

namespace ringside {

/// In which order the strands of a rank run in a proof.
enum class Interleaving : std::uint8_t {
  OneThread,   ///< run_channel()'s: each strand its lag behind the first
  FirstAhead,  ///< side by side; the first strand that can go on does
  LastAhead,   ///< side by side; the last one that can
};

struct ProofOptions {
  /// Chunks that one connection holds (8 slots / slots a chunk takes), >= 1
  int chunks_in_flight = 2;
  Interleaving interleaving = Interleaving::OneThread;
  /// What senders store straight into outputs, by rank; none: nothing. It happens at once, whatever the receiver does.
  std::span<const DirectStores> direct = {};
};

/// What has crossed one edge: between two ranks, or between a rank and a group (the other is kNoRank).
struct EdgeTraffic {
  Rank from = kNoRank;
  Rank to = kNoRank;
  int group = -1;                                              ///< its id; -1: between two ranks
  SwitchGroup::Medium medium = SwitchGroup::Medium::NvSwitch;  ///< of the group
  std::int64_t chunks = 0;
  std::int64_t elements = 0;
};

/// What a proof has seen on its way.
struct ProofSummary {
  std::int64_t steps = 0;  ///< over all ranks and loops; one on no elements counts
  /// Messages one after the other, where a message takes one unit of time and all else none: of all loops,
  /// so a task of one loop shows what its algorithm takes.
  std::int64_t rounds = 0;
  std::vector<EdgeTraffic> edges;  ///< those that were used, over all loops
};

/// Runs recorded programs against each other over sets of contributions instead of data: a chunk is
/// the set of ranks whose input is in it. Connections are bounded, groups included: a sender waits
/// until all receivers have taken its message but `chunks_in_flight`, a receiver until all senders have
/// sent theirs. With one strand a port, and every wait for one certain message, what is proved for one order
/// side by side holds for all: none can deadlock, and none move other data.
///
/// tasks     of all ranks on one channel, by rank
/// programs  theirs, by rank: record(task), or what a test has made of it
/// errors    Corrupt, naming rank, loop, step and chunk: a contribution counted twice or
///           missing at the end, an input read that holds nothing or was overwritten (in place, by
///           anything but itself), an
///           output never written, a chunk or length other than the receiver expects, two strands on one port,
///           a port that leads nowhere, data left on a connection, a deadlock. With direct stores, in whatever order
///           strands run: an input that may be read after another rank has stored over it in place, ends that do
///           not agree which messages are stored so
Result<ProofSummary> prove(std::span<const ChannelTask> tasks, std::span<const Program> programs,
                           const ProofOptions& options = {});

/// Of the programs that the tasks record.
Result<ProofSummary> prove(std::span<const ChannelTask> tasks, const ProofOptions& options = {});

}  // namespace ringside
