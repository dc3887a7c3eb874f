#include "sim/simgrid/run_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <simgrid/s4u.hpp>

#include "engine/collectives/run.h"
#include "sim/call_trace.h"
#include "sim/link_loads.h"
#include "sim/outcome.h"
#include "sim/simgrid/learnt_network.h"
#include "sim/simgrid/platform.h"
#include "sim/simgrid/simgrid_words.h"
#include "sim/simgrid/wiring.h"
#include "trace/recorder.h"

namespace ringside {
namespace {

namespace sg4 = simgrid::s4u;

/// SimGrid's settings. The model is plain: latency, and max-min fair shares of the given bandwidth, without the
/// factors and the window that model TCP.
std::vector<std::string> engine_arguments(std::size_t strands) {
  std::vector<std::string> arguments {
    "ringside", "--log=root.thres:critical", "--cfg=network/model:CM02",
        "--cfg=network/crosstraffic:0", "--cfg=network/latency-factor:1",
        "--cfg=network/bandwidth-factor:1", "--cfg=network/weight-S:0", "--cfg=network/TCP-gamma:0",
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        "--cfg=contexts/factory:thread",  // the sanitizers cannot follow switches of stacks
#elif defined(__x86_64__)
        "--cfg=contexts/factory:raw",  // the fastest, but available for this processor only
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        "--cfg=contexts/stack-size:64",  // KiB; the algorithms' stacks are shallow, and there are many actors
#endif
  };
  // A stack with a guard page uses two of the 65530 mappings that Linux permits a process, and groups have stacks too.
  // Without guards, SimGrid writes each stack once, which allocates its memory at once.
  constexpr std::size_t kMostGuarded = 20'000;
  if (strands > kMostGuarded) arguments.emplace_back("--cfg=contexts/guard-size:0");
  return arguments;
}

std::unique_ptr<sg4::Engine> make_engine(std::size_t strands) {
  static std::vector<std::string> arguments = engine_arguments(strands);
  static std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  return std::make_unique<sg4::Engine>(&count, pointers.data());
}

class Simulation {
 public:
  Simulation(const WireCaller& wants, SimRequest request, Caller& caller)
      : wants_(wants), request_(std::move(request)), network_(wants.nranks), caller_(caller) {
    request_.network = &network_;
  }

  Result<SimResult> run() {
    RINGSIDE_TRY(check_request(request_));
    RINGSIDE_TRY(plan());
    RINGSIDE_TRY(open_trace());

    const auto began = std::chrono::steady_clock::now();
    RINGSIDE_TRY(network_.learn(tasks_, caller_));
    const std::unique_ptr<sg4::Engine> engine = make_engine(count_strands());
    SimgridPlatform platform;
    Wiring wiring(request_, platform);
    RINGSIDE_TRY(wiring.connect(tasks_));
    platform.finish(*request_.network);
    note_times(wiring.lanes());
    for (SimTask& task : tasks_) start_actors(task);
    for (const Wiring::Group& group : wiring.groups()) start_actor(group);
    start_progress_reports(wiring.steps());
    bool is_stuck = false;
    sg4::Engine::on_deadlock_cb([&is_stuck] { is_stuck = true; });
    engine->run();
    if (is_stuck) return deadlock();
    RINGSIDE_TRY(check_chunks(wiring.lanes()));
    close_trace();
    SimResult result = result_of(wiring.lanes());
    result.wall = std::chrono::steady_clock::now() - began;
    return result;
  }

 private:
  Status plan() {
    RINGSIDE_TRY(const TaskPlanner planner,
                 TaskPlanner::make(request_.choice, request_.channels, request_.call));
    for (int rank = 0; rank < request_.network->nranks(); ++rank) {
      RINGSIDE_TRY(auto planned, planner.tasks(Rank{rank}));
      int channel = 0;
      for (ChannelTask& task : planned) {
        tasks_.push_back({.rank = Rank{rank}, .channel = channel++, .task = std::move(task)});
      }
    }
    return {};
  }

  [[nodiscard]] std::size_t count_strands() const {
    std::size_t strands = 0;
    for (const SimTask& task : tasks_) {
      strands += static_cast<std::size_t>(task.task.strands.count);
    }
    return strands;
  }

  [[nodiscard]] SimResult result_of(const std::vector<SimLane*>& lanes) const {
    SimResult result;
    result.time = Seconds{sg4::Engine::get_clock()};
    result.steps = totals_.steps;
    LoadSums sums(times_ ? &*times_ : nullptr);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      result.transfers += lanes[i]->transfers;
      sums.add(i, lanes[i]->bytes, lanes[i]->links);
    }
    set_loads(*request_.network, std::move(sums), result);
    return result;
  }

