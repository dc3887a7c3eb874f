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

namespace ringside {

class Bootstrap;
struct CollectiveCall;

/// Whether RINGSIDE_CHECK leaves the check on: everything but 0 does.
bool is_call_check_wanted();

/// What the ring neighbours on other hosts have reported of their calls. Made before the watch that fills it.
class ReportedCalls {
 public:
  ReportedCalls();
  ~ReportedCalls();
  /// Threads  the watch's
  void note(Watch::Side from, std::uint64_t number, const CallSignature& call);

 private:
  friend class CallCheck;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Detects ranks that do not make the same call: another collective, count, type, operation or root
/// than their neighbours, or a message of another length or type than the other end of the pair.
///
/// Each rank writes its calls, when they change, where the ranks of its host can see them (CallBoard),
/// and sends them to its ring neighbours on other hosts. It compares with its neighbours after each call's last
/// message, when the sender of that message has long written; and, on a thread of its own, ten times a second, for
/// ranks that wait for a message that does not come. Within a host, a difference is therefore found before a call
/// that has taken data from all ranks returns; a report from a neighbour on another host may come a
/// moment later, and so may a difference that a rank finds which takes nothing (a broadcast's root).
/// Between hosts, messages of pairs are not compared.
///
/// Threads  begin(), look() and look_everywhere() are for the thread that runs the calls
class CallCheck {
 public:
  /// Called once, on the check's thread, when waiting ranks were found to differ.
  using OnDifference = std::function<void(const Error& why)>;

  /// Every rank calls it at the same time.
  /// host     a text that is the same on the ranks of this host, and on no others
  /// wanted   by this rank; if any rank does not want it, there is none
  /// watch    carries what goes to other hosts; outlives the object, as `reported` does
  /// returns  null: not wanted, or there is no other rank
  /// errors   as CallBoard::make()
  static Result<std::unique_ptr<CallCheck>> make(Bootstrap& bootstrap, const std::string& host,
                                                 bool wanted, Deadline deadline, Watch& watch,
                                                 ReportedCalls& reported,
                                                 OnDifference on_difference);
  ~CallCheck();
  CallCheck(const CallCheck&) = delete;
  CallCheck& operator=(const CallCheck&) = delete;

  /// Before the call's first message.
  void begin(const CollectiveCall& call);

  /// After its last one. returns  how the ranks' calls differ
  [[nodiscard]] std::optional<Error> look();

  /// The same against every rank that can be seen, from the oldest call that is known: for a call that
  /// has failed, which may be the consequence of a difference between others.
  [[nodiscard]] std::optional<Error> look_everywhere() const;

  /// The ranks that have not come as far as the others among the visible ranks, as text; messages of pairs do not count.
  /// returns  empty: all are at one call
  [[nodiscard]] std::string lagging_ranks() const;

 private:
  class Impl;
  explicit CallCheck(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
