#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/names.h"

namespace ringside::hang {

/// Chunks of one call on one direction of one channel between two ranks, at the end of a trace.
struct ConnectionProgress {
  int sender = -1;
  int receiver = -1;
  int channel = 0;
  std::uint32_t sequence = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t expected = 0;  ///< of the call before, where it was of the same kind
  bool is_blocked = false;     ///< the sender cannot send, though the receiver has taken everything
  bool receiver_waits = false;  ///< for it, by its dump; a trace does not show it
  bool sender_waits = false;    ///< likewise

  /// Sent and not received: in flight, or lost.
  [[nodiscard]] bool is_under_way() const { return sent > received; }
  /// The receiver needs a chunk that the sender has not sent.
  [[nodiscard]] bool is_lacking() const { return sent <= received && received < expected; }
};

/// The hung job as its traces (`ringside bench --trace`, `ringside run`) show it.
struct Traces {
  std::vector<RankDump> dumps;  ///< a row a collective; `version` is "trace"
  /// Connections to ranks whose call did not end, for that call.
  std::vector<ConnectionProgress> connections;
  std::vector<BadFile> bad;
};

/// Reads .rtrace files, those of several hosts together.
///
/// A recorder writes its events when it begins to wait, every 250 ms, and when it ends. So the newest call of a rank
/// that waits is in the trace; a rank that was killed or frozen at work lacks up to 250 ms. A call counts as ended
/// when its event is there and it ran as many primitives as the previous call of its kind: a call that a time-out
/// interrupted ran fewer. A call that a rank began only after another had given it up is omitted: that rank had not
/// arrived.
///
/// Only the communicator with most ranks is read: events carry ranks in their communicator, and no trace shows which
/// rank of the job that is.
Traces load_traces(const std::vector<InputFile>& files, Names& names);

}  // namespace ringside::hang
