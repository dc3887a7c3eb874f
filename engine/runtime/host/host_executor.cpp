#include "engine/runtime/host/host_executor.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "base/fnv.h"
#include "engine/collectives/plan.h"
#include "engine/collectives/run.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/host/channel_workers.h"
#include "engine/runtime/host/communicator_log.h"
#include "engine/runtime/host/host_choice.h"
#include "engine/runtime/host/host_plan.h"
#include "engine/runtime/host/host_primitives.h"
#include "engine/runtime/host/host_variables.h"
#include "engine/runtime/host/progress_in_dump.h"
#include "trace/recorder.h"

namespace ringside {
namespace {

/// Returns whether each rank's own part of the result equals its input.
bool copies(Collective collective) {
  return collective == Collective::AllGather || collective == Collective::AllGatherV ||
         collective == Collective::Broadcast;
}

Bytes bytes_of(const Transfer& one, DataType type) {
  return size_of(type) * static_cast<std::uint64_t>(one.count);
}

Bytes bytes_of_lists(const CollectiveCall& call) {
  Bytes sum;
  for (const auto* const list : {&call.sends, &call.recvs}) {
    for (const Transfer& one : *list) sum.value += bytes_of(one, call.type).value;
  }
  return sum;
}

/// All ranks must make the same choices, so they use their own table only if all have the same one.
Result<HostTable> agree_on_table(const std::string& path, const ExecutorSetup& setup) {
  RINGSIDE_TRY(HostTable table, load_host_table(path));
  const std::uint64_t mine = fnv_of(to_yaml(table));
  RINGSIDE_TRY(const std::vector<std::byte> all,
               setup.bootstrap.all_gather(std::as_bytes(std::span(&mine, 1)), setup.deadline));
  for (std::size_t i = 0; i < all.size(); i += sizeof mine) {
    if (std::memcmp(all.data() + i, &mine, sizeof mine) != 0) return usual_host_table();
  }
  return table;
}

class HostExecutor final : public Executor {
 public:
  HostExecutor(const HostOptions& options, const ExecutorSetup& setup, HostVariables variables,
               HostTable table, std::unique_ptr<Connections> connections)
      : setup_(setup),
        ranks_per_node_(options.ranks_per_node),
        variables_(std::move(variables)),
        table_(std::move(table)),
        connections_(std::move(connections)),
        wait_(wait_policy(layout().local_ranks * std::max(1, setup.settings.nchannels),
                          layout().local_cores)) {
    if (layout().slowest->spins > 0) wait_.spins = std::min(wait_.spins, layout().slowest->spins);
    wait_.deadline = setup.op_timeout;
    wait_.clock = &setup.bootstrap.clock();
    // Connecting is part of starting a job; a late rank gets the full operation timeout.
    wait_for_missing_ = wait_;
    wait_for_missing_.deadline = std::max(setup.connect_timeout, setup.op_timeout);
    setup_.settings = variables_.bounded(setup.settings);
  }

  [[nodiscard]] Result<Choice> choose(const CollectiveCall& call) const override {
    return choose(call, bytes_to_choose_by(call));
  }

  Result<CallPlan*> plan(const CollectiveCall& call) override {
    if (HostPlan* const known = plans_.find(call)) return known;
    RINGSIDE_TRY(std::unique_ptr<HostPlan> fresh, make_plan(call));
    return &plans_.keep(std::move(fresh));
  }

  Status prepare(CallPlan& plan) override {
    auto& mine = static_cast<HostPlan&>(plan);
    return mine.models.empty() ? connect(mine) : Status{};
  }

  void run(CallPlan& plan, const CollectiveCall& call, std::uint32_t sequence) override {
    running_ = {static_cast<HostPlan*>(&plan), call.input, call.output, sequence};
    workers_.begin(static_cast<int>(running_.plan->parts.size()), work_);
  }

  void drain() override { workers_.finish(); }

  void abort() noexcept override { connections_->abort(); }

  void set_settings(const CallSettings& settings) override {
    setup_.settings = variables_.bounded(settings);
    plans_ = {};
  }

  [[nodiscard]] const HostLayout& layout() const override { return connections_->layout(); }

  void add_progress(std::vector<FlightDump::Progress>& progress) const override {
    add_to_dump(connections_->progress(), progress);
  }

 private:
  /// The current call.
  struct Running {
    HostPlan* plan = nullptr;
    const void* input = nullptr;
    void* output = nullptr;
    std::uint32_t sequence = 0;
  };

