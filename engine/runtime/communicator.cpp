#include "engine/runtime/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/collectives/plan.h"
#include "engine/runtime/bootstrap.h"
#include "engine/runtime/call_check.h"
#include "engine/runtime/channel_workers.h"
#include "engine/runtime/failure.h"
#include "engine/runtime/host_identity.h"
#include "engine/runtime/host_primitives.h"
#include "engine/runtime/watch.h"
#include "trace/clock.h"
#include "trace/recorder.h"

namespace ringside {
namespace {

/// How long a rank that has noticed something waits for the word of who noticed first.
constexpr std::chrono::milliseconds kVerdictWait{1000};

Nanoseconds in_ns(Seconds time) { return std::chrono::duration_cast<Nanoseconds>(time); }

/// Whether no rank's own share of the result is anything but its input.
bool copies(Collective collective) {
  return collective == Collective::AllGather || collective == Collective::AllGatherV ||
         collective == Collective::Broadcast;
}

CallShape shape_of(const CollectiveCall& call) {
  return {.count = call.count,
          .type = call.type,
          .root = call.root,
          .counts = call.counts,
          .sends = call.sends,
          .recvs = call.recvs};
}

}  // namespace

struct Communicator::Impl {
  CommunicatorOptions options;
  std::unique_ptr<Bootstrap> bootstrap;
  Failure failure;
  std::mutex connections_mutex;  // between make() and the watch's thread
  std::unique_ptr<Connections> connections;
  HostTable table;
  WaitPolicy wait;
  std::vector<TraceLane*> lanes;  // by channel; empty where nothing is recorded
  HostPlans plans;
  std::uint32_t sequence = 0;
  ChannelWorkers workers;
  ToldCalls told;
  std::unique_ptr<Watch> watch;      // its callback uses what stands above
  std::unique_ptr<CallCheck> check;  // last: it uses all; null where calls are not checked

  /// Notes why, and lets every wait of this rank end.
  void break_down(const Error& why) {
    failure.set(why);
    bootstrap->abort();
    const std::lock_guard lock(connections_mutex);
    if (connections) connections->abort();
  }

  /// From here on a failure that others report ends the waits on the connections; one that came before is
  /// found by the next run().
  void adopt(std::unique_ptr<Connections> made) {
    const std::lock_guard lock(connections_mutex);
    connections = std::move(made);
  }

  void abort(const Error& why) {
    break_down(why);
    watch->abort(why);
  }

