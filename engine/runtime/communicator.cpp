#include "engine/runtime/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/engine_words.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/calls/call_turns.h"
#include "engine/runtime/calls/failure.h"
#include "engine/runtime/communicator_parts.h"
#include "engine/runtime/host/communicator_log.h"
#include "engine/runtime/host/host_identity.h"
#include "engine/runtime/host/host_stream.h"
#include "engine/runtime/split.h"
#include "engine/runtime/watch/call_check.h"
#include "engine/runtime/watch/call_faults.h"
#include "engine/runtime/watch/flight_facts.h"
#include "engine/runtime/watch/watch.h"
#include "trace/clock.h"
#include "trace/recorder.h"

namespace ringside::runtime {
namespace {

/// How long a rank that notices a failure waits for the cause from the rank that noticed it first.
constexpr Nanoseconds kVerdictWait = kRollCallTime + std::chrono::seconds(1);
constexpr Nanoseconds kEvidenceWait = std::chrono::milliseconds(500);  ///< wait_for_other_ranks()
Nanoseconds in_ns(Seconds time) { return std::chrono::duration_cast<Nanoseconds>(time); }

}  // namespace

struct Communicator::Impl {
  CommunicatorOptions options;
  std::shared_ptr<Bootstrap> bootstrap;
  std::unique_ptr<CommunicatorLog> log;  // null: nothing is logged
  Failure failure;
  std::mutex executor_mutex;  // guards the executor between make() and the watch's thread
  std::unique_ptr<Executor> executor;
  TraceLane* lane = nullptr;   // for whole calls; null: nothing is traced
  std::uint32_t sequence = 0;  // number of the last call: 1, 2, ..., as in dumps
  int splits = 0, shrinks = 0;
  MeetingPlaces meeting;
  std::mutex part_mutex;  // guards the next two members
  std::shared_ptr<Bootstrap> part_in_making;
  bool is_aborted = false;
  // The order of enqueued calls. Those that wait on a stream for another communicator's call may outlive this one.
  const std::shared_ptr<CallTurns> turns = std::make_shared<CallTurns>();
  std::optional<UnreceivedMessages> unreceived;  // set by finish()
  Failure refused;         // error of the first enqueued call that could not begin
  std::mutex check_mutex;  // guards `check`: calls begin on one thread, and may end on the keeper's
  std::mutex give_up_mutex;     // guards give_up(), for the same reason
  ExecutorMaker make_executor;  // makes the executors of parts of this communicator
  bool has_timing = false;      // whether the recorder stores times in addition to the order
  /// This communicator in options.recorder; null: not recorded, or not yet set when the watch's thread reads it.
  std::atomic<FlightRecorder::Group*> group{nullptr};
  CallFaults::Caller caller;  // identity of this communicator for options.faults
  ReportedCalls reported;
  std::unique_ptr<Watch> watch;      // its callback uses the members above
  std::unique_ptr<CallCheck> check;  // it uses all members above; null: calls are not checked
  HostStream keeper;  // last member: waits for the calls that are ordered by a device's stream

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    turns->wait_all();
    keeper.synchronize();
    if (group != nullptr) options.recorder->leave(*group);
    if (options.faults != nullptr) options.faults->forget(this);
  }

  /// Adds this communicator to the recorder, so that dumps contain it.
  void join_recorder() {
    if (options.recorder == nullptr) return;
    has_timing = options.recorder->settings().has_timing;
    FlightRecorder::GroupFacts facts{.name = options.name,
                                     .desc = options.description,
                                     .ranks = options.job_ranks,
                                     .rank = to_int(bootstrap->rank()),
                                     .timeout = in_ns(options.op_timeout)};
    if (facts.ranks.empty()) {
      facts.ranks.resize(static_cast<std::size_t>(bootstrap->nranks()));
      std::iota(facts.ranks.begin(), facts.ranks.end(), 0);
    }
    group = &options.recorder->join(
        std::move(facts),
        [this](std::vector<FlightDump::Progress>& progress) {
          const std::lock_guard lock(executor_mutex);
          if (executor) executor->add_progress(progress);
        },
        [this] { watch->ask_for_dumps(); });
  }

