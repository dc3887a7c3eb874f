#include "engine/runtime/communicator.h"

#include <fmt/format.h>

#include <mutex>
#include <thread>
#include <utility>

#include "engine/collectives/plan.h"
#include "engine/runtime/bootstrap.h"
#include "engine/runtime/channel_workers.h"
#include "engine/runtime/failure.h"
#include "engine/runtime/host_primitives.h"
#include "engine/runtime/watch.h"
#include "trace/clock.h"
#include "trace/recorder.h"

namespace ringside {
namespace {

/// How long a rank that has noticed something waits for the word of who noticed first.
constexpr std::chrono::milliseconds kVerdictWait{1000};

Nanoseconds in_ns(Seconds time) { return std::chrono::duration_cast<Nanoseconds>(time); }

bool reduces(Collective collective) {
  return collective == Collective::AllReduce || collective == Collective::ReduceScatter ||
         collective == Collective::Reduce;
}

}  // namespace

struct Communicator::Impl {
  CommunicatorOptions options;
  HostOverrides overrides;
  std::unique_ptr<Bootstrap> bootstrap;
  Channels channels;
  WaitPolicy wait;
  std::mutex ends_mutex;          // between adopt() and the watch's thread
  std::vector<ChannelEnds> ends;  // [channel]; set once
  std::string transport;
  std::vector<TraceLane*> lanes;  // by channel; null where nothing is recorded
  Failure failure;
  std::uint32_t sequence = 0;
  std::unique_ptr<ChannelWorkers> workers;
  std::unique_ptr<Watch> watch;  // last: its callback uses what stands above

  /// Notes why, and lets every wait of this rank end.
  void break_down(const Error& why) {
    failure.set(why);
    bootstrap->abort();
    const std::lock_guard lock(ends_mutex);
    for (const ChannelEnds& end : ends) {
      if (end.send) end.send->abort();
      if (end.recv) end.recv->abort();
    }
  }

  /// Takes what has been connected. From here on a failure that others report ends the waits on it; one
  /// that came before is found by the next run().
  void adopt(ConnectedRings rings) {
    const std::lock_guard lock(ends_mutex);
    ends = std::move(rings.channels);
    transport = std::move(rings.transport);
  }

