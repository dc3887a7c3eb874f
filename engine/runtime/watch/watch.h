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

/// How long a rank that hears of a failure waits for other failures of the same moment before it settles on
/// the first reason. Deaths seen in the first half count; the second half is for their news to go round.
inline constexpr Nanoseconds kSettleTime = std::chrono::milliseconds(200);

/// How long ranks have to report that they live, once a rank has waited in vain: a thread that only polls is
/// scheduled within a fraction of that time on a crowded machine, too.
inline constexpr Nanoseconds kRollCallTime = std::chrono::seconds(1);

/// Notifies every rank when one of them fails or dies, with the same reason everywhere.
///
/// Each rank keeps a connection to both neighbours on a ring of its own. A neighbour whose connection
/// ends without a goodbye has died; a rank that sees that, or calls abort(), sends the news both ways
/// round, so that a single break in the ring cuts no rank off. When several things fail in one moment, all
/// ranks hear of all and choose alike: deaths before a rank's own report (all deaths, the lowest rank first),
/// errors that a rank found by itself before lost peers (PeerGone, Aborted), then the lowest
/// reporting rank. The choice is final when `kSettleTime` has passed; what comes later is a consequence.
/// Deaths in three or more places at once cut the ring into stretches that cannot talk: each then names
/// the deaths at its own ends.
///
/// This class does not detect a program that hangs. A stopped process, or host, is found when
/// a rank gives up (Timeout): every rank then reports that it lives, and the reason names those that have not within
/// `kRollCallTime`. Two stopped ranks cut the ring; the state of ranks between them is unknown. A neighbour from
/// which nothing comes back for about 8 s (keepalives), or which resets the connection after such a time, is not called
/// dead: the news is that these two have lost each other, since the network between them may have failed.
///
/// Ordering   every rank starts it at the same time, and says goodbye when no rank needs it any more
///            (after a barrier): news do not pass a rank that has left
/// Threads    any thread may call any method; not to be destroyed from within its callback
class Watch {
 public:
  /// Called once, on the watch's thread, with the reason. What it uses must outlive the Watch.
  using OnAbort = std::function<void(const Error& reason)>;

  enum class Side : std::uint8_t { Next = 0, Previous = 1 };
  /// Called on the watch's thread with a report of the neighbour there on its calls.
  using OnCall = std::function<void(Side from, std::uint64_t number, const CallSignature& call)>;

  /// Called once, on the watch's thread, when another rank asks all ranks for their dumps.
  using OnDump = std::function<void()>;

  /// Takes the connections that `bootstrap` has made for it, once, and uses its clock from then on; afterwards `bootstrap`
  /// is not needed.
  /// errors  System: no descriptors
  static Result<std::unique_ptr<Watch>> start(Bootstrap& bootstrap, OnAbort on_abort,
                                              OnCall on_call = {}, OnDump on_dump = {});

  /// Sends what is still to be sent, and leaves. Without goodbye() or a reason this looks like a death.
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Notifies all ranks that the job is broken. The news is on its way when this returns; the callback and
  /// reason() come when the ranks have agreed. A second abort(), or one after the news of another's, is
  /// a consequence and changes nothing.
  /// dead    the rank whose death was noticed by other means, or kNoRank
  void abort(const Error& why, Rank dead = kNoRank);

  /// Sends the neighbour there what this rank calls from call `number` on. Does not wait.
  void send_call(Side to, std::uint64_t number, const CallSignature& call);

  /// Asks all ranks for their dumps, the first time. Does not wait.
  void ask_for_dumps();

  /// The orderly end: the closing of this rank's connections is no failure.
  void goodbye();

  /// A number that is the same on all ranks and differs between jobs.
  [[nodiscard]] std::uint64_t job() const;

  /// The reason that all ranks agreed on; nothing while there is no failure.
  [[nodiscard]] std::optional<Error> reason() const;

  /// The same once the callback has returned; nothing at the deadline.
  [[nodiscard]] std::optional<Error> reason(Deadline deadline) const;

 private:
  class Impl;
  explicit Watch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
