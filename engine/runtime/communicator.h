#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/runtime/calls/executor.h"
#include "engine/runtime/host/host_executor.h"
#include "engine/runtime/watch/call_check.h"
#include "ringside/units.h"

namespace ringside {

class Bootstrap;
class CallFaults;
class FlightRecorder;
class HostStream;
class TraceRecorder;

/// The options of a communicator. Every rank passes the same ones, except `trace`, `faults` and `recorder`.
/// Ownership  what is pointed to outlives the communicator
struct CommunicatorOptions {
  std::string name = "0";  ///< its name in dumps
  std::string family =
      {};  ///< the name that faults use for it, and for others of its kind; empty: `name`
  std::string description = "default_pg";
  std::vector<int> job_ranks = {};  ///< its ranks' numbers in the whole job; empty: the same
  /// This rank's number in the whole job, where the ranks are to gather job_ranks: of all ranks or of none.
  std::optional<int> job_rank = {};
  HostOptions host;   ///< of the executor that make() makes
  CallWishes wishes;  ///< the executor chooses what they leave open
  Seconds connect_timeout{
      8};                  ///< of make(), and of a call that connects, where op_timeout is shorter
  Seconds op_timeout{60};  ///< a collective without progress for so long fails
  bool check_calls =
      is_call_check_wanted();      ///< whether differing calls are detected; the same on all ranks
  TraceRecorder* trace = nullptr;  ///< null: nothing is recorded
  std::uint32_t trace_number = 0;  ///< its number in traces: TraceEvent::communicator
  CallFaults* faults = nullptr;    ///< of this rank, in all its communicators; null: none
  FlightRecorder* recorder = nullptr;  ///< of this rank's calls, likewise
};

namespace runtime {

/// A group of ranks that call collectives together, on real memory of real processes. It brings the ranks together, has
/// an Executor do their calls in order, and ensures that all of them end, and for the same reason.
///
/// Ordering   every rank makes the same calls in the same order
/// Threads    one at a time calls run(), or enqueue(); abort() and async_error() are for any thread
/// Ownership  takes the Bootstrap; buffers are the caller's, and in use until run() returns
class Communicator {
 public:
  /// Finds out how to reach the others; connections are made by the first run() that needs them.
  /// errors  Timeout: names the ranks that did not come.  PeerGone.  Unsupported: the transport does not join all ranks.
  static Result<std::unique_ptr<Communicator>> make(std::shared_ptr<Bootstrap> bootstrap,
                                                    const CommunicatorOptions& options);

  /// The same with an executor of the caller's choice; CommunicatorOptions::host is not read.
  /// errors  as above, and those of `make_executor`
  static Result<std::unique_ptr<Communicator>> make(std::shared_ptr<Bootstrap> bootstrap,
                                                    const CommunicatorOptions& options,
                                                    const ExecutorMaker& make_executor);
  ~Communicator();

  /// Runs a call. A call like one of the last ones is planned already, and costs no allocation.
  /// errors  InvalidArgument, Unsupported: before anything moved.  PeerGone, Timeout, Aborted: the
  ///         communicator is broken from then on, on every rank, for the same first reason.
  ///         InvalidArgument, too: the ranks do not make the same call (CallCheck); broken likewise
  Status run(const CollectiveCall& call);
  /// The same for several calls, which may overlap where the executor has queues. Each sees the results of those before
  /// it.
  Status run_all(const std::vector<CollectiveCall>& calls);

  /// Splits the ranks: those of one colour form a communicator of their own, in the order of their keys. Its
  /// options are this one's; its name contains the split and the colour, the same on all its ranks, as does its number in
  /// traces. This communicator lives on, and neither one breaks the other.
  /// color    none: this rank is in no part
  /// family   of the part: CommunicatorOptions::family
  /// returns  null: this rank is in no part
  /// errors   as run(), and as make() of the part
  Result<std::unique_ptr<Communicator>> split(std::optional<int> color, int key = 0,
                                              const std::string& description = "undefined",
                                              const std::string& family = {});

