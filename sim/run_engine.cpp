#include "sim/run_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <simgrid/s4u.hpp>

#include "base/text.h"
#include "engine/protocol/slot_fifo.h"
#include "sim/platform.h"
#include "sim/sim_primitives.h"
#include "trace/recorder.h"

namespace ringside {
namespace {

namespace sg4 = simgrid::s4u;

static_assert(2 * kMaxSlotsPerChunk <= kSlots, "two chunks must fit a connection");

/// One rank's part of one channel: what its actor runs, and what it says when asked.
struct Lane {
  ChannelTask task;
  std::unique_ptr<SimPrimitives> primitives;
  double end = 0;  ///< on the simulated clock
};

/// SimGrid's settings. The model is plain: latency, and max-min fair shares of the bandwidth as given,
/// without the factors and the window that stand for TCP.
std::vector<std::string> engine_arguments() {
  return {
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
}

std::unique_ptr<sg4::Engine> make_engine() {
  static std::vector<std::string> arguments = engine_arguments();
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
    std::vector<bool> seen(static_cast<std::size_t>(request.cluster.nranks()), false);
    for (const Rank rank : ring) {
      const auto index = static_cast<std::size_t>(to_int(rank));
      if (index < seen.size()) seen[index] = true;
    }
    if (ring.size() != seen.size() || std::find(seen.begin(), seen.end(), false) != seen.end()) {
      return Error{
          ErrorCode::InvalidArgument,
          fmt::format("a ring does not hold each of the cluster's {} ranks once", seen.size()),
          "lay the channels on the same cluster"};
    }
  }
  return {};
}

class Simulation {
 public:
  explicit Simulation(const SimRequest& request) : request_(request) {}

  Result<SimResult> run(volatile std::int64_t* progress) {
    RINGSIDE_TRY(check(request_));
    RINGSIDE_TRY(plan());
    RINGSIDE_TRY(open_trace());
    totals_.progress = progress;

    const auto began = std::chrono::steady_clock::now();
    const std::unique_ptr<sg4::Engine> engine = make_engine();
    start_actors(make_platform(request_.cluster));
    bool is_stuck = false;
    sg4::Engine::on_deadlock_cb([&is_stuck] { is_stuck = true; });
    engine->run();
    if (is_stuck) return deadlock();
    RINGSIDE_TRY(check_chunks());
    RINGSIDE_TRY(close_trace());
    SimResult result{.time = Seconds{sg4::Engine::get_clock()},
                     .transfers = totals_.transfers,
                     .steps = totals_.steps,
                     .wall = std::chrono::steady_clock::now() - began};
    return result;
  }

 private:
  Status plan() {
    for (int rank = 0; rank < request_.cluster.nranks(); ++rank) {
      RINGSIDE_TRY(auto tasks,
                   plan_channels(request_.choice, request_.channels, request_.call, Rank{rank}));
      if (!is_ring_task(tasks.front())) {
        return Error{
            ErrorCode::Unsupported,
            fmt::format("the simulator has no {} by {}", to_string(request_.choice.collective),
                        to_string(request_.choice.algorithm)),
            "it runs the ring algorithms"};
      }
      for (ChannelTask& task : tasks) lanes_.push_back({std::move(task), nullptr, 0});
    }
    return {};
  }

  /// Every chunk was the one its receiver expected, and none is left over.
  [[nodiscard]] Status check_chunks() const {
    std::string what = totals_.mismatch;
    for (std::size_t i = 0; i < connections_.size() && what.empty(); ++i) {
      if (connections_[i].chunks.empty()) continue;
      what = fmt::format("{} chunks that rank {} sent are never received",
                         connections_[i].chunks.size(),
                         i / static_cast<std::size_t>(request_.choice.nchannels));
    }
    if (what.empty()) return {};
    return Error{ErrorCode::Corrupt,
                 fmt::format("the steps of {} do not fit together: {}",
                             to_string(request_.choice.collective), what),
                 "the algorithm is at fault: the proof of its recorded program says more"};
  }

  Status open_trace() {
    if (request_.trace_path.empty()) return {};
    TraceInfo info = this_process_info(TraceClock::Simulated);
    info.values = {{"collective", to_string(request_.choice.collective)},
                   {"node_type", request_.cluster.node.name},
                   {"nodes", fmt::format("{}", request_.cluster.nodes)},
                   {"nranks", fmt::format("{}", request_.cluster.nranks())},
                   {"nchannels", fmt::format("{}", request_.choice.nchannels)},
                   {"count", fmt::format("{}", request_.call.count)},
                   {"type", to_string(request_.call.type)}};
    RINGSIDE_TRY(recorder_, TraceRecorder::create(request_.trace_path, std::move(info)));
    trace_ = recorder_->add_lane();
    return {};
  }

  Status close_trace() {
    if (recorder_ == nullptr) return {};
    for (int rank = 0; rank < request_.cluster.nranks(); ++rank) record_call(rank);
    recorder_->flush();
    if (const std::uint64_t dropped = recorder_->stats().dropped; dropped > 0) {
      return Error{ErrorCode::System,
                   fmt::format("{}: {} events could not be written", request_.trace_path, dropped),
                   "make room on the disk"};
    }
    return {};
  }

