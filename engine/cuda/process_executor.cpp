#include "engine/cuda/process_executor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "engine/collectives/plan.h"
#include "engine/cuda/cuda_choice.h"
#include "engine/cuda/launch_works.h"
#include "engine/runtime/bootstrap.h"
#include "engine/runtime/channel_workers.h"
#include "engine/runtime/host_choice.h"
#include "engine/runtime/host_ports.h"
#include "trace/clock.h"
#include "trace/recorder.h"

namespace ringside {
namespace {

struct ProcessPlan : CallPlan {
  std::optional<ReduceOp> reduce;
  std::vector<ChannelTask> tasks;  ///< [channel]
  DeviceGrid grid;                 ///< without blocks before prepare()
  std::vector<Proxy*> proxies;
};

class CudaProcessExecutor final : public Executor {
 public:
  CudaProcessExecutor(const CudaDevice& device, const ExecutorSetup& setup,
                      std::unique_ptr<ProcessLinks> links)
      : device_(device),
        setup_(setup),
        links_(std::move(links)),
        layout_(links_->layout()),
        wait_(wait_policy(2 * layout_.local_ranks, layout_.local_cores)) {
    layout_.transport = "cuda+" + layout_.transport;
    wait_.deadline = setup.op_timeout;
    wait_.clock = &setup.bootstrap.clock();
    if (setup.trace != nullptr) lane_ = setup.trace->add_lane();
  }

  [[nodiscard]] Result<Choice> choose(const CollectiveCall& call) const override {
    return choose_on_gpu({.collective = call.collective,
                          .bytes = bytes_to_choose_by(call, nranks()),
                          .nranks = nranks(),
                          .keeps_lines = links_->keeps_lines(),
                          .multiprocessors = device_.multiprocessors,
                          .type = call.type,
                          .op = call.op},
                         setup_.wishes);
  }

  Result<CallPlan*> plan(const CollectiveCall& call) override {
    const auto known =
        std::ranges::find_if(plans_, [&](const auto& plan) { return is_alike(plan->call, call); });
    if (known != plans_.end()) return known->get();
    RINGSIDE_TRY(std::unique_ptr<ProcessPlan> fresh, make_plan(call));
    // What is dropped stays in the device's memory until that ends.
    if (plans_.size() == kMostKept) plans_.erase(plans_.begin());
    plans_.push_back(std::move(fresh));
    return plans_.back().get();
  }

  Status prepare(CallPlan& plan) override {
    auto& mine = static_cast<ProcessPlan&>(plan);
    return mine.grid.blocks == nullptr ? lay(mine) : Status{};
  }

  void run(CallPlan& plan, const CollectiveCall& call, std::uint32_t sequence) override {
    running_ = {static_cast<ProcessPlan*>(&plan), call.input, call.output, sequence};
    is_over_.store(false, std::memory_order_relaxed);
    // Worker 0 is this thread: the launch and its end. Worker 1 keeps its proxies moving meanwhile.
    workers_.begin(running_.plan->proxies.empty() ? 1 : 2, work_);
  }

  void drain() override { workers_.finish(); }

  void abort() noexcept override {
    stop_kernels();
    links_->abort();
  }

  void set_wishes(const CallWishes& wishes) override {
    setup_.wishes = wishes;
    plans_.clear();
  }

  [[nodiscard]] const HostLayout& layout() const override { return layout_; }

 private:
  static constexpr std::size_t kMostKept = 64;

  struct Running {
    ProcessPlan* plan = nullptr;
    const void* input = nullptr;
    void* output = nullptr;
    std::uint32_t sequence = 0;
  };

  [[nodiscard]] Rank me() const { return setup_.bootstrap.rank(); }
  [[nodiscard]] int nranks() const { return setup_.bootstrap.nranks(); }

  void stop_kernels() noexcept {
    std::atomic_ref(device_.control->abort).store(1, std::memory_order_release);
  }

  void fail(const Error& error) {
    setup_.failure.set(error);
    stop_kernels();
  }

  Result<std::unique_ptr<ProcessPlan>> make_plan(const CollectiveCall& call) {
    auto plan = std::make_unique<ProcessPlan>();
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
    plan->event.rank = to_int(me());
    plan->event.collective = choice.collective;
    plan->event.algorithm = choice.algorithm;
    plan->event.protocol = choice.protocol;
    plan->event.is_modelled = facts.is_modelled();
    return plan;
  }

