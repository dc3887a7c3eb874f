#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/ids.h"
#include "base/result.h"
#include "engine/runtime/watch/watch.h"
#include "ringside/unreceived_messages.h"

namespace ringside {

class Bootstrap;
struct CollectiveCall;

/// Returns whether the check is on. It is on unless RINGSIDE_CHECK is 0.
bool is_call_check_wanted();

/// The calls that the ring neighbours on other hosts have reported. Make it before the Watch whose callback fills it.
class ReportedCalls {
 public:
  ReportedCalls();
  ~ReportedCalls();
  /// Records a neighbour's report, as Watch::OnCall.
  /// Threads  the watch's thread only
  void note(Watch::Side from, std::uint64_t number, const CallSignature& call);

 private:
  friend class CallCheck;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Detects ranks that make different calls: a collective, count, type, operation or root that differs from the
/// neighbours', or a message whose length or type differs from the peer's.
///
/// Each rank writes its calls, when they change, to the CallBoard of its host, and sends them to its ring neighbours on
/// other hosts. It compares them with its neighbours' after each call's last message, when the sender of that message
/// has already written its own. A thread also compares them ten times a second, for ranks that wait for a message that
/// never arrives. Within a host, a difference is therefore found before a call that received data from all ranks
/// returns. It may be found a moment later if the neighbour is on another host, or if the rank receives no data (the
/// root of a broadcast). Send and receive messages between hosts are not compared.
///
/// Threads  one thread at a time uses begin(), leave() and look(); any may call look_everywhere() and lagging_ranks()
class CallCheck {
 public:
  /// Called once, on the check's thread, when the calls of waiting ranks differ.
  using OnDifference = std::function<void(const Error& why)>;

  /// Starts the check. Every rank calls it at the same time.
  /// host     a text that is equal exactly for the ranks of this host
  /// wanted   whether this rank wants the check; it runs only if every rank wants it
  /// watch    sends reports to other hosts; it and `reported` outlive the object
  /// returns  null: a rank does not want it, or there is only one rank
  /// errors   as CallBoard::make()
  static Result<std::unique_ptr<CallCheck>> make(Bootstrap& bootstrap, const std::string& host,
                                                 bool wanted, Deadline deadline, Watch& watch,
                                                 ReportedCalls& reported,
                                                 OnDifference on_difference);
  ~CallCheck();
  CallCheck(const CallCheck&) = delete;
  CallCheck& operator=(const CallCheck&) = delete;

  /// Records a call. Call it before the call's first message.
  void begin(const CollectiveCall& call);

  /// Records that this rank makes no further call. A rank that waits in one then learns that this rank has left.
  void leave();

  /// Compares this rank's calls with its neighbours'. Call it after the call's last message.
  /// returns  the difference as an error, or nothing
  [[nodiscard]] std::optional<Error> look();

  /// Compares with every visible rank (of this host, and ring neighbours), from the oldest known call on. Use it after
  /// a failed call, which may be the consequence of a difference between other ranks.
  [[nodiscard]] std::optional<Error> look_everywhere() const;

  /// Returns the messages of this rank that were sent and not received. Call it when all ranks have called leave().
  [[nodiscard]] UnreceivedMessages unreceived() const;

  /// Returns, as text, how many collectives the ranks of this host have begun, most first. Sends and receives
  /// do not count.
  /// returns  empty: all have begun equally many
  [[nodiscard]] std::string lagging_ranks() const;

 private:
  class Impl;
  explicit CallCheck(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
