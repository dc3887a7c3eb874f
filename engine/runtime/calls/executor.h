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

/// A call that an executor has planned. Executors derive from it to store data of their own.
struct CallPlan {
  CollectiveCall call;  ///< the planned call; its buffers are not used
  Choice choice;
  Bytes bytes;       ///< call_bytes()
  TraceEvent event;  ///< the fields that all events of the call share, except the sequence

  CallPlan() = default;
  CallPlan(const CallPlan&) = delete;
  CallPlan& operator=(const CallPlan&) = delete;
  virtual ~CallPlan() = default;
};

/// Runs a communicator's calls with its own memory, connections and threads; make_host_executor() is the one for host
/// memory. The communicator reports failures, orders the calls and numbers them.
///
/// Ordering   plan(), prepare(), run(), flush(), drain() for each call, even if it is planned and prepared already.
///            With queues, several calls may begin before drain(); hosts have no queues
/// Threads    one thread at a time; any thread may call abort() and look(). With queues, another thread may call
///            drain() meanwhile
/// Ownership  the executor owns the plans
class Executor {
 public:
  virtual ~Executor() = default;

  /// Returns the algorithm, protocol and channels with which a call would run.
  /// errors  as plan()
  [[nodiscard]] virtual Result<Choice> choose(const CollectiveCall& call) const = 0;

  /// Does the work for a call that needs no other rank, before any data moves. A call that repeats a recent one reuses
  /// its plan and allocates no memory.
  /// returns  the plan, valid until the next call of plan(), set_settings() or register_buffer()
  /// errors   InvalidArgument, Unsupported: the call has not begun, and the executor stays usable
  virtual Result<CallPlan*> plan(const CollectiveCall& call) = 0;

  /// Makes the plan's connections together with the other ranks. Does nothing if they exist.
  /// errors  Timeout, PeerGone, System, Aborted: other ranks may be waiting already, so the caller has to notify them
  virtual Status prepare(CallPlan& plan) = 0;

  /// Begins the call. It may return before the call is done: the buffers are in use until drain(). An error is stored
  /// in ExecutorSetup::failure, and ends all calls that have begun.
  /// plan   a prepared plan of a call that differs at most in buffers and stream (is_alike)
  virtual void run(CallPlan& plan, const CollectiveCall& call, std::uint32_t sequence) = 0;

  /// Launches the calls that run() has collected, if the executor collects calls. Call it after the last run().
  virtual void flush() {}

  /// Waits until all calls that have begun are done or have failed.
  virtual void drain() = 0;

  /// Returns whether calls may begin while others are running, and may be ordered with a stream of the caller.
  [[nodiscard]] virtual bool has_queues() const { return false; }

  [[nodiscard]] virtual bool is_prepared(const CallPlan& /*plan*/) const { return true; }

  /// Returns whether the call's stream is being captured into a graph. If so, run() and flush() add the call to the
  /// graph without prepare(), and it runs whenever the graph is launched. The executor outlives the graph.
  /// plan    a plan of a call that differs at most in buffers and stream
  /// errors  Unsupported: a graph cannot contain the call; the error's help names what to do first
  virtual Result<bool> is_captured(const CallPlan& /*plan*/, const CollectiveCall& /*call*/) {
    return false;
  }

  /// Stores errors of calls in graphs in ExecutorSetup::failure. Poll it, since no thread waits for those calls.
  virtual void look() {}

  /// Registers this rank's memory for the buffers of later calls. Every rank calls it at the same time; it needs no
  /// drain() before it.
  /// returns  a number for deregister_buffer(); 0: registration has no effect
  /// errors   as prepare()
  virtual Result<int> register_buffer(void* /*base*/, Bytes /*size*/) { return 0; }
  /// Deregisters memory of this rank only. No call with buffers in it may be running.
  virtual void deregister_buffer(int /*number*/) {}

  /// Makes every current and later wait return.
  virtual void abort() noexcept = 0;

  /// Sets the user's settings for all later calls.
  virtual void set_settings(const CallSettings& settings) = 0;

  [[nodiscard]] virtual const HostLayout& layout() const = 0;

  /// Returns the types of the open connections as text, with their number: {"rdma, GPUDirect by dma-buf": 4}. Empty if
  /// layout() already describes them.
  [[nodiscard]] virtual std::map<std::string, int> connection_types() const { return {}; }

  /// Appends the progress of each connection; peers are ranks of the communicator. Appends nothing without connections.
  /// Threads  any
  virtual void add_progress([[maybe_unused]] std::vector<FlightDump::Progress>& progress) const {}
};

/// The inputs of make_executor.
/// Ownership  the objects that it refers to outlive the executor
struct ExecutorSetup {
  /// The executor calls all_gather() only while it is made and in register_buffer(). Otherwise it uses only rank,
  /// number of ranks and clock.
  Bootstrap& bootstrap;
  Failure& failure;   ///< stores the first error; once it holds one, waits end early
  Deadline deadline;  ///< for making the executor
  /// How long prepare() waits for other ranks, or op_timeout if that is longer
  Nanoseconds connect_timeout;
  Nanoseconds op_timeout;  ///< a call that makes no progress for this long fails
  CallSettings settings;
  LinkFaults faults = {};          ///< faults on its connections
  TraceRecorder* trace = nullptr;  ///< null: nothing is recorded
  std::uint32_t trace_number = 0;  ///< CommunicatorOptions::trace_number
  CommunicatorLog* log = nullptr;  ///< null: nothing is logged
};

/// Makes an executor. Every rank calls it at the same time.
/// errors  any error of making it; the communicator then notifies the other ranks
using ExecutorMaker = std::function<Result<std::unique_ptr<Executor>>(const ExecutorSetup& setup)>;

}  // namespace ringside
