#include "engine/cuda/cuda_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/cuda_choice.h"
#include "engine/cuda/device_trace.h"
#include "engine/cuda/direct_plan.h"
#include "engine/cuda/gpu/gpu.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/bootstrap/peers.h"
#include "engine/runtime/calls/failure.h"
#include "engine/runtime/host/progress_in_dump.h"
#include "trace/clock.h"
#include "trace/recorder.h"

namespace ringside {

/// Calls that repeat are laid out once. A dropped plan keeps its device memory until the device memory is released as
/// a whole.
constexpr std::size_t kMostDevicePlans = 64;

struct CudaGroup::Impl {
  struct Known {
    std::vector<CollectiveCall> calls;
    Nanoseconds timeout;
    std::unique_ptr<VirtualRanks::Plan> plan;
  };

  Impl(CudaDevice of, int n)
      : device(std::move(of)),
        nranks(n),
        ranks(*device.memory, device.control, n),
        calls(static_cast<std::size_t>(n)) {}

  const CudaDevice device;
  const int nranks;
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by the mutex, which the launching rank holds until the launch has ended.
  VirtualRanks ranks;
  std::vector<std::optional<CollectiveCall>> calls;  ///< calls of this turn, by rank
  int arrived = 0;
  std::uint64_t turn = 0;
  Status result;  ///< of the last turn
  std::optional<Error> broken;
  std::vector<Known> plans;
  std::uint32_t events_of_strand = 0;
  DeviceTrace trace;
  std::vector<std::vector<DeviceTrace::Event>> events;  ///< [rank]: events of the last turn

  Result<const VirtualRanks::Plan*> plan_of(const Choice& choice, Nanoseconds timeout) {
    std::vector<CollectiveCall> all;
    for (const auto& call : calls) all.push_back(*call);
    for (const Known& known : plans) {
      if (known.plan->choice == choice && known.timeout == timeout &&
          std::ranges::equal(known.calls, all, is_alike)) {
        return static_cast<const VirtualRanks::Plan*>(known.plan.get());
      }
    }
    RINGSIDE_TRY(auto plan, ranks.plan(all, choice,
                                       {.timeout = timeout,
                                        .events = events_of_strand,
                                        .stores_directly = device.stores_directly}));
    if (plans.size() == kMostDevicePlans) plans.erase(plans.begin());
    plans.push_back({std::move(all), timeout, std::move(plan)});
    return static_cast<const VirtualRanks::Plan*>(plans.back().plan.get());
  }

  Status launch(const Choice& choice, Nanoseconds timeout) {
    RINGSIDE_TRY(const VirtualRanks::Plan* const plan, plan_of(choice, timeout));
    std::vector<DeviceBuffers> buffers;
    for (const auto& call : calls) {
      buffers.push_back(
          {static_cast<const std::byte*>(call->input), static_cast<std::byte*>(call->output)});
    }
    const Status run = wait_for(plan->launch(buffers), choice.collective);
    // After a kernel fault the device does not answer: then the error of the launch is returned.
    const Result<std::optional<Error>> outcome = ranks.outcome(*plan);
    if (outcome && *outcome) return **outcome;
    RINGSIDE_TRY(run);
    RINGSIDE_TRY(outcome);
    if (events_of_strand == 0) return {};
    RINGSIDE_TRY(events, trace.take(plan->grid, nranks, *device.memory, trace_now().count()));
    return {};
  }

  Status wait_for(const DeviceLaunch& launch, Collective collective) {
    RINGSIDE_TRY(const DeviceQueue::Ticket ticket,
                 device.queue->begin(launch, collective, std::nullopt));
    return device.queue->wait(ticket);
  }

  [[nodiscard]] std::string absent() const {
    std::string text;
    for (std::size_t rank = 0; rank < calls.size(); ++rank) {
      if (!calls[rank]) text += fmt::format("{}{}", text.empty() ? "" : ", ", rank);
    }
    return text;
  }
};

CudaGroup::CudaGroup(CudaDevice device, int nranks)
    : impl_(std::make_unique<Impl>(std::move(device), nranks)) {}
CudaGroup::~CudaGroup() = default;

const CudaDevice& CudaGroup::device() const { return impl_->device; }
int CudaGroup::nranks() const { return impl_->nranks; }

Status CudaGroup::run(Rank me, const CollectiveCall& call, const Choice& choice,
                      Nanoseconds timeout) {
  Impl& all = *impl_;
  std::unique_lock lock(all.mutex);
  if (all.broken) return *all.broken;
  all.calls[static_cast<std::size_t>(to_int(me))] = call;
  if (++all.arrived == all.nranks) {
    all.result = all.launch(choice, timeout);
    if (!all.result) all.broken = all.result.error();
    std::ranges::fill(all.calls, std::nullopt);
    all.arrived = 0;
    ++all.turn;
    all.changed.notify_all();
    return all.result;
  }
  const std::uint64_t mine = all.turn;
  const bool is_over = all.changed.wait_for(
      lock, timeout, [&] { return all.turn != mine || all.broken.has_value(); });
  // The next turn starts only after this rank has passed its next call, so the result still belongs to this turn.
  if (all.turn != mine) return all.result;
  if (!is_over) {
    all.broken =
        Error{ErrorCode::Timeout,
              fmt::format("rank {} waited {} s in vain for the call of rank {} on their GPU",
                          to_int(me), Seconds(timeout).count(), all.absent())};
    all.changed.notify_all();
  }
  return *all.broken;
}

void CudaGroup::keep_events(std::uint32_t of_strand) {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->events_of_strand == of_strand) return;
  impl_->events_of_strand = of_strand;
  impl_->plans.clear();  // the old plans have no room for events
}