  /// Called before any state changes, so that the dump shows the cause. A requested abort() needs no dump.
  void dump(const Error& why) {
    if (options.recorder != nullptr && why.code != ErrorCode::Aborted) {
      options.recorder->failed(why.message, group);
    }
  }

  FlightRecorder::Ticket record_begin(const CollectiveCall& call) {
    if (group == nullptr) return {};
    const Nanoseconds now = trace_now();
    const Collective kind = call.collective;
    if (kind == Collective::SendRecv || kind == Collective::Send || kind == Collective::Recv) {
      return options.recorder->begin(
          *group, flight_messages(call, bootstrap->rank(), bootstrap->nranks()), now);
    }
    return options.recorder->begin(*group, flight_facts(call, bootstrap->nranks()), now);
  }

  void record_state(FlightRecorder::GroupState state) {
    if (group != nullptr) options.recorder->set_state(*group, state);
  }

  void record_end(const FlightRecorder::Ticket& ticket, bool is_done) {
    if (group == nullptr) return;
    options.recorder->end(ticket, is_done, has_timing ? trace_now() : Nanoseconds{});
  }

  /// Stores the cause and ends every wait of this rank.
  void break_down(const Error& why) {
    dump(why);
    record_state(FlightRecorder::GroupState::Abort);
    failure.set(why);
    turns->close();
    bootstrap->abort();
    const std::lock_guard lock(executor_mutex);
    if (executor) executor->abort();
  }

  /// Takes the executor. Failures that other ranks report from now on end its waits; the next run() finds earlier ones.
  void adopt(std::unique_ptr<Executor> made) {
    const std::lock_guard lock(executor_mutex);
    executor = std::move(made);
  }

  void abort(const Error& why) {
    break_down(why);
    watch->abort(why);
  }

  /// Lets late ranks reach the call before a dump: differing calls are found at once, when others look absent.
  void wait_for_other_ranks() {
    if (options.recorder == nullptr || !options.recorder->writes_on_failure()) return;
    bootstrap->clock().sleep(std::min<Nanoseconds>(kEvidenceWait, in_ns(options.op_timeout) / 2));
  }
  static bool is_difference(ErrorCode code) {
    return code == ErrorCode::InvalidArgument || code == ErrorCode::Corrupt;
  }

  /// Notifies the other ranks of this rank's failure, and returns the error that all ranks will report.
  Error give_up() {
    const std::lock_guard lock(give_up_mutex);
    if (is_difference(failure.get()->code)) wait_for_other_ranks();
    Error why = verdict();
    dump(why);
    if (options.recorder != nullptr) {
      options.recorder->wait_written(options.recorder->settings().dump_wait);
    }
    if (log) log->failed(why, {"engine/runtime/communicator.cpp", __LINE__, __func__});
    return why;
  }

  /// Sets the part that is being made (null: none), so that aborting this communicator also ends the part.
  void note_part(std::shared_ptr<Bootstrap> part) {
    const std::lock_guard lock(part_mutex);
    part_in_making = std::move(part);
    if (is_aborted && part_in_making) part_in_making->abort();
  }
  void abort_part() {
    const std::lock_guard lock(part_mutex);
    is_aborted = true;
    if (part_in_making) part_in_making->abort();
  }

  Error verdict() {
    Error own = *failure.get();
    // The failure may only be a consequence of ranks whose calls differ.
    if (check) own = check->look_everywhere().value_or(own);
    if (check && own.code == ErrorCode::Timeout && options.recorder != nullptr &&
        options.recorder->settings().reports_desync) {
      if (const std::string lag = check->lagging_ranks(); !lag.empty()) own.message += "; " + lag;
    }
    watch->abort(own);
    return watch->reason(deadline_in(kVerdictWait, bootstrap->clock())).value_or(own);
  }