  void note_times(const std::vector<SimLane*>& lanes) {
    if (!request_.wants_loads) return;
    times_.emplace(lanes.size());
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i]->times = &*times_;
      lanes[i]->line = i;
    }
  }

  /// Checks that every chunk was the one its receiver expected, and that none is left over.
  [[nodiscard]] Status check_chunks(const std::vector<SimLane*>& lanes) const {
    std::string what = totals_.mismatch;
    for (std::size_t i = 0; i < lanes.size() && what.empty(); ++i) {
      if (lanes[i]->unreceived() == 0) continue;
      what = unreceived_text(static_cast<std::int64_t>(lanes[i]->unreceived()),
                             lanes[i]->first_sender);
    }
    if (what.empty()) return {};
    return steps_do_not_fit(request_.choice.collective, what);
  }

  /// Reports progress now, and then every tenth of a second.
  /// all  total number of steps
  void start_progress_reports(std::int64_t all) {
    if (!wants_.reports_progress) return;
    totals_.look_at = 0;
    totals_.look = [this, all, next = std::chrono::steady_clock::now()]() mutable {
      constexpr std::chrono::milliseconds kInterval{100};
      constexpr std::int64_t kStepsBetweenLooks = 1000;  // some ms
      totals_.look_at = totals_.steps + kStepsBetweenLooks;
      const auto now = std::chrono::steady_clock::now();
      if (now < next) return;
      next = now + kInterval;
      caller_.report_progress({totals_.steps, all});
    };
    totals_.look();
  }

  Status open_trace() {
    if (!wants_.is_traced) return {};
    TraceInfo process = this_process_info(TraceClock::Simulated);
    process.pid = wants_.pid;
    process.command_line = wants_.command_line;
    RINGSIDE_TRY(trace_, CallTrace::start(request_, caller_.sink(), std::move(process)));
    return {};
  }

  /// Errors of the caller's sink are ignored, because the caller knows them.
  void close_trace() {
    if (trace_ == nullptr) return;
    const auto nchannels = static_cast<std::size_t>(request_.choice.nchannels);
    for (int rank = 0; rank < request_.network->nranks(); ++rank) {
      const std::size_t first = static_cast<std::size_t>(rank) * nchannels;
      double end = 0;
      for (std::size_t i = 0; i < nchannels; ++i) end = std::max(end, tasks_[first + i].end);
      trace_->record_call(rank, Seconds{end});
    }
    trace_->flush();
  }

  void start_actors(SimTask& task) {
    const TraceEvent event = trace_ == nullptr
                                 ? TraceEvent{.rank = to_int(task.rank),
                                              .channel = static_cast<std::uint16_t>(task.channel)}
                                 : trace_->event_of(to_int(task.rank), task.channel);
    const double launch = request_.costs.launch.count();
    int number = 0;
    for (SimStrand& strand : task.strands) {
      strand.primitives = std::make_unique<SimPrimitives>(
          SimPrimitives::Setup{.map = &task.task.map,
                               .send_ports = &task.send_ports,
                               .recv_ports = &task.recv_ports,
                               .slices = Slices(request_.choice, size_of(request_.call.type)),
                               .element = size_of(request_.call.type),
                               .wire_factor = wire_factor(request_.choice.protocol),
                               .totals = &totals_,
                               .step = &task.steps,
                               .lane = trace_ == nullptr ? nullptr : &trace_->lane(),
                               .traced = &task.traced,
                               .traces_slices = request_.traces_slices,
                               .event = event});
      const auto actor = add_actor("strand", task.host, [&task, &strand, number, launch] {
        sg4::this_actor::sleep_for(launch);
        run_strand_alone(*strand.primitives, task.task, number);
        for (SimSendEnd* const end : strand.sends) end->drain();
        task.end = std::max(task.end, sg4::Engine::get_clock());
      });
      for (SimConnection* const connection : strand.receives) connection->set_receiver(actor);
      ++number;
    }
  }

  static void start_actor(const Wiring::Group& group) {
    SimGroup* const carried = group.group.get();
    add_actor("switch", group.host, [carried] { carried->run(); })->daemonize();
  }

  /// errors  always: the first few waiting ranks and what each waits for
  [[nodiscard]] Error deadlock() const {
    std::vector<std::string> waits;
    for (const SimTask& task : tasks_) {
      for (const SimStrand& strand : task.strands) {
        if (std::string text = strand.primitives->waits_for(); !text.empty()) {
          waits.push_back(std::move(text));
        }
      }
    }
    return stuck_at(Seconds{sg4::Engine::get_clock()}, waits);
  }

  const WireCaller wants_;
  SimRequest request_;
  LearntNetwork network_;
  Caller& caller_;
  std::vector<SimTask> tasks_;  ///< [rank x nchannels + channel]
  SimTotals totals_;
  std::optional<LineTimes> times_;    ///< null: not recorded
  std::unique_ptr<CallTrace> trace_;  ///< null: not traced
};

}  // namespace

Result<SimResult> run_engine(WireJob job, Caller& caller) {
  try {
    return Simulation{job.caller, std::move(job.request), caller}.run();
  } catch (const std::exception& exception) {
    return Error{ErrorCode::System, fmt::format("SimGrid: {}", exception.what())};
  }
}

}  // namespace ringside