  /// Connects what the plan's ports lead to, and lays its blocks into the device's memory.
  Status lay(ProcessPlan& plan) {
    const Choice& choice = plan.choice;
    std::vector<ConnectionId> wanted;
    int strands = 1;
    for (int channel = 0; channel < choice.nchannels; ++channel) {
      const ChannelTask& task = plan.tasks[static_cast<std::size_t>(channel)];
      const auto ids = connections_of(task, me(), channel, choice.protocol, choice.slot);
      wanted.insert(wanted.end(), ids.begin(), ids.end());
      strands = std::max(strands, task.strands.count);
    }
    const Nanoseconds longest = std::max(setup_.connect_timeout, setup_.op_timeout);
    RINGSIDE_TRY(links_->connect(wanted, deadline_in(longest, setup_.bootstrap.clock())));
    plan.proxies = links_->proxies_of(wanted);
    const DeviceCallShape shape{
        .choice = choice,
        .type = plan.call.type,
        .timeout = setup_.op_timeout,
        .warps_per_strand = warps_on_gpu(choice, plan.call, nranks(), strands),
        .events = lane_ == nullptr ? 0 : DeviceTrace::kEventsOfStrand};
    RINGSIDE_TRY(plan.grid,
                 lay_out(ranks_of(plan), shape, device_.control, *links_, *device_.memory));
    return {};
  }

  [[nodiscard]] std::array<DeviceRank, 1> ranks_of(const ProcessPlan& plan) const {
    return {DeviceRank{me(), plan.tasks, plan.reduce ? &*plan.reduce : nullptr}};
  }

  void work(int worker) {
    const Status done = worker == 0 ? launch() : serve_proxies();
    if (!done) fail(done.error());
  }

  Status serve_proxies() { return serve(running_.plan->proxies, is_over_, setup_.failure, wait_); }

  Status launch() {
    const Status done = launch_and_wait();
    if (!done) fail(done.error());  // before the proxies look for more to do
    is_over_.store(true, std::memory_order_release);
    return {};
  }

  Status launch_and_wait() {
    ProcessPlan& plan = *running_.plan;
    const DeviceBuffers buffers{static_cast<const std::byte*>(running_.input),
                                static_cast<std::byte*>(running_.output)};
    DeviceLaunch launch = launch_of(plan.grid, std::span(&buffers, 1));
    launch.is_one_gpu = 0;
    const Status run = wait_for(launch, plan.choice.collective);
    const std::int64_t ended_ns = trace_now().count();
    // A kernel that faulted leaves a device that answers nothing: then what the launch said counts.
    const Result<std::optional<Error>> outcome =
        outcome_of(plan.grid, ranks_of(plan), *device_.memory);
    if (outcome && *outcome) return **outcome;
    RINGSIDE_TRY(run);
    RINGSIDE_TRY(outcome);
    if (lane_ == nullptr) return {};
    RINGSIDE_TRY(const auto events, trace_.take(plan.grid, 1, *device_.memory, ended_ns));
    TraceEvent event = plan.event;
    event.sequence = running_.sequence;
    record_device_events(*lane_, event, plan.call.type, events.front());
    return {};
  }

  Status wait_for(const DeviceLaunch& launch, Collective collective) {
    RINGSIDE_TRY(const DeviceQueue::Ticket ticket,
                 device_.queue->begin(launch, collective, std::nullopt));
    return device_.queue->wait(ticket);
  }

  const CudaDevice device_;
  ExecutorSetup setup_;
  const std::unique_ptr<ProcessLinks> links_;
  HostLayout layout_;
  WaitPolicy wait_;
  TraceLane* lane_ = nullptr;  ///< null: nothing is recorded
  DeviceTrace trace_;
  std::vector<std::unique_ptr<ProcessPlan>> plans_;
  Running running_;
  std::atomic<bool> is_over_{false};  ///< the launch under way has ended
  const ChannelWorkers::Work work_ = [this](int worker) { work(worker); };
  ChannelWorkers workers_;  // last: its threads use what stands above
};

}  // namespace

Result<CudaProcessOptions> cuda_process_options(const Transport* transport,
                                                const Environment& environment) {
  RINGSIDE_TRY(const auto disabled, env_int(environment, "NCCL_P2P_DISABLE", 0, 1));
  RINGSIDE_TRY(const auto cumem, env_int(environment, "NCCL_CUMEM_ENABLE", -2, 1));
  CudaProcessOptions options{.transport = transport};
  options.memory.may_open = disabled.value_or(0) == 0;
  if (cumem && *cumem != -2) options.memory.by_file = *cumem == 1;
  return options;
}

Result<std::unique_ptr<Executor>> make_cuda_process_executor(const CudaDevice& device,
                                                             const CudaProcessOptions& options,
                                                             const ExecutorSetup& setup) {
  RINGSIDE_TRY(std::unique_ptr<ProcessLinks> links,
               ProcessLinks::make(setup.bootstrap, *device.memory, options.transport,
                                  options.memory, setup.deadline));
  return std::unique_ptr<Executor>(
      std::make_unique<CudaProcessExecutor>(device, setup, std::move(links)));
}

}  // namespace ringside