std::vector<DeviceTrace::Event> CudaGroup::last_events(Rank rank) const {
  const std::lock_guard lock(impl_->mutex);
  const auto index = static_cast<std::size_t>(to_int(rank));
  return index < impl_->events.size() ? impl_->events[index] : std::vector<DeviceTrace::Event>();
}

std::vector<Connections::Progress> CudaGroup::progress(Rank rank) const {
  return impl_->ranks.connections().progress(rank);
}

void CudaGroup::abort() noexcept {
  // First ends the kernel's waits, because the launching thread holds the mutex until the launch has ended.
  std::atomic_ref(impl_->device.control->abort).store(1, std::memory_order_release);
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->broken) impl_->broken = Error{ErrorCode::Aborted, "the call on the GPU was stopped"};
  impl_->changed.notify_all();
}

Result<CudaDevice> device_of(Gpu& gpu) {
  RINGSIDE_TRY(std::byte* const control, gpu.memory().take_shared(Bytes{sizeof(DeviceControl)}));
  RINGSIDE_TRY(const bool stores_directly, wants_direct_stores());
  return CudaDevice{.memory = &gpu.memory(),
                    .control = reinterpret_cast<DeviceControl*>(control),
                    .multiprocessors = gpu.facts().multiprocessors,
                    .queue = &gpu.queue(),
                    .stores_directly = stores_directly};
}

namespace {

class CudaExecutor final : public Executor {
 public:
  CudaExecutor(std::shared_ptr<CudaGroup> group, const ExecutorSetup& setup)
      : group_(std::move(group)), setup_(setup) {
    layout_.local_ranks = group_->nranks();
    layout_.transport = "cuda";
    if (setup_.trace == nullptr) return;
    lane_ = setup_.trace->add_lane();
    group_->keep_events(DeviceTrace::kEventsOfStrand);
  }

  [[nodiscard]] Result<Choice> choose(const CollectiveCall& call) const override {
    return choose_on_gpu({.collective = call.collective,
                          .bytes = bytes_to_choose_by(call, group_->nranks()),
                          .nranks = group_->nranks(),
                          .sharing = group_->nranks(),
                          .multiprocessors = group_->device().multiprocessors,
                          .type = call.type,
                          .op = call.op},
                         setup_.settings);
  }

  Result<CallPlan*> plan(const CollectiveCall& call) override {
    RINGSIDE_TRY(plan_.choice, choose(call));
    plan_.call = call;
    plan_.bytes = call_bytes(call.collective, shape_of(call), group_->nranks());
    plan_.event.rank = to_int(setup_.bootstrap.rank());
    plan_.event.collective = plan_.choice.collective;
    plan_.event.algorithm = plan_.choice.algorithm;
    plan_.event.protocol = plan_.choice.protocol;
    plan_.event.is_modelled = is_modelled(plan_.choice);
    return &plan_;
  }

  /// Connections are made by the first launch that needs them, because all its ranks are in this process.
  Status prepare(CallPlan& /*plan*/) override { return {}; }

  void run(CallPlan& plan, const CollectiveCall& call, std::uint32_t sequence) override {
    const Status done = group_->run(setup_.bootstrap.rank(), call, plan.choice, setup_.op_timeout);
    if (!done) setup_.failure.set(done.error());
    if (done && lane_ != nullptr) record(plan, sequence);
  }

  void drain() override {}
  void abort() noexcept override { group_->abort(); }
  void set_settings(const CallSettings& settings) override { setup_.settings = settings; }
  void add_progress(std::vector<FlightDump::Progress>& progress) const override {
    add_to_dump(group_->progress(setup_.bootstrap.rank()), progress);
  }
  [[nodiscard]] const HostLayout& layout() const override { return layout_; }

 private:
  void record(const CallPlan& plan, std::uint32_t sequence) {
    TraceEvent event = plan.event;
    event.sequence = sequence;
    record_device_events(*lane_, event, plan.call.type,
                         group_->last_events(setup_.bootstrap.rank()));
  }

  std::shared_ptr<CudaGroup> group_;
  ExecutorSetup setup_;
  HostLayout layout_;
  CallPlan plan_;
  TraceLane* lane_ = nullptr;  ///< null: nothing is traced
};

}  // namespace

ExecutorMaker cuda_executor(std::shared_ptr<CudaGroup> group) {
  return
      [group = std::move(group)](const ExecutorSetup& setup) -> Result<std::unique_ptr<Executor>> {
        if (setup.bootstrap.nranks() != group->nranks()) {
          return Error{ErrorCode::InvalidArgument,
                       fmt::format("{} ranks of a communicator on a GPU that {} share",
                                   setup.bootstrap.nranks(), group->nranks()),
                       "all ranks of a communicator share one"};
        }
        return std::unique_ptr<Executor>(std::make_unique<CudaExecutor>(group, setup));
      };
}

}  // namespace ringside
