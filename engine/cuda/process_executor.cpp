#include "engine/cuda/process_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/collectives/plan.h"
#include "engine/cuda/cuda_choice.h"
#include "engine/cuda/device/kernel_collective.h"
#include "engine/cuda/direct_plan.h"
#include "engine/cuda/launch_batch.h"
#include "engine/cuda/links/process_links.h"
#include "engine/cuda/links/process_windows.h"
#include "engine/cuda/links/proxy_server.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/host/communicator_log.h"
#include "engine/runtime/host/host_choice.h"
#include "engine/runtime/host/host_ports.h"
#include "engine/runtime/host/progress_in_dump.h"
#include "trace/clock.h"
#include "trace/recorder.h"

namespace ringside {
namespace {

struct ProcessPlan : CallPlan, std::enable_shared_from_this<ProcessPlan> {
  std::optional<ReduceOp> reduce;
  std::vector<ChannelTask> tasks;    ///< [channel]
  std::vector<DirectStores> direct;  ///< [channel]; empty: none
  DeviceGrid grid;                   ///< has no blocks before prepare()
  bool has_proxies = false;
};

/// A call of a launch. Its plan is kept until the launch has ended.
struct LaunchedCall {
  std::shared_ptr<const ProcessPlan> plan;
  std::uint32_t sequence = 0;
};

struct UnderWay {
  DeviceQueue::Ticket ticket = 0;
  std::vector<LaunchedCall> calls;
};

class CudaProcessExecutor final : public Executor {
 public:
  CudaProcessExecutor(const CudaDevice& device, const ExecutorSetup& setup,
                      std::unique_ptr<ProcessLinks> links, std::unique_ptr<ProcessWindows> windows)
      : device_(device),
        setup_(setup),
        links_(std::move(links)),
        windows_(std::move(windows)),
        layout_(links_->layout()),
        wait_(wait_policy(2 * layout_.local_ranks, layout_.local_cores)) {
    layout_.transport = "cuda+" + layout_.transport;
    wait_.deadline = setup.op_timeout;
    wait_.clock = &setup.bootstrap.clock();
    if (setup.trace != nullptr) lane_ = setup.trace->add_lane();
    proxies_.emplace(setup.failure, wait_, [this](const Error& error) { fail(error); });
  }

  [[nodiscard]] Result<Choice> choose(const CollectiveCall& call) const override {
    return choose_on_gpu({.collective = call.collective,
                          .bytes = bytes_to_choose_by(call, nranks()),
                          .nranks = nranks(),
                          .sharing = links_->ranks_per_gpu(),
                          .keeps_lines = links_->keeps_lines(),
                          .multiprocessors = device_.multiprocessors,
                          .type = call.type,
                          .op = call.op,
                          .has_switch = links_->has_switch(),
                          .ranks_per_node = layout_.ranks_per_node},
                         setup_.settings);
  }

  Result<CallPlan*> plan(const CollectiveCall& call) override {
    const auto known =
        std::ranges::find_if(plans_, [&](const auto& plan) { return is_alike(plan->call, call); });
    if (known != plans_.end()) return known->get();
    RINGSIDE_TRY(std::shared_ptr<ProcessPlan> fresh, make_plan(call));
    // A dropped plan keeps its device memory until that is released as a whole, because a launch or a graph may still
    // use it.
    if (plans_.size() == kMostKept) plans_.erase(plans_.begin());
    plans_.push_back(std::move(fresh));
    return plans_.back().get();
  }

  Status prepare(CallPlan& plan) override {
    auto& mine = static_cast<ProcessPlan&>(plan);
    return mine.grid.blocks == nullptr ? lay(mine) : Status{};
  }

