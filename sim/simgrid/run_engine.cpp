#include "sim/simgrid/run_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <simgrid/s4u.hpp>

#include "base/text.h"
#include "engine/collectives/run.h"
#include "sim/simgrid/learnt_network.h"
#include "sim/simgrid/platform.h"
#include "sim/simgrid/simgrid_words.h"
#include "sim/simgrid/wiring.h"
#include "trace/recorder.h"

namespace ringside {
namespace {

namespace sg4 = simgrid::s4u;

/// SimGrid's settings. The model is plain: latency, and max-min fair shares of the bandwidth as given,
/// without the factors and the window that stand for TCP.
std::vector<std::string> engine_arguments(std::size_t strands) {
  std::vector<std::string> arguments {
    "ringside", "--log=root.thres:critical", "--cfg=network/model:CM02",
        "--cfg=network/crosstraffic:0", "--cfg=network/latency-factor:1",
        "--cfg=network/bandwidth-factor:1", "--cfg=network/weight-S:0", "--cfg=network/TCP-gamma:0",
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
        "--cfg=contexts/factory:thread",  // the sanitizers do not follow a switch of stacks
#elif defined(__x86_64__)
        "--cfg=contexts/factory:raw",  // the fastest, and there for this processor only
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        "--cfg=contexts/stack-size:64",  // KiB; the algorithms are shallow, and actors are many
#endif
  };
  // A stack with a guard page is two of the 65530 mappings that Linux gives a process, and groups have
  // stacks as well. Without guards SimGrid writes each stack once, which takes its memory at once.
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

Status check(const SimRequest& request) {
  const int slots = request.choice.slots_per_chunk;
  if (slots < 1 || slots > kSlots) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{} slots a chunk", slots),
                 fmt::format("a connection has {}; give 1 to {}", kSlots, kMaxSlotsPerChunk)};
  }
  for (const auto& ring : request.channels.rings) {
    std::vector<bool> seen(static_cast<std::size_t>(request.network->nranks()), false);
    for (const Rank rank : ring) {
      const auto index = static_cast<std::size_t>(to_int(rank));
      if (index < seen.size()) seen[index] = true;
    }
    if (ring.size() != seen.size() || std::find(seen.begin(), seen.end(), false) != seen.end()) {
      return Error{
          ErrorCode::InvalidArgument,
          fmt::format("a ring does not hold each of the network's {} ranks once", seen.size()),
          "lay the channels on the same job"};
    }
  }
  return {};
}

class Simulation {
 public:
  Simulation(const WireCaller& wants, SimRequest request, Caller& caller)
      : wants_(wants), request_(std::move(request)), network_(wants.nranks), caller_(caller) {
    request_.network = &network_;
  }

