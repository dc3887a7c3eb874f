#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/flight/recorder.h"
#include "engine/runtime/calls/executor.h"
#include "engine/runtime/host/host_executor.h"
#include "engine/runtime/watch/call_check.h"
#include "ringside/units.h"

namespace ringside {

class Bootstrap;
class CallFaults;
class HostStream;
class TraceRecorder;

/// The options of a communicator. Every rank passes the same values, except in `job_rank`, `trace`, `faults` and
/// `recorder`.
/// Ownership  the objects that the pointers refer to outlive the communicator
struct CommunicatorOptions {
  std::string name = "0";  ///< the communicator's name in dumps
  /// Name by which faults select this communicator and others with the same role; empty: `name`
  std::string family = {};
  std::string description = "default_pg";
  std::vector<int> job_ranks = {};  ///< [rank]: number in the whole job; empty: equal to the rank
  /// This rank's number in the whole job; the ranks then gather job_ranks from it. Every rank sets it, or no rank does.
  std::optional<int> job_rank = {};
  HostOptions host;       ///< options of the executor that make() makes
  CallSettings settings;  ///< the executor chooses every value that is not set here
  /// Limit for make(); also for a call that connects, if it is longer than op_timeout
  Seconds connect_timeout{8};
  Seconds op_timeout{60};  ///< a collective that makes no progress for this long fails
  /// Whether mismatched calls are detected; the same on all ranks
  bool check_calls = is_call_check_wanted();
  TraceRecorder* trace = nullptr;  ///< null: nothing is recorded
  /// The communicator's number in traces: TraceEvent::communicator
  std::uint32_t trace_number = 0;
  /// Faults of this rank, shared by all its communicators; null: none
  CallFaults* faults = nullptr;
  /// Records the calls of this rank, shared by all its communicators; null: none
  FlightRecorder* recorder = nullptr;
};

namespace runtime {

/// A group of ranks that call collectives together, on real memory of real processes. It brings the ranks together, has
/// an Executor do their calls in order, and ensures that all of them end, and for the same reason.
///
/// Ordering   every rank makes the same calls in the same order
/// Threads    one thread at a time calls run() or enqueue(); any thread may call abort() and async_error()
/// Ownership  keeps the Bootstrap; the caller owns the buffers, which are in use until run() returns
class Communicator {
 public:
  /// Makes the communicator and exchanges the ranks' addresses. The first run() that needs a connection makes it.
  /// errors  Timeout: names the ranks that did not join.  PeerGone: a rank died.  Unsupported: the transport cannot
  ///         connect all ranks.
  static Result<std::unique_ptr<Communicator>> make(std::shared_ptr<Bootstrap> bootstrap,
                                                    const CommunicatorOptions& options);

  /// Makes the communicator with an executor of the caller's choice; CommunicatorOptions::host is ignored.
  /// errors  as above, and those of `make_executor`
  static Result<std::unique_ptr<Communicator>> make(std::shared_ptr<Bootstrap> bootstrap,
                                                    const CommunicatorOptions& options,
                                                    const ExecutorMaker& make_executor);
  ~Communicator();

  /// Runs a call and returns when it is done. A call that repeats a recent one reuses its plan and allocates no memory.
  /// errors  InvalidArgument, Unsupported: no data moved, and the communicator stays usable.  PeerGone, Timeout,
  ///         Aborted: the communicator is broken on every rank, with the same first error. InvalidArgument is also
  ///         returned, and breaks it, if the ranks make different calls (CallCheck)
  Status run(const CollectiveCall& call);
  /// Runs several calls, which may overlap if the executor has queues. Each call sees the results of the calls before
  /// it.
  /// errors  as run()
  Status run_all(const std::vector<CollectiveCall>& calls);

  /// Splits the ranks: the ranks of one colour form a child communicator, ordered by key. The child inherits the
  /// options; its name contains the number of the split and the colour. The child and this communicator do not break
  /// each other.
  /// color  empty: this rank joins no child
  /// family  the child's CommunicatorOptions::family
  /// returns the child, or null if this rank joins none
  /// errors   as run() of this communicator and make() of the child
  Result<std::unique_ptr<Communicator>> split(std::optional<int> color, int key = 0,
                                              const std::string& description = "undefined",
                                              const std::string& family = {});

  /// Makes a communicator of the remaining ranks, in the same order, without the ranks in `without` (dead or excluded).
  /// Only the remaining ranks call it. This communicator may be broken, but none of its calls may be in progress.
  /// without  ranks to exclude; the same on every caller, and never the caller itself
  /// errors   InvalidArgument: `without` names this rank or one that does not exist.  Timeout: a remaining rank does
  ///          not call. All errors of make()
  Result<std::unique_ptr<Communicator>> shrink(const std::vector<Rank>& without);

