#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/result.h"
#include "engine/faults/link_faults.h"
#include "engine/flight/dump.h"
#include "engine/runtime/calls/call.h"
#include "engine/tuning/choice.h"
#include "ringside/trace_event.h"
#include "ringside/units.h"

namespace ringside {

class Bootstrap;
class CommunicatorLog;
class Failure;
class TraceRecorder;
struct HostLayout;

/// A call that an executor has planned. What it keeps beside this is its own business.
struct CallPlan {
  CollectiveCall call;  ///< its buffers mean nothing
  Choice choice;
  Bytes bytes;       ///< call_bytes()
  TraceEvent event;  ///< what all events of the call share, but for their sequence

  CallPlan() = default;
  CallPlan(const CallPlan&) = delete;
  CallPlan& operator=(const CallPlan&) = delete;
  virtual ~CallPlan() = default;
};

/// Where a communicator's calls take place: the memory, the connections and whatever works there. Host
/// processes today (HostExecutor). It knows nothing of the job: who fails and what is said of it, the order
/// of calls and their numbers are the communicator's.
///
/// Ordering   plan(), prepare(), run(), flush(), drain() of a call; of one that is planned and prepared already, too.
///            Several calls may have begun before drain(), where the executor has queues: hosts have none
/// Threads    one at a time; any thread calls abort() and look(). Where there are queues, another one may drain what has
///            begun meanwhile
/// Ownership  plans are the executor's
class Executor {
 public:
  virtual ~Executor() = default;

  /// How a call would run.
  /// errors  as plan()
  [[nodiscard]] virtual Result<Choice> choose(const CollectiveCall& call) const = 0;

  /// All that this rank can do for a call without the others, before anything moves. A call like one of the
  /// last is planned already, and costs no allocation.
  /// returns  good for the call until set_wishes(), or until 64 others have been planned
  /// errors   InvalidArgument, Unsupported: nothing has begun, nothing is broken
  virtual Result<CallPlan*> plan(const CollectiveCall& call) = 0;

  /// What takes the other ranks and is done once: connections. Nothing the second time.
  /// errors  Timeout, PeerGone, System, Aborted: the other ranks are on their way, so they have to be told
  virtual Status prepare(CallPlan& plan) = 0;

  /// Begins the call. May return before it is done: until drain() its buffers are in use. What goes wrong
  /// is in ExecutorSetup::failure, and ends all that has begun.
  /// plan   prepared; of a call alike
  virtual void run(CallPlan& plan, const CollectiveCall& call, std::uint32_t sequence) = 0;

  /// Begins what run() has put together with what was to follow, where the executor does that: behind the last run().
  virtual void flush() {}

  /// Returns when everything that has begun is done, or has failed.
  virtual void drain() = 0;

  /// Whether calls may begin while others are under way, and be ordered with a stream of the caller's.
  [[nodiscard]] virtual bool has_queues() const { return false; }

  [[nodiscard]] virtual bool is_prepared(const CallPlan& /*plan*/) const { return true; }

  /// Whether the call's stream is being captured into a graph. Then run() and flush() put it there without prepare(), and
  /// nothing of it is under way: it takes place as often as the graph is launched. The executor outlives that.
  /// plan    of a call alike
  /// errors  Unsupported: what cannot stand in a graph, and what is to be done first
  virtual Result<bool> is_captured(const CallPlan& /*plan*/, const CollectiveCall& /*call*/) {
    return false;
  }

  /// Notes in ExecutorSetup::failure what has gone wrong in calls of graphs, for which nobody waits.
  virtual void look() {}

  /// Takes it that calls to come may have their buffers in this memory. Every rank calls it at the same time, each for memory
  /// of its own; nothing need be drained.
  /// returns  for deregister_buffer(); 0: it makes no difference here
  /// errors   as prepare()
  virtual Result<int> register_buffer(void* /*base*/, Bytes /*size*/) { return 0; }
  /// Of this rank alone; none of its calls with buffers there are under way.
  virtual void deregister_buffer(int /*number*/) {}

  /// Ends every wait, now and later.
  virtual void abort() noexcept = 0;

  /// For the calls to come.
  virtual void set_wishes(const CallWishes& wishes) = 0;

  [[nodiscard]] virtual const HostLayout& layout() const = 0;

  /// How the connections are made that it has by now, for people, and how many are: "rdma, GPUDirect by dma-buf". Empty where
  /// layout() says it all.
  [[nodiscard]] virtual std::map<std::string, int> ways() const { return {}; }

  /// How far its connections have come; peers are ranks of the communicator. Nothing where it has none.
  /// Threads  any
  virtual void add_progress([[maybe_unused]] std::vector<FlightDump::Progress>& progress) const {}
};

/// What an executor is made with.
/// Ownership  what is referred to outlives the executor
struct ExecutorSetup {
  /// Making one, and register_buffer(), may gather; else only rank, number of ranks and clock are asked for.
  Bootstrap& bootstrap;
  Failure& failure;   ///< the first thing that goes wrong; once it has happened, waits end early
  Deadline deadline;  ///< for making it
  Nanoseconds
      connect_timeout;  ///< so long prepare() waits for the others, or for op_timeout where that is longer
  Nanoseconds op_timeout;  ///< a call in which nothing moves for so long fails
  CallWishes wishes;
  LinkFaults faults = {};          ///< of its connections
  TraceRecorder* trace = nullptr;  ///< null: nothing is recorded
  std::uint32_t trace_number = 0;  ///< CommunicatorOptions::trace_number
  CommunicatorLog* log = nullptr;  ///< null: nothing is said
};

/// Every rank makes its own at the same time.
/// errors  whatever keeps it from being made; the communicator tells the others
using ExecutorMaker = std::function<Result<std::unique_ptr<Executor>>(const ExecutorSetup& setup)>;

}  // namespace ringside
