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
#include "ringside/units.h"

namespace ringside {

/// One thing that a rank calls: a collective, or one message of a call that has several.
struct FlightFacts {
  Collective collective = Collective::AllReduce;
  DataType type = DataType::Float32;
  std::int64_t input = 0, output = 0;  ///< elements
  int root = -1;                       ///< rank of the communicator; -1: it has none
  int peer = -1;                       ///< of a message: the other end
  friend bool operator==(const FlightFacts&, const FlightFacts&) = default;
};

/// The last calls of one rank, over all its communicators, and the thread that writes them down.
///
/// Ordering   begin(), start(), end() of a call; calls of one communicator one after the other
/// Threads    any
class FlightRecorder {
 public:
  /// A communicator, as dumps name it.
  struct GroupFacts {
    std::string name, desc;
    std::vector<int> ranks;  ///< of the whole job
    int rank = 0;            ///< this one's, in the communicator
    Nanoseconds timeout{0};
  };
  class Group;
  /// Adds how far the communicator's connections have come; called on any thread.
  using ProgressSource = std::function<void(std::vector<FlightDump::Progress>& progress)>;
  /// Asks the other ranks of a communicator for their dumps.
  using AskOthers = std::function<void()>;

  /// rank  in the whole job
  FlightRecorder(FlightSettings settings, int rank);
  /// Writes what is still to be written.
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  /// Groups stay in later dumps, as PyTorch's do; what they ask is asked until leave().
  Group& join(GroupFacts facts, ProgressSource progress, AskOthers ask_others);
  void leave(Group& group);

  /// The entries of one call.
  struct Ticket {
    std::uint64_t first = 0;
    std::uint32_t count = 0;  ///< 0: nothing is recorded
    std::int64_t seq = 0;
    std::int64_t last_op = 0;
    Group* group = nullptr;
    Collective collective = Collective::AllReduce;
  };
  /// A call has been enqueued.
  /// now  trace_now(), here and below
  Ticket begin(Group& group, const FlightFacts& facts, Nanoseconds now);
  /// The same of several messages that begin together: an entry each, and one that ends them.
  Ticket begin(Group& group, const std::vector<FlightFacts>& messages, Nanoseconds now);
  /// Its turn has come: all before it are done. Nothing to do where the settings want no timing.
  void start(const Ticket& ticket, Nanoseconds now);
  /// It is over, and so are all before it on the communicator; `now` counts with timing alone.  is_done  false: it has failed
  void end(const Ticket& ticket, bool is_done, Nanoseconds now);

  /// How often each collective was called.  index  as Collective counts
  using Counts = std::array<std::int64_t, kCollectiveCount>;
  enum class GroupState : std::uint8_t { Init, Running, Finalize, Abort, Gone };
  /// A communicator as observers from outside see it.
  struct GroupView {
    std::string name, desc;
    std::vector<int> ranks;
    GroupState state = GroupState::Init;
    bool has_failed = false;
    Counts launched{}, completed{};
  };
  /// Those that have joined and not left.
  [[nodiscard]] std::vector<GroupView> groups() const;
  void set_state(Group& group, GroupState state);

  /// What it holds now; without a reason, after a failure and until the next call, what it held then.
  [[nodiscard]] FlightDump snapshot(const std::string& reason = {}) const;

  /// Something has failed: takes the dump, asks the other ranks for theirs, and returns. The first time only,
  /// and only where the settings want it.
  /// group  whose ranks the reason speaks of; null: of the job's
  void failed(const std::string& reason, const Group* group = nullptr);

  /// Whether failed() writes anything.
  [[nodiscard]] bool writes_on_failure() const;

  /// Until what has been asked for is written, or the time is over: a file system may hang.
  /// returns  whether it is
  bool wait_written(Nanoseconds longest);

  /// Writes a dump at SIGUSR1 from now on, as long as the recorder lives; the job goes on. One recorder a
  /// process, and only where no other code uses the signal.
  void dump_on_signal();

  [[nodiscard]] const FlightSettings& settings() const;
  [[nodiscard]] int rank() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