  [[nodiscard]] Rank me() const { return setup_.bootstrap.rank(); }
  [[nodiscard]] int nranks() const { return setup_.bootstrap.nranks(); }

  /// Both ends of a transfer must make the same choice, and each end may have other transfers. So the choice depends
  /// only on the size of this transfer.
  [[nodiscard]] Result<Choice> choose(const CollectiveCall& call, Bytes bytes) const {
    RINGSIDE_TRY(Choice choice, choose_on_host({.collective = is_listed(call) ? Collective::SendRecv
                                                                              : call.collective,
                                                .bytes = bytes,
                                                .nranks = nranks(),
                                                .crosses_hosts = layout().crosses_hosts,
                                                .is_crowded = layout().is_crowded,
                                                .transport = layout().slowest,
                                                .cache = layout().cache,
                                                .type = call.type,
                                                .op = call.op},
                                               setup_.settings, table_));
    choice.collective = call.collective;
    return choice;
  }

  [[nodiscard]] Bytes bytes_to_choose_by(const CollectiveCall& call) const {
    if (!is_listed(call)) return call_bytes(call.collective, shape_of(call), nranks());
    Bytes most;
    for (const auto* const list : {&call.sends, &call.recvs}) {
      for (const Transfer& one : *list) most = std::max(most, bytes_of(one, call.type));
    }
    return most;
  }

  [[nodiscard]] int ranks_per_node(Algorithm algorithm) const {
    if (ranks_per_node_ != 0) return ranks_per_node_;
    const int of_hosts = layout().ranks_per_node;
    if (of_hosts != 0 || !facts_of(algorithm).needs_nodes) return of_hosts;
    return played_ranks_per_node(nranks());
  }

  Result<std::unique_ptr<HostPlan>> make_plan(const CollectiveCall& call) {
    auto plan = std::make_unique<HostPlan>();
    plan->call = call;
    if (is_reduction(call.collective)) {
      RINGSIDE_TRY(plan->reduce, make_reduce_op(call.type, call.op, nranks(), call.scalar));
    }
    plan->bytes = is_listed(call) ? bytes_of_lists(call)
                                  : call_bytes(call.collective, shape_of(call), nranks());
    RINGSIDE_TRY(plan->choice, choose(call, bytes_to_choose_by(call)));
    RINGSIDE_TRY(is_listed(call) ? add_listed(call, *plan)
                                 : add_parts(plan->choice, shape_of(call), *plan));
    const Choice& choice = plan->choice;
    plan->event.rank = to_int(me());
    plan->event.communicator = setup_.trace_number;
    plan->event.collective = choice.collective;
    plan->event.algorithm = choice.algorithm;
    plan->event.protocol = choice.protocol;
    plan->event.is_modelled = is_modelled(choice);
    return plan;
  }

  Status add_parts(const Choice& choice, const CallShape& shape, HostPlan& plan) const {
    const Channels channels =
        host_channels(nranks(), choice.nchannels, ranks_per_node(choice.algorithm));
    RINGSIDE_TRY(std::vector<ChannelTask> tasks, plan_channels(choice, channels, shape, me()));
    for (std::size_t channel = 0; channel < tasks.size(); ++channel) {
      plan.parts.push_back(
          {static_cast<int>(channel), choice.protocol, choice.slot, std::move(tasks[channel])});
    }
    return {};
  }

  /// Adds the transfers of each protocol and slot size together; the groups run concurrently.
  Status add_listed(const CollectiveCall& call, HostPlan& plan) const {
    struct Kind {
      Choice choice;
      CallShape shape;
    };
    std::map<std::pair<Protocol, std::uint64_t>, Kind> kinds;
    CallShape empty = shape_of(call);
    empty.sends.clear();
    empty.recvs.clear();
    const auto add = [&](const std::vector<Transfer>& from,
                         std::vector<Transfer> CallShape::*to) -> Status {
      for (const Transfer& one : from) {
        RINGSIDE_TRY(const Choice choice, choose(call, bytes_of(one, call.type)));
        Kind& kind = kinds.try_emplace({choice.protocol, choice.slot.value}, Kind{choice, empty})
                         .first->second;
        (kind.shape.*to).push_back(one);
      }
      return {};
    };
    RINGSIDE_TRY(add(call.sends, &CallShape::sends));
    RINGSIDE_TRY(add(call.recvs, &CallShape::recvs));
    for (const auto& [key, kind] : kinds) RINGSIDE_TRY(add_parts(kind.choice, kind.shape, plan));
    return {};
  }