  [[nodiscard]] LinkFaults link_faults() const {
    if (options.faults == nullptr) return {};
    return {&options.faults->plan(), name_for_faults(), options.job_ranks};
  }

  [[nodiscard]] const std::string& name_for_faults() const {
    return options.family.empty() ? options.name : options.family;
  }

  [[nodiscard]] Deadline op_deadline() const {
    return deadline_in(in_ns(options.op_timeout), bootstrap->clock());
  }

  Error give_up(const Error& why) {
    failure.set(why);
    return give_up();
  }

  /// A call that has begun and has not ended.
  struct Begun {
    FlightRecorder::Ticket ticket;
    TraceEvent event;  // event of the whole call
    bool is_captured = false;
  };

  void record(const Begun& begun) const {
    TraceEvent event = begun.event;
    event.end_ns = trace_now().count();
    lane->record(event);
  }

  Status run(const CollectiveCall& call) {
    return options.faults == nullptr ? run_one(call) : options.faults->make(caller, call);
  }

  /// Runs the calls one after the other, or concurrently if the executor has queues.
  Status run_all(const std::vector<CollectiveCall>& calls) {
    if (executor->has_queues() && options.faults == nullptr && calls.size() > 1) {
      std::vector<Begun> begun;
      const Status all = begin_all(calls, begun);
      executor->drain();
      RINGSIDE_TRY(end_all(begun));
      return all;
    }
    for (const CollectiveCall& call : calls) RINGSIDE_TRY(run(call));
    return {};
  }

  /// Runs `body` on another thread, where no caller would catch an exception.
  template <typename Body>
  Status caught(Body&& body) {
    try {
      return body();
    } catch (const std::exception& thrown) {
      return Error{ErrorCode::System,
                   fmt::format("rank {}: {}", to_int(bootstrap->rank()), thrown.what())};
    }
  }

  Status run_one(const CollectiveCall& call) {
    Begun begun;
    RINGSIDE_TRY(begin(call, begun));
    executor->flush();
    executor->drain();
    return end(begun);
  }

  /// errors  as run(); the call has not begun
  Status begin(const CollectiveCall& call, Begun& begun) {
    if (failure.happened()) return give_up();
    RINGSIDE_TRY(CallPlan* const plan, executor->plan(call));
    RINGSIDE_TRY(begun.is_captured, executor->is_captured(*plan, call));
    // From here on the call has begun: an error breaks the communicator.
    if (check) {
      const std::lock_guard lock(check_mutex);
      check->begin(call);
    }
    if (log) log->called(call, sequence, *plan);  // NCCL's opCount begins at 0
    if (!begun.is_captured) {
      begun.ticket = record_begin(call);
      if (const Status prepared = executor->prepare(*plan); !prepared) {
        Error why = give_up(prepared.error());
        record_end(begun.ticket, false);
        return why;
      }
      if (has_timing) options.recorder->start(begun.ticket, trace_now());
      if (lane != nullptr) {
        begun.event = plan->event;
        begun.event.kind = EventKind::Collective;
        begun.event.sequence = sequence + 1;
        begun.event.begin_ns = trace_now().count();
        begun.event.bytes = plan->bytes.value;
      }
    }
    executor->run(*plan, call, ++sequence);
    return {};
  }

  /// Ends the call after the executor has drained.
  Status end(const Begun& begun) {
    if (begun.is_captured) return failure.happened() ? Status(give_up()) : Status();
    if (lane != nullptr) record(begun);
    if (check && !failure.happened()) {
      const std::lock_guard lock(check_mutex);
      if (const auto why = check->look()) failure.set(*why);
    }
    if (failure.happened()) {
      Error why = give_up();
      record_end(begun.ticket, false);
      return why;
    }
    record_end(begun.ticket, true);
    return {};
  }

  /// errors  of the first call that does not begin; the calls before it have begun
  Status begin_all(const std::vector<CollectiveCall>& calls, std::vector<Begun>& begun) {
    Status all;
    for (const CollectiveCall& call : calls) {
      Begun one;
      all = begin(call, one);
      if (!all) break;
      begun.push_back(one);
    }
    executor->flush();
    return all;
  }