  /// Enqueues the call on the stream. Calls of one communicator run in the order in which they were enqueued, even on
  /// different streams. Do not mix with run(): call neither while the other still has work in progress.
  /// call    its buffers are in use until the stream has run it or the communicator is destroyed. After a failure,
  ///         calls that their stream has not reached yet never run, and no thread waits for them
  /// errors  the first error of an earlier call; async_error() later returns this call's own error
  Status enqueue(CollectiveCall call, HostStream& stream);
  /// Enqueues several calls, as in run_all().
  /// errors  as enqueue() of one call
  Status enqueue(std::vector<CollectiveCall> calls, HostStream& stream);

  /// Launches the calls on a device stream, after its earlier work and before its later work. They are launched when
  /// this returns, and done when the stream has passed them. The first call that connects waits for the other ranks.
  /// stream  if it is being captured into a graph, the graph contains the calls. The communicator must outlive the
  ///         graph; async_error() returns the errors of the graph's calls
  /// errors  the first error of an earlier call; the error that prevents the launch.  Unsupported: the executor has no
  ///         queues, or a graph cannot contain the call
  Status enqueue(std::vector<CollectiveCall> calls, DeviceStream stream);

  /// Makes the connections that the calls need, as their first run() would. A process with several ranks calls it on
  /// one thread for each rank.
  /// errors  as run()
  Status prepare(const std::vector<CollectiveCall>& calls);
  /// Returns whether all connections of the calls exist, so that prepare() would do nothing.
  [[nodiscard]] bool is_prepared(const std::vector<CollectiveCall>& calls) const;

  /// Returns the first error since make(): the error that broke the communicator, or that of the first rejected call.
  /// Threads  any
  [[nodiscard]] std::optional<Error> async_error() const;

  /// Returns the algorithm, protocol and channels with which run() would run the call. Nothing moves.
  /// errors  InvalidArgument, Unsupported: as run()
  [[nodiscard]] Result<Choice> choose(const CollectiveCall& call) const;

  /// Sets the user's settings for all later calls. Every rank passes the same settings.
  void set_settings(const CallSettings& settings);

  /// Records a message of this communicator's ranks that the caller sends by other means.
  /// returns  for FlightRecorder::end(); of no entries: nothing is recorded
  /// Threads  any
  FlightRecorder::Ticket record_message(const FlightFacts& message);

  /// Breaks the communicator on every rank: their calls of run() soon return `why`. A split in progress is cancelled.
  void abort(const Error& why);

  /// Returns all ranks' bytes, concatenated by rank. Meant for small side data such as times and counts: it is slow
  /// (TCP).
  /// shape   every rank passes the same number of bytes
  /// errors  as run()
  Result<std::vector<std::byte>> all_gather_bytes(std::span<const std::byte> mine);

  /// Returns when every rank has called it.
  /// errors  as run()
  Status barrier() {
    const auto all = all_gather_bytes({});
    return all ? Status() : Status(all.error());
  }

  /// Registers this rank's memory for the buffers of later calls. Between processes with GPUs, senders then store
  /// results there directly, without a slot in between. On hosts it has no effect.
  /// returns  a number for deregister_buffer(); 0: registration has no effect here
  /// errors   as run(); every rank calls it at the same time
  Result<int> register_buffer(void* base, Bytes size);
  /// Deregisters memory of this rank only. No call with buffers in it may be in progress.
  void deregister_buffer(int number);

  /// Shuts down in order: waits for the enqueued calls (not for graphs) and for all ranks, then leaves the
  /// communicator. The other ranks do not report this rank as dead.
  /// errors  as run()
  Status finish();

  /// Returns the messages that were sent and not received, once finish() has found that all ranks are done.
  /// returns  nothing: finish() was not called, or the communicator broke before
  [[nodiscard]] std::optional<UnreceivedMessages> unreceived() const;

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] Rank rank() const;
  [[nodiscard]] int nranks() const;
  /// Returns the names of the transports between the ranks: HostLayout::transport.
  [[nodiscard]] const std::string& transport() const { return layout().transport; }
  [[nodiscard]] const HostLayout& layout() const;
  /// Returns the connection types in use and how many there are of each, as Executor::connection_types().
  [[nodiscard]] std::map<std::string, int> connection_types() const;

 private:
  struct Impl;
  explicit Communicator(std::unique_ptr<Impl> impl);
  Result<std::unique_ptr<Communicator>> make_part(std::shared_ptr<Bootstrap> bootstrap,
                                                  const CommunicatorOptions& options);
  std::unique_ptr<Impl> impl_;
};

}  // namespace runtime

}  // namespace ringside