  /// Tells the other ranks of this rank's failure, and returns what all of them will say.
  Error give_up() {
    Error own = *failure.get();
    // What went wrong may be no more than what comes of ranks that call differently.
    if (check) own = check->look_everywhere().value_or(own);
    watch->abort(own);
    const auto until = std::chrono::steady_clock::now() + kVerdictWait;
    while (std::chrono::steady_clock::now() < until) {
      if (const auto reason = watch->reason()) return *reason;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return own;
  }

  [[nodiscard]] TraceEvent event_of(const HostPlan& plan) const {
    TraceEvent event;
    event.rank = to_int(bootstrap->rank());
    event.collective = plan.choice.collective;
    event.algorithm = plan.choice.algorithm;
    event.protocol = plan.choice.protocol;
    event.is_modelled = is_modelled(plan.choice.algorithm);
    return event;
  }

  TraceLane* lane_of(int channel) {
    if (options.trace == nullptr) return nullptr;
    while (static_cast<int>(lanes.size()) <= channel) lanes.push_back(options.trace->add_lane());
    return lanes[static_cast<std::size_t>(channel)];
  }

  [[nodiscard]] Result<Choice> choose(const CollectiveCall& call, Bytes bytes) const {
    const HostLayout& layout = connections->layout();
    return choose_on_host({.collective = call.collective,
                           .bytes = bytes,
                           .nranks = bootstrap->nranks(),
                           .is_crowded = layout.is_crowded,
                           .has_tcp = layout.transport != "shm",
                           .cache = layout.cache,
                           .type = call.type,
                           .op = call.op},
                          options.wishes, table);
  }

  /// All ranks must choose alike, so they take their own table only where all have the same.
  Status agree_on_table(Deadline deadline) {
    RINGSIDE_TRY(table, load_host_table(options.table_path));
    const std::size_t mine = std::hash<std::string>{}(to_yaml(table));
    RINGSIDE_TRY(const std::vector<std::byte> all,
                 bootstrap->all_gather(std::as_bytes(std::span(&mine, 1)), deadline));
    for (std::size_t i = 0; i < all.size(); i += sizeof mine) {
      if (std::memcmp(all.data() + i, &mine, sizeof mine) != 0) table = usual_host_table();
    }
    return {};
  }

  [[nodiscard]] int ranks_per_node(Algorithm algorithm) const {
    if (options.ranks_per_node != 0) return options.ranks_per_node;
    const int of_hosts = connections->layout().ranks_per_node;
    if (of_hosts != 0 || !needs_nodes(algorithm)) return of_hosts;
    return played_ranks_per_node(bootstrap->nranks());
  }

  /// All that there is to do before the call's first byte moves, but for its connections.
  Result<std::unique_ptr<HostPlan>> make_plan(const CollectiveCall& call) {
    auto plan = std::make_unique<HostPlan>();
    plan->call = call;
    const int n = bootstrap->nranks();
    if (is_reduction(call.collective)) {
      RINGSIDE_TRY(plan->reduce, make_reduce_op(call.type, call.op, n, call.scalar));
    }
    const CallShape shape = shape_of(call);
    plan->bytes = call_bytes(call.collective, shape, n);
    RINGSIDE_TRY(plan->choice, choose(call, plan->bytes));
    const Channels channels =
        host_channels(n, plan->choice.nchannels, ranks_per_node(plan->choice.algorithm));
    RINGSIDE_TRY(plan->tasks, plan_channels(plan->choice, channels, shape, bootstrap->rank()));
    return plan;
  }

  /// Connects what the plan's ports lead to. Failing here breaks the communicator: others are on their way.
  Status connect(HostPlan& plan) {
    const Choice& choice = plan.choice;
    const Rank me = bootstrap->rank();
    std::vector<ConnectionId> wanted;
    for (int channel = 0; channel < choice.nchannels; ++channel) {
      const auto ids = connections_of(plan.tasks[static_cast<std::size_t>(channel)], me, channel,
                                      choice.protocol, choice.slot);
      wanted.insert(wanted.end(), ids.begin(), ids.end());
    }
    RINGSIDE_TRY(connections->connect(wanted, deadline_in(in_ns(options.op_timeout))));
    for (int channel = 0; channel < choice.nchannels; ++channel) {
      plan.ports.push_back(ports_of(plan.tasks[static_cast<std::size_t>(channel)], me, channel,
                                    choice.protocol, choice.slot, *connections));
    }
    TraceEvent event = event_of(plan);
    for (int channel = 0; channel < choice.nchannels; ++channel) {
      const auto index = static_cast<std::size_t>(channel);
      event.channel = static_cast<std::uint16_t>(channel);
      plan.models.emplace_back(HostPrimitives::Setup{
          .map = &plan.tasks[index].map,
          .ports = &plan.ports[index],
          .slot = choice.slot,
          .element = size_of(plan.call.type),
          .reduce = plan.reduce ? &*plan.reduce : nullptr,
          // What is larger than the caches leaves them before it is read again.
          .is_streaming = plan.bytes >= connections->layout().cache * 2,
          .returns_results = choice.algorithm == Algorithm::TwoShot,
          .keeps_input = choice.algorithm == Algorithm::TwoShot || copies(plan.call.collective),
          .wait = &wait,
          .failure = &failure,
          .lane = lane_of(channel),
          .recorder = options.trace,
          .event = event});
    }
    return {};
  }

  /// From here on the call has begun: what fails breaks the communicator.
  Result<HostPlan*> plan_for(const CollectiveCall& call) {
    if (HostPlan* plan = plans.find(call)) {
      if (check) check->begin(call);
      return plan;
    }
    RINGSIDE_TRY(std::unique_ptr<HostPlan> plan, make_plan(call));
    if (check) check->begin(call);
    if (Status connected = connect(*plan); !connected) {
      failure.set(connected.error());
      return give_up();
    }
    return &plans.keep(std::move(plan));
  }

  void run_channel_of(HostPlan& plan, int channel, const CollectiveCall& call) {
    const auto index = static_cast<std::size_t>(channel);
    HostPrimitives& model = plan.models[index];
    model.restart(call.input, call.output, sequence);
    run_channel(model, plan.tasks[index]);
    model.drain();
  }

  Status run(const CollectiveCall& call) {
    if (failure.happened()) return give_up();
    RINGSIDE_TRY(HostPlan* const plan, plan_for(call));
    const std::int64_t begin_ns = options.trace != nullptr ? trace_now().count() : 0;
    if (plan->choice.nchannels == 1) {
      run_channel_of(*plan, 0, call);
    } else {
      workers.run(plan->choice.nchannels,
                  [&](int channel) { run_channel_of(*plan, channel, call); });
    }
    if (options.trace != nullptr) {
      TraceEvent event = event_of(*plan);
      event.kind = EventKind::Collective;
      event.sequence = sequence;
      event.begin_ns = begin_ns;
      event.end_ns = trace_now().count();
      event.bytes = plan->bytes.value;
      lanes[0]->record(event);
    }
    ++sequence;
    if (check && !failure.happened()) {
      if (const auto why = check->look()) failure.set(*why);
    }
    if (failure.happened()) return give_up();
    return {};
  }
};

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::~Communicator() = default;

Result<std::unique_ptr<Communicator>> Communicator::make(std::unique_ptr<Bootstrap> bootstrap,
                                                         const CommunicatorOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->bootstrap = std::move(bootstrap);
  const Deadline deadline = deadline_in(in_ns(options.connect_timeout));
  // The watch comes first, so that a rank that dies while the others connect is known by its name.
  RINGSIDE_TRY(impl->watch, Watch::start(
                                *impl->bootstrap, deadline,
                                [raw = impl.get()](const Error& why) { raw->break_down(why); },
                                [raw = impl.get()](Watch::Side from, std::uint64_t number,
                                                   const CallSignature& call) {
                                  raw->told.note(from, number, call);
                                }));
  if (Status agreed = impl->agree_on_table(deadline); !agreed) {
    impl->failure.set(agreed.error());
    return impl->give_up();
  }
  auto connections =
      Connections::make(*impl->bootstrap, options.transport, impl->failure, deadline);
  if (!connections) {
    impl->failure.set(connections.error());
    return impl->give_up();
  }
  impl->adopt(*std::move(connections));
  auto check = CallCheck::make(*impl->bootstrap, host_identity(), options.check_calls, deadline,
                               *impl->watch, impl->told,
                               [raw = impl.get()](const Error& why) { raw->abort(why); });
  if (!check) {
    impl->failure.set(check.error());
    return impl->give_up();
  }
  impl->check = *std::move(check);
  const HostLayout& layout = impl->connections->layout();
  impl->wait =
      wait_policy(layout.local_ranks * std::max(1, options.wishes.nchannels), layout.local_cores);
  impl->wait.deadline = in_ns(options.op_timeout);
  return std::unique_ptr<Communicator>(new Communicator(std::move(impl)));
}

Status Communicator::run(const CollectiveCall& call) { return impl_->run(call); }

void Communicator::abort(const Error& why) { impl_->abort(why); }

Status Communicator::finish() {
  RINGSIDE_TRY(barrier());  // news would not pass a rank that has left
  // By now everybody has begun its last call.
  if (const auto why = impl_->check ? impl_->check->look_everywhere() : std::nullopt) {
    impl_->failure.set(*why);
    return impl_->give_up();
  }
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

Result<Choice> Communicator::choose(const CollectiveCall& call) const {
  return impl_->choose(call, call_bytes(call.collective, shape_of(call), nranks()));
}

void Communicator::set_wishes(const HostWishes& wishes) {
  impl_->options.wishes = wishes;
  impl_->plans = {};
}

const std::string& Communicator::transport() const { return layout().transport; }
const HostLayout& Communicator::layout() const { return impl_->connections->layout(); }

}  // namespace ringside