  /// errors  of the first call that failed
  Status end_all(const std::vector<Begun>& begun) {
    Status all;
    for (const Begun& one : begun) {
      const Status ended = end(one);
      if (all) all = ended;
    }
    return all;
  }

  /// Begins the calls on the caller's thread, in order; the keeper's thread waits for them.
  Status begin_on_device(const std::vector<CollectiveCall>& calls) {
    const std::uint64_t turn = turns->take();
    if (!turns->begin(turn)) {
      return refused.get().value_or(
          failure.get().value_or(Error{ErrorCode::Aborted, "the communicator was aborted"}));
    }
    auto begun = std::make_shared<std::vector<Begun>>();
    Status all;
    if (options.faults == nullptr) {
      all = begin_all(calls, *begun);
    } else {
      all = run_all(calls);  // faults apply between calls, so each call is waited for
    }
    turns->finish();
    std::erase_if(*begun, [](const Begun& one) { return one.is_captured; });
    if (!begun->empty()) {
      keeper.push([this, begun] {
        const Status ended = caught([&] {
          executor->drain();
          return end_all(*begun);
        });
        if (!ended) turns->close();
      });
    }
    return all;
  }
};

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::~Communicator() = default;

Result<std::unique_ptr<Communicator>> Communicator::make(std::shared_ptr<Bootstrap> bootstrap,
                                                         const CommunicatorOptions& options) {
  return make(std::move(bootstrap), options, [host = options.host](const ExecutorSetup& setup) {
    return make_host_executor(host, setup);
  });
}

Result<std::unique_ptr<Communicator>> Communicator::make(std::shared_ptr<Bootstrap> bootstrap,
                                                         const CommunicatorOptions& options,
                                                         const ExecutorMaker& make_executor) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->bootstrap = std::move(bootstrap);
  impl->make_executor = make_executor;
  const Deadline deadline = deadline_in(in_ns(options.connect_timeout), impl->bootstrap->clock());
  // The watch starts first, so that the death of a rank during connecting is reported with its number.
  RINGSIDE_TRY(
      impl->watch,
      Watch::start(
          *impl->bootstrap, [raw = impl.get()](const Error& why) { raw->break_down(why); },
          [raw = impl.get()](Watch::Side from, std::uint64_t number, const CallSignature& call) {
            raw->reported.note(from, number, call);
          },
          [raw = impl.get()] {
            raw->dump({ErrorCode::PeerGone, std::string(kOtherCallFailed)});
          }));
  if (options.job_rank) {
    RINGSIDE_TRY(impl->options.job_ranks,
                 gather_job_ranks(*impl->bootstrap, *options.job_rank, deadline));
  }
  impl->join_recorder();
  impl->log = CommunicatorLog::make(impl.get(), impl->bootstrap->rank(), impl->bootstrap->nranks());
  if (impl->log) impl->log->started(impl->watch->job());
  auto executor = make_executor({.bootstrap = *impl->bootstrap,
                                 .failure = impl->failure,
                                 .deadline = deadline,
                                 .connect_timeout = in_ns(options.connect_timeout),
                                 .op_timeout = in_ns(options.op_timeout),
                                 .settings = options.settings,
                                 .faults = impl->link_faults(),
                                 .trace = options.trace,
                                 .trace_number = options.trace_number,
                                 .log = impl->log.get()});
  if (!executor) return impl->give_up(executor.error());
  impl->adopt(*std::move(executor));
  auto check = CallCheck::make(*impl->bootstrap, host_identity(), options.check_calls, deadline,
                               *impl->watch, impl->reported, [raw = impl.get()](const Error& why) {
                                 raw->wait_for_other_ranks();
                                 raw->abort(why);
                               });
  if (!check) return impl->give_up(check.error());
  impl->check = *std::move(check);
  if (options.trace != nullptr) impl->lane = options.trace->add_lane();
  impl->caller = {
      .who = impl.get(),
      .on = impl->name_for_faults(),
      .nranks = impl->bootstrap->nranks(),
      .failure = &impl->failure,
      .clock = &impl->bootstrap->clock(),
      .run = [raw = impl.get()](const CollectiveCall& call) { return raw->run_one(call); }};
  auto meeting = MeetingPlaces::agree(*impl->bootstrap, deadline);
  if (!meeting) return impl->give_up(meeting.error());
  impl->meeting = *std::move(meeting);
  impl->record_state(FlightRecorder::GroupState::Running);
  if (impl->log) impl->log->completed();
  return std::unique_ptr<Communicator>(new Communicator(std::move(impl)));
}

