#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/words.h"
#include "engine/flight/dump.h"
#include "engine/flight/settings.h"
#include "ringside/call_site.h"
#include "ringside/units.h"

namespace ringside {

/// The facts about one entry: a collective, or one message of a call with several messages.
struct FlightFacts {
  Collective collective = Collective::AllReduce;
  DataType type = DataType::Float32;
  std::int64_t input = 0, output = 0;  ///< elements
  int root = -1;                       ///< rank of the communicator; -1: it has none
  int peer = -1;                       ///< of a message: rank of the other end; -1: a collective
  const CallSite* site = nullptr;      ///< null: unknown; it outlives the recorder
  friend bool operator==(const FlightFacts&, const FlightFacts&) = default;
};

/// Records the last calls of one rank over all its communicators, and writes dumps on a thread of its own.
///
/// Ordering   begin(), start(), end() for each call; calls of one communicator one after the other
/// Threads    any
class FlightRecorder {
 public:
  /// A communicator, as described in dumps.
  struct GroupFacts {
    std::string name, desc;
    std::vector<int> ranks;  ///< ranks of the whole job
    int rank = 0;            ///< this one's, in the communicator
    Nanoseconds timeout{0};
  };
  class Group;
  /// Appends the progress of the communicator's connections; called on any thread.
  using ProgressSource = std::function<void(std::vector<FlightDump::Progress>& progress)>;
  /// Asks the other ranks of a communicator for their dumps.
  using AskOthers = std::function<void()>;

  /// rank  in the whole job
  FlightRecorder(FlightSettings settings, int rank);
  /// The destructor writes pending dumps.
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  /// Adds a communicator. It stays in later dumps after leave(), as PyTorch's do; the two functions are called until
  /// leave().
  Group& join(GroupFacts facts, ProgressSource progress, AskOthers ask_others);
  void leave(Group& group);

  /// The entries of one call.
  struct Ticket {
    std::uint64_t first = 0;
    std::uint32_t count = 0;    ///< 0: nothing is recorded
    bool is_unordered = false;  ///< as begin_unordered()
    std::int64_t seq = 0;
    std::int64_t last_op = 0;
    Group* group = nullptr;
    Collective collective = Collective::AllReduce;
  };
  /// Records that a call has been enqueued.
  /// now  trace_now(), here and below
  Ticket begin(Group& group, const FlightFacts& facts, Nanoseconds now);
  /// Records several messages that begin together: an entry for each and, after two or more, one that ends them.
  /// shape  messages: not empty
  Ticket begin(Group& group, const std::vector<FlightFacts>& messages, Nanoseconds now);
  /// Records a message that ends independently of the group's other calls.
  /// Threads  any, also while the group's other calls begin and end
  Ticket begin_unordered(Group& group, const FlightFacts& message, Nanoseconds now);
  /// Records that a call has started: all calls before it are done. Has no effect without timing in the settings.
  void start(const Ticket& ticket, Nanoseconds now);
  /// Records that a call has ended and, unless it is unordered, all earlier ordered ones of its communicator.
  /// is_done  false: the call has failed
  /// now      used only with timing
  void end(const Ticket& ticket, bool is_done, Nanoseconds now);

  /// Marks an unordered message as pending again, since it was not received, and takes a dump as failed() does. The call
  /// that made it is not counted as completed any more.
  void reopen(const Ticket& ticket, const std::string& reason);

  /// Number of calls of each collective.  index  value of Collective
  using Counts = std::array<std::int64_t, kCollectiveCount>;
  enum class GroupState : std::uint8_t { Init, Running, Finalize, Abort, Gone };
  /// A communicator's state for external observers.
  struct GroupView {
    std::string name, desc;
    std::vector<int> ranks;
    GroupState state = GroupState::Init;
    bool has_failed = false;
    Counts launched{}, completed{};
  };
  /// Returns the communicators that have joined and not left.
  [[nodiscard]] std::vector<GroupView> groups() const;
  void set_state(Group& group, GroupState state);

  /// Returns the current content as a dump.
  /// reason  for FlightDump::reason. If it is empty and no call has begun since failed(), the dump of failed() is
  ///         returned, which has the reason of the failure
  [[nodiscard]] FlightDump snapshot(const std::string& reason = {}) const;

  /// Takes a dump after a failure for snapshot(), and asks the other ranks for theirs. The dump is also written to its
  /// file if writes_on_failure(). Only the first call has an effect.
  /// group  the group to whose ranks the reason refers; null: all ranks of the job
  void failed(const std::string& reason, const Group* group = nullptr);

  /// Returns whether failed() writes a dump.
  [[nodiscard]] bool writes_on_failure() const;

  /// Waits until the requested dumps are written, at most for the given time, since a file system may hang.
  /// returns  whether they are written
  bool wait_written(Nanoseconds longest);

  /// Writes a dump at each SIGUSR1 during the recorder's life; the job continues. Use it in one recorder per process,
  /// and only if no other code handles the signal.
  void dump_on_signal();

  [[nodiscard]] const FlightSettings& settings() const;
  [[nodiscard]] int rank() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
