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

/// A call that an executor has planned. Executors derive from it to keep more.
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

/// Runs a communicator's calls: it has the memory, the connections and the threads. Host
/// processes today (HostExecutor). It knows nothing of the job: failures and their reports, the order
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

  /// Chooses how a call would run.
  /// errors  as plan()
  [[nodiscard]] virtual Result<Choice> choose(const CollectiveCall& call) const = 0;

  /// Does all for a call that needs no other rank, before anything moves. A call like one of the
  /// last is planned already, and costs no allocation.
  /// returns  good for the call until set_wishes(), or until 64 others have been planned
  /// errors   InvalidArgument, Unsupported: nothing has begun, nothing is broken
  virtual Result<CallPlan*> plan(const CollectiveCall& call) = 0;

  /// Does what needs the other ranks and is done once: connections. The second time it does nothing.
  /// errors  Timeout, PeerGone, System, Aborted: other ranks may be waiting already, so the caller has to notify them
  virtual Status prepare(CallPlan& plan) = 0;

  /// Begins the call. May return before it is done: until drain() its buffers are in use. An error
  /// is in ExecutorSetup::failure, and ends all calls that have begun.
  /// plan   prepared; of a call alike
  virtual void run(CallPlan& plan, const CollectiveCall& call, std::uint32_t sequence) = 0;

  /// Begins the calls that run() has collected for one launch, where the executor does that. Call it after the last run().
  virtual void flush() {}

  /// Returns when everything that has begun is done, or has failed.
  virtual void drain() = 0;

  /// Whether calls may begin while others are under way, and be ordered with a stream of the caller's.
  [[nodiscard]] virtual bool has_queues() const { return false; }

  [[nodiscard]] virtual bool is_prepared(const CallPlan& /*plan*/) const { return true; }

  /// Whether the call's stream is under capture into a graph. Then run() and flush() add the call to it without prepare(), and
  /// it does not run now: it runs whenever the graph is launched. The executor outlives the graph.
  /// plan    of a call alike
  /// errors  Unsupported: the call cannot be part of a graph; the help names what has to be done first
  virtual Result<bool> is_captured(const CallPlan& /*plan*/, const CollectiveCall& /*call*/) {
    return false;
  }

  /// Notes in ExecutorSetup::failure what has gone wrong in calls of graphs: no call waits for those.
  virtual void look() {}

  /// Registers memory in which buffers of later calls may lie. Every rank calls it at the same time, each for memory
  /// of its own; a drain() before it is not needed.
  /// returns  for deregister_buffer(); 0: it makes no difference here
  /// errors   as prepare()
  virtual Result<int> register_buffer(void* /*base*/, Bytes /*size*/) { return 0; }
  /// Of this rank alone; no call with buffers there may be under way.
  virtual void deregister_buffer(int /*number*/) {}

  /// Ends every wait, now and later.
  virtual void abort() noexcept = 0;

  /// For later calls.
  virtual void set_wishes(const CallWishes& wishes) = 0;

  [[nodiscard]] virtual const HostLayout& layout() const = 0;

  /// The kinds of its present connections, for people, with their number: "rdma, GPUDirect by dma-buf". Empty where
  /// layout() says it all.
  [[nodiscard]] virtual std::map<std::string, int> ways() const { return {}; }

  /// The progress of its connections; peers are ranks of the communicator. Empty where it has none.
  /// Threads  any
  virtual void add_progress([[maybe_unused]] std::vector<FlightDump::Progress>& progress) const {}
};

/// The inputs of an executor.
/// Ownership  what is referred to outlives the executor
struct ExecutorSetup {
  /// Only making the executor and register_buffer() may gather; else it uses only rank, number of ranks and clock.
  Bootstrap& bootstrap;
  Failure& failure;   ///< the first thing that goes wrong; once it has happened, waits end early
  Deadline deadline;  ///< for making it
  Nanoseconds
      connect_timeout;  ///< how long prepare() waits for the others; op_timeout where that is longer
  Nanoseconds op_timeout;  ///< a call without progress for so long fails
  CallWishes wishes;
  LinkFaults faults = {};          ///< of its connections
  TraceRecorder* trace = nullptr;  ///< null: nothing is recorded
  std::uint32_t trace_number = 0;  ///< CommunicatorOptions::trace_number
  CommunicatorLog* log = nullptr;  ///< null: nothing is said
};

/// Every rank makes its own at the same time.
/// errors  whatever keeps it from being made; the communicator notifies the others
using ExecutorMaker = std::function<Result<std::unique_ptr<Executor>>(const ExecutorSetup& setup)>;

}  // namespace ringside