  void run(CallPlan& plan, const CollectiveCall& call, std::uint32_t sequence) override {
    auto& mine = static_cast<ProcessPlan&>(plan);
    // The kernels of a plan record events in one place, which is read before it is written again.
    if (lane_ != nullptr && is_under_way(mine)) {
      flush();
      drain();
    }
    const DeviceBuffers buffers{static_cast<const std::byte*>(call.input),
                                static_cast<std::byte*>(call.output)};
    const CallRanges ranges = ranges_of(call, me(), nranks());
    const Collective kernel = kernel_collective(plan.choice.collective);
    DeviceGrid grid = mine.grid;
    if (!mine.direct.empty()) grid.window = windows_->window_of(ranges.writes);
    if (!batch_.add(grid, buffers, kernel, call.stream, ranges)) {
      flush();
      batch_.add(grid, buffers, kernel, call.stream, ranges);
    }
    gathered_.push_back({mine.shared_from_this(), sequence});
  }

  void flush() override {
    if (batch_.is_empty()) return;
    if (setup_.failure.happened()) {  // after a failure no call begins
      batch_.clear();
      gathered_.clear();
      return;
    }
    DeviceLaunch launch = batch_.launch();
    launch.is_one_gpu = 0;
    std::vector<LaunchedCall> calls = std::exchange(gathered_, {});
    // Before the launch, because another thread may drain at once.
    proxies_->begin();
    const auto begun = device_.queue->begin(launch, batch_.kernel(), batch_.stream());
    batch_.clear();
    const std::lock_guard lock(mutex_);
    if (begun && *begun != DeviceQueue::kCaptured) {
      under_way_.push_back({*begun, std::move(calls)});
      return;
    }
    proxies_->end();
    if (begun) {
      captured_.insert(captured_.end(), calls.begin(), calls.end());
    } else {
      fail(begun.error());
    }
  }

  void drain() override {
    const std::lock_guard draining(drain_mutex_);
    for (;;) {
      UnderWay* first = nullptr;
      {
        const std::lock_guard lock(mutex_);
        if (under_way_.empty()) break;
        first = &under_way_.front();  // elements of a deque stay in place while others are appended
      }
      const Status done = finish(*first);
      if (!done) fail(done.error());  // before the proxies look for more work
      proxies_->end();
      const std::lock_guard lock(mutex_);
      under_way_.pop_front();
    }
    proxies_->finish();
  }

  [[nodiscard]] bool has_queues() const override { return true; }

  [[nodiscard]] bool is_prepared(const CallPlan& plan) const override {
    return static_cast<const ProcessPlan&>(plan).grid.blocks != nullptr;
  }

  Result<bool> is_captured(const CallPlan& plan, const CollectiveCall& call) override {
    if (!call.stream) return false;
    RINGSIDE_TRY(const bool is_capturing, device_.queue->is_capturing(*call.stream));
    if (!is_capturing) return false;
    const std::string what = fmt::format("{} in a graph", to_string(call.collective));
    if (lane_ != nullptr) {
      return Error{ErrorCode::Unsupported, what + ", with a trace",
                   "record no trace: what kernels record is taken behind each call"};
    }
    if (!is_prepared(plan)) {
      return Error{ErrorCode::Unsupported, what + ", before its ranks are connected for it",
                   "make the call once before cudaStreamBeginCapture()"};
    }
    if (static_cast<const ProcessPlan&>(plan).has_proxies) {
      return Error{ErrorCode::Unsupported, what + ", over connections that a proxy serves",
                   "make the call outside of graphs: no host knows when these run"};
    }
    return true;
  }

