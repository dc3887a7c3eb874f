#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/deadline.h"
#include "base/ids.h"
#include "base/result.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/calls/call_signature.h"

namespace ringside {

/// How long a rank that learns of a failure waits for simultaneous failures before it chooses the reason. Deaths seen
/// in the first half count; the second half lets their messages travel round the ring.
inline constexpr Nanoseconds kSettleTime = std::chrono::milliseconds(200);

/// How long ranks have to report that they are alive after a rank's Timeout. A polling thread is scheduled within a
/// fraction of that time, even on a crowded machine.
inline constexpr Nanoseconds kRollCallTime = std::chrono::seconds(1);

/// Notifies every rank when one of them fails or dies. All ranks get the same reason.
///
/// Each rank keeps a connection to both neighbours on a ring of its own. A neighbour whose connection ends without a
/// goodbye has died. A rank that sees a death, or calls abort(), sends the news in both directions, so that a single
/// break in the ring cuts off no rank. When several failures happen at once, all ranks learn of all of them and choose
/// the same reason: first deaths (all of them, the lowest rank first), then errors that a rank found itself, then a
/// requested end (Aborted), then lost peers (PeerGone); among equals the lowest reporting rank. The choice is final
/// after `kSettleTime`; later failures are consequences. Deaths in three or more places at once cut the ring into
/// segments that cannot communicate: each segment names the deaths at its own ends.
///
/// This class does not detect a program that hangs. A stopped process or host is found when a rank gives up (Timeout):
/// every rank then reports that it is alive, and the reason names the ranks that have not within `kRollCallTime`. Two
/// stopped ranks cut the ring; the state of the ranks between them is unknown. If a neighbour sends nothing for about 8
/// s (keepalives), or resets the connection after that time, both are reported to have lost each other: the network
/// between them may have failed.
///
/// Ordering   every rank starts it at the same time, and calls goodbye() when no rank needs it any more (after a
///            barrier): messages do not pass a rank that has left
/// Threads    any thread may call any method; do not destroy it in one of its callbacks
class Watch {
 public:
  /// Called once, on the watch's thread, with the reason. Objects that it uses must outlive the Watch.
  using OnAbort = std::function<void(const Error& reason)>;

  enum class Side : std::uint8_t { Next = 0, Previous = 1 };
  /// Called on the watch's thread when the neighbour on side `from` reports that its calls from `number` on are `call`.
  using OnCall = std::function<void(Side from, std::uint64_t number, const CallSignature& call)>;

  /// Called once, on the watch's thread, when another rank asks all ranks for their dumps.
  using OnDump = std::function<void()>;

  /// Takes the watch connections and the clock of `bootstrap`, once; it does not need `bootstrap` afterwards.
  /// errors  System: no file descriptors
  static Result<std::unique_ptr<Watch>> start(Bootstrap& bootstrap, OnAbort on_abort,
                                              OnCall on_call = {}, OnDump on_dump = {});

  /// Sends pending messages, and closes the connections. Without goodbye() or a reason, other ranks report a death.
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Notifies all ranks that the job is broken. Returns once the message is queued; OnAbort and reason() follow when
  /// the ranks have agreed. It has no effect after an earlier abort() of this rank, or more than kSettleTime / 2 after
  /// the first failure of which this rank has learned: it would be a consequence of that failure.
  /// dead    the rank whose death the caller noticed, or kNoRank
  void abort(const Error& why, Rank dead = kNoRank);

  /// Reports to the neighbour on side `to` that this rank's calls from `number` on are `call`. Does not wait.
  void send_call(Side to, std::uint64_t number, const CallSignature& call);

  /// Asks all ranks to write their dumps. Later calls have no effect. Does not wait.
  void ask_for_dumps();

  /// Announces an orderly end: the other ranks do not treat the closing of this rank's connections as a failure.
  void goodbye();

  /// Returns a number that is the same on all ranks and differs between jobs.
  [[nodiscard]] std::uint64_t job() const;

  /// Returns the reason that all ranks agreed on, or nothing while there is no failure.
  [[nodiscard]] std::optional<Error> reason() const;

  /// Waits until OnAbort has returned, then returns the reason; returns nothing at the deadline.
  [[nodiscard]] std::optional<Error> reason(Deadline deadline) const;

 private:
  class Impl;
  explicit Watch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