  /// Tells the other ranks of this rank's failure, and returns what all of them will say.
  Error give_up() {
    const Error own = *failure.get();
    watch->abort(own);
    const auto until = std::chrono::steady_clock::now() + kVerdictWait;
    while (std::chrono::steady_clock::now() < until) {
      if (const auto reason = watch->reason()) return *reason;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return own;
  }

  [[nodiscard]] TraceEvent event_of(const Choice& choice) const {
    TraceEvent event;
    event.sequence = sequence;
    event.rank = to_int(bootstrap->rank());
    event.collective = choice.collective;
    event.algorithm = choice.algorithm;
    event.protocol = choice.protocol;
    return event;
  }

  void run_on(int channel, const ChannelTask& task, const CollectiveCall& call,
              const ReduceOp* reduce, TraceEvent event) {
    const ChannelEnds& end = ends[static_cast<std::size_t>(channel)];
    event.channel = static_cast<std::uint16_t>(channel);
    event.recv_peer = to_int(end.previous);
    event.send_peer = to_int(end.next);
    HostPrimitives primitives({.map = &task.map,
                               .send = end.send.get(),
                               .recv = end.recv.get(),
                               .input = static_cast<const std::byte*>(call.input),
                               .output = static_cast<std::byte*>(call.output),
                               .element = size_of(call.type),
                               .reduce = reduce,
                               .wait = &wait,
                               .failure = &failure,
                               .lane = lanes[static_cast<std::size_t>(channel)],
                               .recorder = options.trace,
                               .event = event});
    run_channel(primitives, task);
    primitives.drain();
  }

  Status run(const CollectiveCall& call) {
    if (failure.happened()) return give_up();
    std::optional<ReduceOp> reduce;
    if (reduces(call.collective)) {
      RINGSIDE_TRY(reduce, make_reduce_op(call.type, call.op, bootstrap->nranks(), call.scalar));
    }
    const CallShape shape{.count = call.count, .type = call.type, .root = call.root};
    RINGSIDE_TRY(
        const Choice choice,
        choose_host(call.collective, call_bytes(call.collective, shape, bootstrap->nranks()),
                    bootstrap->nranks(), overrides));
    RINGSIDE_TRY(check_reduction(choice.collective, choice.algorithm, call.type, call.op));
    RINGSIDE_TRY(const std::vector<ChannelTask> tasks,
                 plan_channels(choice, channels, shape, bootstrap->rank()));
    if (!is_ring_task(tasks.front())) {
      return Error{ErrorCode::Unsupported,
                   fmt::format("hosts have no {} by {}", to_string(choice.collective),
                               to_string(choice.algorithm)),
                   "they run the ring algorithms"};
    }

    TraceEvent event = event_of(choice);
    const std::int64_t begin_ns = lanes[0] != nullptr ? trace_now().count() : 0;
    workers->run(choice.nchannels, [&](int channel) {
      run_on(channel, tasks[static_cast<std::size_t>(channel)], call, reduce ? &*reduce : nullptr,
             event);
    });
    if (lanes[0] != nullptr) {
      event.kind = EventKind::Collective;
      event.begin_ns = begin_ns;
      event.end_ns = trace_now().count();
      event.bytes = call_bytes(call.collective, shape, bootstrap->nranks()).value;
      lanes[0]->record(event);
    }
    ++sequence;
    if (failure.happened()) return give_up();
    return {};
  }
};

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::~Communicator() = default;

Result<std::unique_ptr<Communicator>> Communicator::make(std::unique_ptr<Bootstrap> bootstrap,
                                                         const CommunicatorOptions& options) {
  auto impl = std::make_unique<Impl>();
  const int n = bootstrap->nranks();
  impl->options = options;
  impl->bootstrap = std::move(bootstrap);
  if (options.nchannels != 0) impl->overrides.nchannels = options.nchannels;
  if (options.slot.value != 0) impl->overrides.slot = options.slot;
  // What any call will use at most: the choice for a large one.
  RINGSIDE_TRY(const Choice most, choose_host(Collective::AllReduce, 1_GiB, n, impl->overrides));
  impl->channels = host_channels(n, most.nchannels);

  const Deadline deadline = deadline_in(in_ns(options.connect_timeout));
  // The watch comes first, so that a rank that dies while the others connect is known by its name.
  RINGSIDE_TRY(impl->watch,
               Watch::start(*impl->bootstrap, deadline,
                            [raw = impl.get()](const Error& why) { raw->break_down(why); }));
  auto rings = connect_rings(*impl->bootstrap, impl->channels, options.transport, most.slot,
                             deadline, impl->failure, most.protocol);
  if (!rings) {
    impl->failure.set(rings.error());
    return impl->give_up();
  }
  impl->adopt(*std::move(rings));
  impl->wait =
      wait_policy(n * most.nchannels, static_cast<int>(std::thread::hardware_concurrency()));
  impl->wait.deadline = in_ns(options.op_timeout);
  for (int channel = 0; channel < most.nchannels; ++channel) {
    impl->lanes.push_back(options.trace != nullptr ? options.trace->add_lane() : nullptr);
  }
  impl->workers = std::make_unique<ChannelWorkers>(most.nchannels);
  return std::unique_ptr<Communicator>(new Communicator(std::move(impl)));
}

Status Communicator::run(const CollectiveCall& call) { return impl_->run(call); }

void Communicator::abort(const Error& why) {
  impl_->break_down(why);
  impl_->watch->abort(why);
}

Status Communicator::finish() {
  RINGSIDE_TRY(barrier());  // news would not pass a rank that has left
  impl_->watch->goodbye();
  return {};
}

Result<std::vector<std::byte>> Communicator::all_gather_bytes(std::span<const std::byte> mine) {
  auto all = impl_->bootstrap->all_gather(mine, deadline_in(in_ns(impl_->options.op_timeout)));
  if (all) return all;
  impl_->failure.set(all.error());
  return impl_->give_up();
}

Status Communicator::barrier() {
  RINGSIDE_TRY([[maybe_unused]] const std::vector<std::byte> nothing, all_gather_bytes({}));
  return {};
}

Rank Communicator::rank() const { return impl_->bootstrap->rank(); }
int Communicator::nranks() const { return impl_->bootstrap->nranks(); }

const std::string& Communicator::transport() const { return impl_->transport; }

}  // namespace ringside