  void look() override {
    const std::uint32_t flag =
        std::atomic_ref(device_.control->abort).load(std::memory_order_acquire);
    if (flag != DeviceControl::kByKernel || setup_.failure.happened()) return;
    std::vector<LaunchedCall> calls;
    {
      const std::lock_guard lock(mutex_);
      calls = captured_;
    }
    const std::unique_lock lock(memory_mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;  // another thread drains; a later call sees the result
    if (const Status fine = check_outcomes(calls); !fine) fail(fine.error());
  }

  Result<int> register_buffer(void* base, Bytes size) override {
    if (windows_ == nullptr) return 0;
    flush();  // for the same reason as in connect()
    const std::lock_guard lock(memory_mutex_);
    plans_.clear();  // on all ranks, because the existing plans have no tables for it
    return windows_->add(static_cast<std::byte*>(base), size, connect_deadline());
  }
  void deregister_buffer(int number) override {
    if (windows_ != nullptr) windows_->remove(number);
  }

  void abort() noexcept override {
    stop_kernels();
    links_->abort();
  }

  void set_settings(const CallSettings& settings) override {
    setup_.settings = settings;
    plans_.clear();
  }

  [[nodiscard]] const HostLayout& layout() const override { return layout_; }
  [[nodiscard]] std::map<std::string, int> connection_types() const override {
    return links_->connection_types();
  }

  void add_progress(std::vector<FlightDump::Progress>& progress) const override {
    add_to_dump(links_->progress(), progress);
  }

 private:
  static constexpr std::size_t kMostKept = 64;

  [[nodiscard]] Rank me() const { return setup_.bootstrap.rank(); }
  [[nodiscard]] int nranks() const { return setup_.bootstrap.nranks(); }

  void stop_kernels() noexcept {
    std::atomic_ref(device_.control->abort).store(1, std::memory_order_release);
  }

  void fail(const Error& error) {
    setup_.failure.set(error);
    stop_kernels();
  }

  Result<std::shared_ptr<ProcessPlan>> make_plan(const CollectiveCall& call) {
    auto plan = std::make_shared<ProcessPlan>();
    plan->call = call;
    if (is_reduction(call.collective)) {
      RINGSIDE_TRY(plan->reduce, make_reduce_op(call.type, call.op, nranks(), call.scalar));
    }
    const CallShape shape = shape_of(call);
    plan->bytes = call_bytes(call.collective, shape, nranks());
    RINGSIDE_TRY(plan->choice, choose(call));
    const Choice& choice = plan->choice;
    const AlgorithmFacts& facts = facts_of(choice.algorithm);
    const int of_hosts = layout_.ranks_per_node;
    const int ranks_per_node =
        of_hosts != 0 || !facts.needs_nodes ? of_hosts : played_ranks_per_node(nranks());
    const Channels channels = host_channels(nranks(), choice.nchannels, ranks_per_node);
    RINGSIDE_TRY(plan->tasks, plan_channels(choice, channels, shape, me()));
    const ReduceOp* const reduce = plan->reduce ? &*plan->reduce : nullptr;
    if (has_direct_stores(call) && can_store_directly(choice.protocol, reduce)) {
      std::vector<std::vector<ChannelTask>> all;
      for (int rank = 0; rank < nranks(); ++rank) {
        RINGSIDE_TRY(all.emplace_back(), plan_channels(choice, channels, shape, Rank{rank}));
      }
      plan->direct = direct_stores_of(all)[static_cast<std::size_t>(to_int(me()))];
    }
    plan->event.rank = to_int(me());
    plan->event.collective = choice.collective;
    plan->event.algorithm = choice.algorithm;
    plan->event.protocol = choice.protocol;
    plan->event.is_modelled = is_modelled(choice);
    return plan;
  }

  /// Connects the plan's ports, and copies its blocks to the device's memory.
  Status lay(ProcessPlan& plan) {
    const Choice& choice = plan.choice;
    std::vector<ConnectionId> wanted;
    std::vector<SwitchName> switches;
    int strands = 1;
    for (int channel = 0; channel < choice.nchannels; ++channel) {
      const ChannelTask& task = plan.tasks[static_cast<std::size_t>(channel)];
      const auto ids = device_connections_of(task, me(), channel, choice);
      wanted.insert(wanted.end(), ids.begin(), ids.end());
      const auto behind = switches_of(task, me(), channel, choice);
      switches.insert(switches.end(), behind.begin(), behind.end());
      strands = std::max(strands, task.strands.count);
    }
    if (!links_->has_all(wanted, switches)) RINGSIDE_TRY(connect(wanted, switches));
    plan.has_proxies = links_->has_proxies(wanted);
    if (setup_.log != nullptr) {
      setup_.log->connected(links_->carried(wanted), links_->connections(), choice);
    }
    const DeviceCallShape shape{
        .choice = choice,
        .type = plan.call.type,
        .timeout = setup_.op_timeout,
        .warps_per_strand = warps_on_gpu(choice, plan.call, nranks(), strands),
        .events = lane_ == nullptr ? 0 : DeviceTrace::kEventsOfStrand,
        .windows = windows_ == nullptr ? DeviceWindows{} : windows_->on_device()};
    const std::lock_guard lock(memory_mutex_);
    RINGSIDE_TRY(plan.grid,
                 lay_out(ranks_of(plan), shape, device_.control, *links_, *device_.memory));
    return {};
  }

  /// Starts waiting launches first, because the other ranks may reach this point only after them.
  Status connect(std::span<const ConnectionId> wanted, std::span<const SwitchName> switches) {
    flush();
    const Deadline deadline = connect_deadline();
    {
      const std::lock_guard lock(memory_mutex_);
      RINGSIDE_TRY(links_->connect(wanted, deadline));
      RINGSIDE_TRY(links_->connect_switches(switches, deadline));
    }
    if (!links_->has_proxies(wanted)) return {};
    drain();
    proxies_->set(links_->proxies());
    return {};
  }

  [[nodiscard]] Deadline connect_deadline() const {
    return deadline_in(std::max(setup_.connect_timeout, setup_.op_timeout),
                       setup_.bootstrap.clock());
  }

  /// Returns whether a call has tables for data that is stored without slots; the same on all ranks. For listed
  /// messages this rank does not know the lists of the other ends.
  [[nodiscard]] bool has_direct_stores(const CollectiveCall& call) const {
    constexpr int kMostRanks = 32;  // every rank plans for all ranks
    return windows_ != nullptr && windows_->count() > 0 && !is_listed(call) &&
           nranks() <= kMostRanks;
  }

  [[nodiscard]] std::array<DeviceRank, 1> ranks_of(const ProcessPlan& plan) const {
    return {DeviceRank{me(), plan.tasks, plan.reduce ? &*plan.reduce : nullptr, plan.direct}};
  }

  [[nodiscard]] bool is_under_way(const ProcessPlan& plan) {
    const auto has_it = [&](const std::vector<LaunchedCall>& calls) {
      return std::ranges::any_of(calls,
                                 [&](const LaunchedCall& one) { return one.plan.get() == &plan; });
    };
    const std::lock_guard lock(mutex_);
    return has_it(gathered_) || std::ranges::any_of(under_way_, [&](const UnderWay& launch) {
             return has_it(launch.calls);
           });
  }

  /// Waits for a launch and checks how its calls have ended.
  Status finish(const UnderWay& launch) {
    const Status ended = device_.queue->wait(launch.ticket);
    const std::int64_t ended_ns = trace_now().count();
    // Reports are read only after a failure: a block that writes a report sets this flag.
    const bool has_report =
        std::atomic_ref(device_.control->abort).load(std::memory_order_acquire) != 0;
    // After a kernel fault the device does not answer: then the error of the launch is returned.
    Status outcome;
    if (has_report || !ended) {
      const std::lock_guard lock(memory_mutex_);
      outcome = check_outcomes(launch.calls);
    }
    if (!outcome && outcome.error().code != ErrorCode::System) return outcome;
    RINGSIDE_TRY(ended);
    RINGSIDE_TRY(outcome);
    if (lane_ == nullptr) return {};
    for (const LaunchedCall& call : launch.calls) RINGSIDE_TRY(record(call, ended_ns));
    return {};
  }

  /// Requires memory_mutex_.
  /// errors  of the first call that a warp gave up.  System: the device failed
  Status check_outcomes(const std::vector<LaunchedCall>& calls) {
    for (const LaunchedCall& call : calls) {
      RINGSIDE_TRY(const std::optional<Error> error,
                   outcome_of(call.plan->grid, ranks_of(*call.plan), *device_.memory));
      if (error) return *error;
    }
    return {};
  }

  Status record(const LaunchedCall& call, std::int64_t ended_ns) {
    const std::lock_guard lock(memory_mutex_);
    RINGSIDE_TRY(const auto events, trace_.take(call.plan->grid, 1, *device_.memory, ended_ns));
    TraceEvent event = call.plan->event;
    event.sequence = call.sequence;
    record_device_events(*lane_, event, call.plan->call.type, events.front());
    return {};
  }

  const CudaDevice device_;
  ExecutorSetup setup_;
  const std::unique_ptr<ProcessLinks> links_;
  const std::unique_ptr<ProcessWindows> windows_;  ///< null: nothing is registered
  HostLayout layout_;
  WaitPolicy wait_;
  TraceLane* lane_ = nullptr;  ///< null: nothing is traced
  DeviceTrace trace_;
  std::vector<std::shared_ptr<ProcessPlan>> plans_;
  // Used by the thread that begins calls: the calls of the next launch.
  LaunchBatch batch_;
  std::vector<LaunchedCall> gathered_;
  std::mutex drain_mutex_;   ///< held by the thread that drains; locked before the other mutexes
  std::mutex memory_mutex_;  ///< guards the device's memory and the connections
  std::mutex mutex_;         ///< guards the members below
  std::deque<UnderWay> under_way_;
  /// Calls in graphs, kept for ever because CUDA does not report the end of a graph launch
  std::vector<LaunchedCall> captured_;
  std::optional<ProxyServer> proxies_;  // last member: its thread uses the members above
};

/// All ranks must make the same choices, so they use the smallest number of multiprocessors of their GPUs.
Result<int> least_multiprocessors(int mine, Bootstrap& bootstrap, Deadline deadline) {
  RINGSIDE_TRY(const std::vector<std::byte> all,
               bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)), deadline));
  std::vector<int> counts(all.size() / sizeof mine);
  std::memcpy(counts.data(), all.data(), all.size());
  return *std::ranges::min_element(counts);
}

}  // namespace