Status Communicator::run(const CollectiveCall& call) { return impl_->run(call); }
Status Communicator::run_all(const std::vector<CollectiveCall>& calls) {
  return impl_->run_all(calls);
}

Result<std::unique_ptr<Communicator>> Communicator::split(std::optional<int> color, int key,
                                                          const std::string& description,
                                                          const std::string& family) {
  if (impl_->failure.happened()) return impl_->give_up();
  const CommunicatorOptions& options = impl_->options;
  auto part = ringside::split(*impl_->bootstrap, color, key, impl_->op_deadline(),
                              in_ns(options.connect_timeout));
  if (!part) return impl_->give_up(part.error());
  ++impl_->splits;
  if (!*part) return std::unique_ptr<Communicator>();
  CommunicatorOptions own = options_of_part(options, (*part)->ranks);
  own.name = fmt::format("{}/{}.{}", options.name, impl_->splits, *color);
  own.trace_number =
      trace_number_of_part(own, options, impl_->splits, nranks(), (*part)->ranks.front());
  own.description = description;
  own.family = family;
  return make_part(std::move((*part)->bootstrap), own);
}

Result<std::unique_ptr<Communicator>> Communicator::shrink(const std::vector<Rank>& without) {
  std::vector<Rank> left;
  for (int rank = 0; rank < nranks(); ++rank) {
    if (std::ranges::find(without, Rank{rank}) == without.end()) left.push_back(Rank{rank});
  }
  const bool are_ranks = std::ranges::all_of(
      without, [&](Rank rank) { return to_int(rank) >= 0 && to_int(rank) < nranks(); });
  if (!are_ranks || std::ranges::find(left, rank()) == left.end()) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("rank {} of {} excludes itself, or a rank that does not exist",
                             to_int(rank()), nranks()),
                 "exclude other ranks of the communicator only"};
  }
  impl_->turns->wait_all();
  RINGSIDE_TRY(SplitPart part,
               impl_->meeting.meet(*impl_->bootstrap, left, in_ns(impl_->options.connect_timeout)));
  CommunicatorOptions own = options_of_part(impl_->options, part.ranks);
  own.name = fmt::format("{}/s{}", impl_->options.name, ++impl_->shrinks);
  own.trace_number = trace_number_of_name(own.name);
  own.family.clear();
  return make_part(std::move(part.bootstrap), own);
}

Result<std::unique_ptr<Communicator>> Communicator::make_part(std::shared_ptr<Bootstrap> bootstrap,
                                                              const CommunicatorOptions& options) {
  impl_->note_part(bootstrap);
  auto made = make(std::move(bootstrap), options, impl_->make_executor);
  impl_->note_part(nullptr);
  return made;
}

Status Communicator::enqueue(CollectiveCall call, HostStream& stream) {
  std::vector<CollectiveCall> calls;
  calls.push_back(std::move(call));
  return enqueue(std::move(calls), stream);
}

Status Communicator::enqueue(std::vector<CollectiveCall> calls, HostStream& stream) {
  if (auto error = async_error()) return *std::move(error);
  const std::uint64_t turn = impl_->turns->take();
  stream.push([impl = impl_.get(), turns = impl_->turns, turn, calls = std::move(calls)] {
    if (!turns->begin(turn)) return;
    if (const Status made = impl->caught([&] { return impl->run_all(calls); }); !made) {
      impl->refused.set(made.error());
      // Other ranks may not have seen the failure: their later calls would not match this rank's.
      turns->close();
    }
    turns->finish();
  });
  return {};
}