  /// The whole call on one rank: from its launch until its last channel is through.
  void record_call(int rank) {
    double end = 0;
    for (int channel = 0; channel < request_.choice.nchannels; ++channel) {
      end = std::max(end, lane(rank, channel).end);
    }
    TraceEvent event = event_of(rank);
    event.kind = EventKind::Collective;
    event.end_ns = std::llround(end * 1e9);
    event.bytes =
        call_bytes(request_.choice.collective, request_.call, request_.cluster.nranks()).value;
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

  Lane& lane(int rank, int channel) {
    return lanes_[static_cast<std::size_t>(rank * request_.choice.nchannels + channel)];
  }

  SimConnection& connection_from(Rank rank, int channel) {
    return connections_[static_cast<std::size_t>(to_int(rank) * request_.choice.nchannels +
                                                 channel)];
  }

  [[nodiscard]] Seconds step_latency(Rank from, Rank to) const {
    const NodeType& node = request_.cluster.node;
    const bool same_node = to_int(from) / node.gpus == to_int(to) / node.gpus;
    return same_node ? node.latency.gpu_step : node.latency.net_step;
  }

  void start_actors(const std::vector<sg4::Host*>& hosts) {
    connections_.resize(lanes_.size());
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      connections_[i].mailbox = sg4::Mailbox::by_name(fmt::format("{}", i));
      connections_[i].free_slots = kSlots;
      connections_[i].room = sg4::Semaphore::create(0);
    }
    for (int channel = 0; channel < request_.choice.nchannels; ++channel) {
      for (const Rank rank : request_.channels.rings[static_cast<std::size_t>(channel)]) {
        start_actor(rank, channel, hosts[static_cast<std::size_t>(to_int(rank))]);
      }
    }
  }

  void start_actor(Rank rank, int channel, sg4::Host* host) {
    Lane& own = lane(to_int(rank), channel);
    const std::vector<Rank>& ring = request_.channels.rings[static_cast<std::size_t>(channel)];
    const Ring& place = own.task.ring;
    const Rank before = ring[static_cast<std::size_t>(place.before(place.index))];
    const Rank after = ring[static_cast<std::size_t>(place.after(place.index))];
    TraceEvent event = event_of(to_int(rank));
    event.channel = static_cast<std::uint16_t>(channel);
    event.recv_peer = to_int(before);
    event.send_peer = to_int(after);
    SimConnection& recv = connection_from(before, channel);
    own.primitives = std::make_unique<SimPrimitives>(
        SimPrimitives::Setup{.map = &own.task.map,
                             .send = &connection_from(rank, channel),
                             .recv = &recv,
                             .recv_latency = step_latency(before, rank),
                             .slots_per_chunk = request_.choice.slots_per_chunk,
                             .element = size_of(request_.call.type),
                             .totals = &totals_,
                             .lane = trace_,
                             .event = event});
    const double launch = request_.cluster.node.latency.base.count();
    const sg4::ActorPtr actor = sg4::Actor::create("lane", host, [&own, launch] {
      sg4::this_actor::sleep_for(launch);
      run_channel(*own.primitives, own.task);
      own.primitives->drain();
      own.end = sg4::Engine::get_clock();
    });
    // With a receiver of its own, a mailbox lets a chunk travel before the receiver asks for it.
    recv.mailbox->set_receiver(actor);
  }

  /// errors  always: who waits for what, the first few of them
  [[nodiscard]] Error deadlock() const {
    constexpr std::size_t kShown = 4;
    std::vector<std::string> waits;
    std::size_t count = 0;
    for (const Lane& one : lanes_) {
      std::string text = one.primitives->waits_for();
      if (text.empty()) continue;
      if (++count <= kShown) waits.push_back(std::move(text));
    }
    if (count > kShown) waits.push_back(fmt::format("and {} more", count - kShown));
    return Error{
        ErrorCode::Timeout,
        fmt::format("the simulated collective is stuck at {}: {}",
                    format_time(Seconds{sg4::Engine::get_clock()}), fmt::join(waits, "; ")),
        fmt::format("a chunk may take at most {} of a connection's {} slots", kMaxSlotsPerChunk,
                    kSlots)};
  }

  const SimRequest& request_;
  std::vector<Lane> lanes_;                 ///< [rank x nchannels + channel]
  std::vector<SimConnection> connections_;  ///< the same, by the sending rank
  SimTotals totals_;
  std::unique_ptr<TraceRecorder> recorder_;
  TraceLane* trace_ = nullptr;
};

}  // namespace

Result<SimResult> run_engine(const SimRequest& request, volatile std::int64_t* progress) {
  try {
    return Simulation{request}.run(progress);
  } catch (const std::exception& exception) {
    return Error{ErrorCode::System, fmt::format("SimGrid: {}", exception.what())};
  }
}

}  // namespace ringside