  Result<SimResult> run() {
    RINGSIDE_TRY(check(request_));
    RINGSIDE_TRY(plan());
    RINGSIDE_TRY(open_trace());

    const auto began = std::chrono::steady_clock::now();
    RINGSIDE_TRY(network_.learn(tasks_, caller_));
    const std::unique_ptr<sg4::Engine> engine = make_engine(count_strands());
    Platform platform;
    Wiring wiring(request_, platform);
    RINGSIDE_TRY(wiring.connect(tasks_));
    platform.finish(*request_.network);
    for (SimTask& task : tasks_) start_actors(task);
    for (const Wiring::Group& group : wiring.groups()) start_actor(group);
    tell_of_progress(wiring.steps());
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
    for (int rank = 0; rank < request_.network->nranks(); ++rank) {
      RINGSIDE_TRY(auto planned,
                   plan_channels(request_.choice, request_.channels, request_.call, Rank{rank}));
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

  [[nodiscard]] SimResult result_of(const std::vector<const SimLane*>& lanes) const {
    SimResult result;
    result.time = Seconds{sg4::Engine::get_clock()};
    result.steps = totals_.steps;
    std::map<int, double> bytes;  // by link
    for (const SimLane* lane : lanes) {
      result.transfers += lane->transfers;
      if (lane->bytes == 0) continue;
      for (const int link : lane->links) bytes[link] += lane->bytes;
    }
    for (const auto& [link, sum] : bytes) {
      const Seconds needs{sum / request_.network->link(link).rate.value};
      if (needs <= result.busiest) continue;
      result.busiest = needs;
      result.busiest_link = link;
    }
    return result;
  }

  /// Every chunk was the one its receiver expected, and none is left over.
  [[nodiscard]] Status check_chunks(const std::vector<const SimLane*>& lanes) const {
    std::string what = totals_.mismatch;
    for (std::size_t i = 0; i < lanes.size() && what.empty(); ++i) {
      if (lanes[i]->unreceived() == 0) continue;
      what = fmt::format("{} chunks that rank {} sent are never received", lanes[i]->unreceived(),
                         to_int(lanes[i]->first_sender));
    }
    if (what.empty()) return {};
    return Error{ErrorCode::Corrupt,
                 fmt::format("the steps of {} do not fit together: {}",
                             to_string(request_.choice.collective), what),
                 "the algorithm is at fault: the proof of its recorded program says more"};
  }

  /// Now, and from now on every tenth of a second.  all  steps that there are
  void tell_of_progress(std::int64_t all) {
    if (!wants_.tells_progress) return;
    totals_.look_at = 0;
    totals_.look = [this, all, next = std::chrono::steady_clock::now()]() mutable {
      constexpr std::chrono::milliseconds kInterval{100};
      constexpr std::int64_t kStepsBetweenLooks = 1000;  // some ms
      totals_.look_at = totals_.steps + kStepsBetweenLooks;
      const auto now = std::chrono::steady_clock::now();
      if (now < next) return;
      next = now + kInterval;
      caller_.tell({totals_.steps, all});
    };
    totals_.look();
  }

  Status open_trace() {
    if (!wants_.is_traced) return {};
    TraceInfo info = this_process_info(TraceClock::Simulated);
    info.pid = wants_.pid;
    info.command_line = wants_.command_line;
    info.values = {{"collective", to_string(request_.choice.collective)},
                   {"cluster", request_.trace_label},
                   {"nranks", fmt::format("{}", request_.network->nranks())},
                   {"nchannels", fmt::format("{}", request_.choice.nchannels)},
                   {"count", fmt::format("{}", request_.call.count)},
                   {"type", to_string(request_.call.type)}};
    RINGSIDE_TRY(recorder_, TraceRecorder::start(caller_.sink(), std::move(info)));
    trace_ = recorder_->add_lane();
    return {};
  }

  /// (What the caller's sink does not take, the caller knows.)
  void close_trace() {
    if (recorder_ == nullptr) return;
    for (int rank = 0; rank < request_.network->nranks(); ++rank) record_call(rank);
    recorder_->flush();
  }

  /// The whole call on one rank: from its launch until its last channel is through.
  void record_call(int rank) {
    const auto first = static_cast<std::size_t>(rank * request_.choice.nchannels);
    double end = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(request_.choice.nchannels); ++i) {
      end = std::max(end, tasks_[first + i].end);
    }
    TraceEvent event = event_of(rank);
    event.kind = EventKind::Collective;
    event.end_ns = std::llround(end * 1e9);
    event.bytes =
        call_bytes(request_.choice.collective, request_.call, request_.network->nranks()).value;
    trace_->record(event);
  }

  [[nodiscard]] TraceEvent event_of(int rank) const {
    TraceEvent event;
    event.rank = rank;
    event.collective = request_.choice.collective;
    event.algorithm = request_.choice.algorithm;
    event.protocol = request_.choice.protocol;
    return event;
  }

  void start_actors(SimTask& task) {
    TraceEvent event = event_of(to_int(task.rank));
    event.channel = static_cast<std::uint16_t>(task.channel);
    const double launch = request_.costs.launch.count();
    int number = 0;
    for (SimStrand& strand : task.strands) {
      strand.primitives = std::make_unique<SimPrimitives>(
          SimPrimitives::Setup{.map = &task.task.map,
                               .send_ports = &task.send_ports,
                               .recv_ports = &task.recv_ports,
                               .slots_per_chunk = request_.choice.slots_per_chunk,
                               .element = size_of(request_.call.type),
                               .wire_factor = wire_factor(request_.choice.protocol),
                               .totals = &totals_,
                               .step = &task.steps,
                               .lane = trace_,
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

  /// errors  always: who waits for what, the first few of them
  [[nodiscard]] Error deadlock() const {
    constexpr std::size_t kShown = 4;
    std::vector<std::string> waits;
    std::size_t count = 0;
    for (const SimTask& task : tasks_) {
      for (const SimStrand& strand : task.strands) {
        std::string text = strand.primitives->waits_for();
        if (text.empty()) continue;
        if (++count <= kShown) waits.push_back(std::move(text));
      }
    }
    if (count > kShown) waits.push_back(fmt::format("and {} more", count - kShown));
    return Error{
        ErrorCode::Timeout,
        fmt::format("the simulated collective is stuck at {}: {}",
                    format_time(Seconds{sg4::Engine::get_clock()}), fmt::join(waits, "; ")),
        fmt::format("a chunk may take at most {} of a connection's {} slots", kMaxSlotsPerChunk,
                    kSlots)};
  }

  const WireCaller wants_;
  SimRequest request_;
  LearntNetwork network_;
  Caller& caller_;
  std::vector<SimTask> tasks_;  ///< [rank x nchannels + channel]
  SimTotals totals_;
  std::unique_ptr<TraceRecorder> recorder_;
  TraceLane* trace_ = nullptr;
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