Status Communicator::enqueue(std::vector<CollectiveCall> calls, DeviceStream stream) {
  if (auto error = async_error()) return *std::move(error);
  if (!impl_->executor->has_queues()) {
    return Error{ErrorCode::Unsupported,
                 fmt::format("cannot enqueue calls over {} on a CUDA stream", transport()),
                 "use a communicator whose ranks are processes with a GPU each"};
  }
  for (CollectiveCall& call : calls) call.stream = stream;
  return impl_->begin_on_device(calls);
}

bool Communicator::is_prepared(const std::vector<CollectiveCall>& calls) const {
  return std::ranges::all_of(calls, [&](const CollectiveCall& call) {
    const Result<CallPlan*> plan = impl_->executor->plan(call);
    return plan && impl_->executor->is_prepared(**plan);
  });
}

Status Communicator::prepare(const std::vector<CollectiveCall>& calls) {
  for (const CollectiveCall& call : calls) {
    if (impl_->failure.happened()) return impl_->give_up();
    RINGSIDE_TRY(CallPlan* const plan, impl_->executor->plan(call));
    if (const Status done = impl_->executor->prepare(*plan); !done) {
      return impl_->give_up(done.error());
    }
  }
  return {};
}

std::optional<Error> Communicator::async_error() const {
  impl_->executor->look();
  if (auto refused = impl_->refused.get()) return refused;
  return impl_->failure.get();
}

void Communicator::abort(const Error& why) {
  impl_->abort_part();
  impl_->abort(why);
}

FlightRecorder::Ticket Communicator::record_message(const FlightFacts& message) {
  if (impl_->group == nullptr) return {};
  return impl_->options.recorder->begin_unordered(*impl_->group.load(), message, trace_now());
}

Status Communicator::finish() {
  impl_->turns->wait_all();
  impl_->keeper.synchronize();
  impl_->executor->look();
  impl_->record_state(FlightRecorder::GroupState::Finalize);
  if (impl_->check) impl_->check->leave();
  RINGSIDE_TRY(barrier());  // messages would not pass a rank that has left; its calls are all begun
  impl_->unreceived = impl_->check ? impl_->check->unreceived() : UnreceivedMessages{};
  if (const auto why = impl_->check ? impl_->check->look_everywhere() : std::nullopt) {
    return impl_->give_up(*why);
  }
  impl_->watch->goodbye();
  if (impl_->log) impl_->log->destroyed();
  return {};
}

std::optional<UnreceivedMessages> Communicator::unreceived() const { return impl_->unreceived; }

Result<std::vector<std::byte>> Communicator::all_gather_bytes(std::span<const std::byte> mine) {
  auto all = impl_->bootstrap->all_gather(mine, impl_->op_deadline());
  if (all) return all;
  return impl_->give_up(all.error());
}

Result<int> Communicator::register_buffer(void* base, Bytes size) {
  const Result<int> number = impl_->executor->register_buffer(base, size);
  return number ? number : Result<int>(impl_->give_up(number.error()));
}

void Communicator::deregister_buffer(int number) { impl_->executor->deregister_buffer(number); }
const std::string& Communicator::name() const { return impl_->options.name; }
Rank Communicator::rank() const { return impl_->bootstrap->rank(); }
int Communicator::nranks() const { return impl_->bootstrap->nranks(); }
Result<Choice> Communicator::choose(const CollectiveCall& call) const {
  return impl_->executor->choose(call);
}
void Communicator::set_settings(const CallSettings& settings) {
  impl_->executor->set_settings(settings);
}
const HostLayout& Communicator::layout() const { return impl_->executor->layout(); }
std::map<std::string, int> Communicator::connection_types() const {
  return impl_->executor->connection_types();
}

}  // namespace ringside::runtime