  /// Makes the connections of the plan's ports, and the primitives that use them.
  Status connect(HostPlan& plan) {
    std::vector<ConnectionId> wanted;
    for (const HostPlan::Part& part : plan.parts) {
      const auto ids = connections_of(part.task, me(), part.channel, part.protocol, part.slot);
      wanted.insert(wanted.end(), ids.begin(), ids.end());
    }
    const Deadline deadline = deadline_in(wait_for_missing_.deadline, setup_.bootstrap.clock());
    // The other end may reach a message later than this rank, and in a call with other transfers.
    RINGSIDE_TRY(is_listed(plan.call) ? connections_->begin(wanted, deadline)
                                      : connections_->connect(wanted, deadline));
    if (setup_.log != nullptr) setup_.log->connected(wanted, *connections_, plan.choice);
    for (const HostPlan::Part& part : plan.parts) {
      plan.ports.push_back(
          ports_of(part.task, me(), part.channel, part.protocol, part.slot, *connections_));
    }
    for (std::size_t part = 0; part < plan.parts.size(); ++part) {
      plan.models.emplace_back(setup_of(plan, part));
    }
    return {};
  }

  HostPrimitives::Setup setup_of(HostPlan& plan, std::size_t index) {
    const HostPlan::Part& part = plan.parts[index];
    TraceEvent event = plan.event;
    event.channel = static_cast<std::uint16_t>(part.channel);
    event.protocol = part.protocol;
    const AlgorithmFacts& facts = facts_of(plan.choice.algorithm);
    return {.map = &part.task.map,
            .ports = &plan.ports[index],
            .connections = connections_.get(),
            .slot = part.slot,
            .element = size_of(plan.call.type),
            .reduce = plan.reduce ? &*plan.reduce : nullptr,
            // Data larger than the caches leaves them before it is read again.
            .is_streaming = plan.bytes >= layout().cache * 2,
            .returns_results = facts.returns_results,
            .keeps_input = facts.keeps_input || copies(plan.call.collective),
            .wait = &wait_,
            .wait_for_missing = &wait_for_missing_,
            .failure = &setup_.failure,
            .lane = lane_of(static_cast<int>(index)),
            .recorder = setup_.trace,
            .event = event};
  }

  TraceLane* lane_of(int channel) {
    if (setup_.trace == nullptr) return nullptr;
    while (static_cast<int>(lanes_.size()) <= channel) lanes_.push_back(setup_.trace->add_lane());
    return lanes_[static_cast<std::size_t>(channel)];
  }

  void run_one(int part) {
    const auto index = static_cast<std::size_t>(part);
    HostPlan& plan = *running_.plan;
    HostPrimitives& model = plan.models[index];
    model.restart(running_.input, running_.output, running_.sequence);
    const ChannelTask& task = plan.parts[index].task;
    is_point_to_point(task.collective) ? model.exchange(task) : run_channel(model, task);
    model.drain();
  }

  ExecutorSetup setup_;
  const int ranks_per_node_;
  const HostVariables variables_;
  const HostTable table_;
  const std::unique_ptr<Connections> connections_;
  WaitPolicy wait_, wait_for_missing_;
  std::vector<TraceLane*> lanes_;  ///< [part]; empty: nothing is traced
  HostPlans plans_;
  Running running_;
  const ChannelWorkers::Work work_ = [this](int part) { run_one(part); };
  ChannelWorkers workers_;  // last member: its threads use the members above
};

}  // namespace

Result<std::unique_ptr<Executor>> make_host_executor(const HostOptions& options,
                                                     const ExecutorSetup& setup) {
  RINGSIDE_TRY(HostVariables variables, host_variables());
  RINGSIDE_TRY(HostTable table, agree_on_table(options.table_path, setup));
  const Transport* transport = options.transport;
  if (transport == nullptr && variables.is_shm_disabled) {
    RINGSIDE_TRY(transport, parse_transport("tcp"));
  }
  RINGSIDE_TRY(std::unique_ptr<Connections> connections,
               Connections::make(setup.bootstrap, transport, setup.deadline, setup.faults));
  if (setup.log != nullptr) {
    for (const auto& [name, value] : variables.set) setup.log->variable_applied(name, value);
    setup.log->hosts_known(*connections);
    const CallSettings settings = variables.bounded(setup.settings);
    setup.log->channels_made(host_channels(setup.bootstrap.nranks(), host_channel_count(settings),
                                           connections->layout().ranks_per_node));
  }
  return std::unique_ptr<Executor>(std::make_unique<HostExecutor>(
      options, setup, std::move(variables), std::move(table), std::move(connections)));
}

}  // namespace ringside