Result<CudaProcessOptions> cuda_process_options(const Transport* transport,
                                                const Environment& environment) {
  RINGSIDE_TRY(const auto disabled, env_int(environment, "NCCL_P2P_DISABLE", 0, 1));
  RINGSIDE_TRY(const auto cumem, env_int(environment, "NCCL_CUMEM_ENABLE", -2, 1));
  CudaProcessOptions options{.transport = transport};
  options.memory.may_open = disabled.value_or(0) == 0;
  if (cumem && *cumem != -2) options.memory.by_file = *cumem == 1;
  RINGSIDE_TRY(const auto nvls, env_int(environment, "NCCL_NVLS_ENABLE", 0, 2));
  options.memory.by_switch = nvls.value_or(2) != 0;
  RINGSIDE_TRY(options.memory.direct, gpu_direct_settings(environment));
  RINGSIDE_TRY(const auto registers, env_int(environment, "NCCL_LOCAL_REGISTER", 0, 2));
  RINGSIDE_TRY(const bool stores_directly, wants_direct_stores(environment));
  options.registers = stores_directly && registers.value_or(1) != 0;
  return options;
}

Result<std::unique_ptr<Executor>> make_cuda_process_executor(const CudaDevice& device,
                                                             const CudaProcessOptions& options,
                                                             const ExecutorSetup& setup) {
  RINGSIDE_TRY(std::unique_ptr<ProcessLinks> links,
               ProcessLinks::make(setup.bootstrap, *device.memory, options.transport,
                                  options.memory, setup.deadline, setup.faults));
  if (setup.log != nullptr) setup.log->hosts_known(links->connections());
  std::unique_ptr<ProcessWindows> windows;
  if (options.registers) {
    RINGSIDE_TRY(windows, ProcessWindows::make(setup.bootstrap, *device.memory, *links));
  }
  CudaDevice own = device;
  RINGSIDE_TRY(own.multiprocessors,
               least_multiprocessors(device.multiprocessors, setup.bootstrap, setup.deadline));
  return std::unique_ptr<Executor>(
      std::make_unique<CudaProcessExecutor>(own, setup, std::move(links), std::move(windows)));
}

}  // namespace ringside
