#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/names.h"

namespace ringside::hang {

/// The chunks of one call that one rank sent to another on one channel, at the end of a trace or dump.
struct ConnectionProgress {
  int sender = -1;
  int receiver = -1;
  int channel = 0;
  std::uint32_t sequence = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  /// Chunks that the receiver needs, as far as known; 0: unknown. By traces, those of the connection's previous call,
  /// which may be of another type; by dumps, those that it has received, and one more while it waits
  std::uint64_t expected = 0;
  bool is_blocked =
      false;  ///< the sender cannot send although the receiver has received all chunks
  bool receiver_waits =
      false;  ///< the receiver's dump shows that it waits for the chunk; traces do not show it
  bool sender_waits = false;  ///< the sender's dump shows that it waits to send

  /// Returns whether a chunk was sent and not received: it is in flight or lost.
  [[nodiscard]] bool is_under_way() const { return sent > received; }
  /// Returns whether the receiver needs a chunk that was not sent.
  [[nodiscard]] bool is_lacking() const { return sent <= received && received < expected; }
};

/// The state of a hung job by its traces (`ringside bench --trace`, `ringside run`).
struct Traces {
  /// The flight recorder dumps in the files, by rank. They show what events do not: queued calls, types, roots, groups.
  std::vector<RankDump> recorded;
  std::vector<RankDump> dumps;  ///< made from events, one for each rank; `version` is "trace"
  /// The connections to ranks whose call did not end, for that call.
  std::vector<ConnectionProgress> connections;
  std::vector<BadFile> bad;  ///< files that could not be read
};

/// Reads the .rtrace files of a job, from one host or several.
///
/// A recorder writes its events when a rank begins to wait, every 250 ms, and at the end. Therefore the newest call of
/// a waiting rank is in the trace; a rank that was killed or frozen while working lacks up to 250 ms. A call counts as
/// ended if its event is present and it ran as many primitives as the previous call of its type, because a call that a
/// time-out interrupted ran fewer. A call that a rank began after another rank had given it up is omitted.
///
/// At most the newest 4,096 calls of a rank are kept.
///
/// Only the largest communicator is read, because events name ranks of the communicator and traces do not map them to
/// ranks of the job.
Traces load_traces(const std::vector<InputFile>& files, Names& names);

}  // namespace ringside::hang
