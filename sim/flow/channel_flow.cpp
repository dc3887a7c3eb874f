#include "sim/flow/channel_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "sim/slices.h"

namespace ringside {
namespace {

/// Tasks with more steps are estimated from their first chunk, if all chunks count as equal.
constexpr std::int64_t kFewSteps = 1 << 14;

/// The bytes on the wire that a task sends over each of its ports in the whole call.
class Sent {
 public:
  Sent(const SimRequest& request, const EventTask& task, bool is_even)
      : task_(task),
        per_element_(static_cast<double>(size_of(request.call.type).value) *
                     wire_factor(request.choice.protocol)),
        slices_(request.choice, size_of(request.call.type)),
        is_even_(is_even && count_steps(task.program()) > kFewSteps),
        bytes_(task.send.size()),
        messages_(task.send.size()) {
    for (std::int64_t loop = 0; loop < task.program().loops; ++loop) {
      add_loop(loop);
      if (loop + 1 == task.program().turns) first_ = all_;
    }
  }

  [[nodiscard]] double bytes(std::size_t port) const { return bytes_[port]; }
  [[nodiscard]] std::int64_t messages(std::size_t port) const { return messages_[port]; }
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  /// Return the bytes over all ports: in the first loop of each turn, and in all loops.
  [[nodiscard]] double first() const { return first_; }
  [[nodiscard]] double all() const { return all_; }

 private:
  void add_loop(std::int64_t loop) {
    const Program& program = task_.program();
    const int turn = task_.task.turn_of(loop);
    const std::int64_t first = is_even_ ? task_.task.map.at(loop, 0).count : 0;
    for (const StepRun& run : program.steps) {
      if (run.turn != turn) continue;
      steps_ += run.repeat;
      if (is_even_ && run.to_stride == 0) {
        for_each_port(run.to, [&](int port) { add(port, first, run.repeat); });
        continue;
      }
      for_each_step(program, run, [&](const Step& step) {
        const std::int64_t count =
            is_even_ ? first : task_.task.map.at(loop, task_.chunk(step.chunk)).count;
        for_each_port(step.to, [&](int port) { add(port, count, 1); });
      });
    }
  }

  void add(int port, std::int64_t count, std::int64_t times) {
    if (count == 0) return;
    const auto at = static_cast<std::size_t>(port);
    const double bytes = static_cast<double>(count * times) * per_element_;
    bytes_[at] += bytes;
    all_ += bytes;
    messages_[at] += times * slices_.of(count);
  }

  const EventTask& task_;
  const double per_element_;
  const Slices slices_;
  const bool is_even_;
  std::vector<double> bytes_;
  std::vector<std::int64_t> messages_;
  std::int64_t steps_ = 0;
  double first_ = 0, all_ = 0;
};

FlowShape make_shape(const SimRequest& request, EventJob job) {
  FlowShape shape{.job = std::move(job)};
  shape.bytes.resize(shape.job.lines.size());
  double first = 0;
  double all = 0;
  for (const EventTask& task : shape.job.tasks) {
    const Program& program = task.program();
    const Sent sent(request, task, shape.job.is_even);
    shape.loops = std::max(shape.loops, program.loops);
    shape.turns = std::max(shape.turns, program.turns);
    shape.steps += sent.steps() * task.copies;
    first += sent.first() * static_cast<double>(task.copies);
    all += sent.all() * static_cast<double>(task.copies);
    if (program.loops > 0) shape.steps_a_loop += sent.steps() / program.loops;
    for (std::size_t port = 0; port < task.send.size(); ++port) {
      if (task.send[port] < 0) continue;
      const LineEnd& end = shape.job.ends[static_cast<std::size_t>(task.send[port])];
      const auto number = static_cast<std::size_t>(end.line);
      const EventLine& line = shape.job.lines[number];
      // Only the first sender of a group counts, because the senders together send one message.
      if (line.senders.front() != task.send[port]) continue;
      shape.bytes[number] = sent.bytes(port) / line.efficiency;
      shape.transfers += sent.messages(port) * line.copies;
    }
  }
  if (all > 0) shape.first = first / all;
  return shape;
}

double narrowest(const std::vector<int>& links, const SimNetwork& network,
                 std::unordered_map<int, double>& known) {
  double rate = std::numeric_limits<double>::infinity();
  for (const int link : links) {
    const auto [place, is_new] = known.try_emplace(link);
    if (is_new) place->second = network.rate(link).value;
    rate = std::min(rate, place->second);
  }
  return rate;
}

/// Sets the rate of each line to that of its narrowest link; fold_shape() distinguishes lines by
/// it.
void set_rates(const SimNetwork& network, EventJob& job) {
  std::unordered_map<int, double> known;
  for (EventLine& line : job.lines) line.rate = narrowest(line.links, network, known);
}

}  // namespace

struct FlowShapes::Known {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::shared_ptr<const FlowShape>> shapes;
};

FlowShapes::FlowShapes() : known_(std::make_unique<Known>()) {}
FlowShapes::~FlowShapes() = default;

Result<ChannelFlow> FlowShapes::channel(const SimRequest& request, const TaskPlanner& planner,
                                        int number) {
  RINGSIDE_TRY(EventJob job, wire_channel(request, planner, number));
  set_rates(*request.network, job);
  std::optional<FoldedShape> folded = fold_shape(job);
  if (!folded) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("flow simulates no exchange of so many transfers: {} ranks",
                             request.network->nranks()),
                 "--fidelity event takes each, or give fewer nodes"};
  }
  ChannelFlow channel;
  channel.kinds = std::move(folded->kind_of);
  channel.first.reserve(job.lines.size() + 1);
  for (const EventLine& line : job.lines) {
    const LineEnd& sender = job.ends[static_cast<std::size_t>(line.senders.front())];
    channel.lines.push_back({line.first_sender, sender.peer, line.group});
    channel.links.insert(channel.links.end(), line.links.begin(), line.links.end());
    channel.first.push_back(static_cast<std::uint32_t>(channel.links.size()));
  }
  {
    const std::scoped_lock lock(known_->mutex);
    std::shared_ptr<const FlowShape>& known = known_->shapes[folded->colour];
    if (known == nullptr) {
      known = std::make_shared<const FlowShape>(make_shape(request, std::move(folded->job)));
    }
    channel.shape = known;
  }
  return channel;
}

Result<ChannelFlow> FlowShapes::channel_like(const SimRequest& request, const TaskPlanner& planner,
                                             int number, const ChannelFlow& known) {
  const SimNetwork& network = *request.network;
  std::unordered_map<int, double> rates;
  ChannelFlow channel{.shape = known.shape, .kinds = known.kinds};
  channel.first.reserve(known.first.size());
  for (std::size_t i = 0; i < known.lines.size(); ++i) {
    const ChannelFlow::Joins& line = known.lines[i];
    const SimRoute route = line.group != nullptr ? network.group_route(*line.group, number)
                                                 : network.route(line.from, line.to, number);
    const EventLine& kind = known.shape->job.lines[static_cast<std::size_t>(known.kinds[i])];
    // Another route may be slower or longer: then the line is of another kind.
    const bool is_alike = !route.links.empty() &&
                          narrowest(route.links, network, rates) == kind.rate &&
                          (line.group != nullptr || latency_of(request, route) == kind.latency);
    if (!is_alike) return this->channel(request, planner, number);
    channel.links.insert(channel.links.end(), route.links.begin(), route.links.end());
    channel.first.push_back(static_cast<std::uint32_t>(channel.links.size()));
  }
  return channel;
}

}  // namespace ringside