  /// Makes a communicator of the remaining ranks, in their order, without those that have died or are excluded.
  /// The others are not asked, and this communicator may be broken; none of its calls may be under way.
  /// without  the same on every rank that calls; not this rank
  /// errors   InvalidArgument: a rank that does not exist, or this one.  Timeout: a rank that is left does not call.
  ///          As make()
  Result<std::unique_ptr<Communicator>> shrink(const std::vector<Rank>& without);

  /// Enqueues the call on the stream. Calls of one communicator are made in the order in which they
  /// were enqueued, on whichever streams; not while run() is under way, and until they are done no run().
  /// call    its buffers are in use until the stream has done it, or the communicator is gone: one that has failed makes
  ///         no further calls, and does not wait for calls that its stream has not reached
  /// errors  the first error of an earlier call; this call's own error is in async_error()
  Status enqueue(CollectiveCall call, HostStream& stream);
  /// The same for several calls, as in run_all().
  Status enqueue(std::vector<CollectiveCall> calls, HostStream& stream);

  /// Begins the calls on a device behind the stream's earlier work, and before its later work. They are begun when
  /// this returns, and ended when the stream has passed them; the first call that connects waits for the other ranks.
  /// stream  may be under capture into a graph, which then contains the calls. The communicator outlives
  ///         the graph; errors of its calls are in async_error()
  /// errors  the first error of an earlier call; what keeps these from beginning.  Unsupported: ranks without
  ///         queues, or what a graph cannot have
  Status enqueue(std::vector<CollectiveCall> calls, DeviceStream stream);

  /// Connects what the calls need, as their first run() does: for callers that act for several ranks, on a thread each.
  /// errors  as run()
  Status prepare(const std::vector<CollectiveCall>& calls);
  /// Whether there is nothing to prepare.
  [[nodiscard]] bool is_prepared(const std::vector<CollectiveCall>& calls) const;

  /// The error since the start: the reason for which the communicator broke, or the first call that was refused.
  /// Threads  any
  [[nodiscard]] std::optional<Error> async_error() const;

  /// Chooses how a call runs.
  /// errors  as run(), before anything moved
  [[nodiscard]] Result<Choice> choose(const CollectiveCall& call) const;

  /// Settings for the calls to come, on every rank the same.
  void set_wishes(const CallWishes& wishes);

  /// Breaks the communicator on every rank: their run() returns `why` soon. A part that is being made is cancelled.
  void abort(const Error& why);

  /// All ranks' bytes, by rank: for what ranks exchange in addition to the data (times, counts). Slow: TCP.
  /// shape   every rank gives equally many
  /// errors  as run()
  Result<std::vector<std::byte>> all_gather_bytes(std::span<const std::byte> mine);

  /// Returns when every rank has called it.
  /// errors  as run()
  Status barrier() {
    const auto all = all_gather_bytes({});
    return all ? Status() : Status(all.error());
  }

  /// Registers memory, each rank its own, in which buffers of later calls may lie: where ranks are processes with GPUs,
  /// senders store results there directly, without a slot between. On hosts it makes no difference.
  /// returns  for deregister_buffer(); 0: it makes none
  /// errors   as run(); every rank calls it at the same time
  Result<int> register_buffer(void* base, Bytes size);
  /// Of this rank alone; no call with buffers there may be under way.
  void deregister_buffer(int number);

  /// Ends in order: waits for the enqueued calls (not for graphs) and for all ranks, then leaves; no rank takes that for a death.
  /// errors  as run()
  Status finish();

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] Rank rank() const;
  [[nodiscard]] int nranks() const;
  /// What joins the ranks: see HostLayout.
  [[nodiscard]] const std::string& transport() const { return layout().transport; }
  [[nodiscard]] const HostLayout& layout() const;
  /// As Executor::ways().
  [[nodiscard]] std::map<std::string, int> ways() const;

 private:
  struct Impl;
  explicit Communicator(std::unique_ptr<Impl> impl);
  Result<std::unique_ptr<Communicator>> make_part(std::shared_ptr<Bootstrap> bootstrap,
                                                  const CommunicatorOptions& options);
  std::unique_ptr<Impl> impl_;
};

}  // namespace runtime

}  // namespace ringside
