#include "sim/event/event_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <utility>

#include "engine/collectives/program_cursor.h"
#include "sim/call_trace.h"
#include "sim/event/fair_share.h"
#include "sim/event/fold.h"
#include "sim/event/lines.h"
#include "sim/event/wiring.h"
#include "sim/link_loads.h"
#include "sim/outcome.h"
#include "sim/slices.h"

namespace ringside {
namespace {

/// One strand of a task: it executes the task's steps.
struct EventStrand {
  enum class Phase : std::uint8_t { Begin, Await, Acquire, Post, Drain, Done };

  EventTask* task = nullptr;
  Phase phase = Phase::Begin;
  std::int32_t port = 0;  ///< next port of the phase; lower ports are done
  ProgramCursor at;
  std::int64_t count = 0;  ///< elements of the step's chunk
  std::int64_t left = 0;   ///< elements that have not started yet
  std::int64_t slice = 0;  ///< elements in flight
  double begin = 0;        ///< start time of the step
  /// The strand's own clock; ahead of the simulation's clock while the strand uses no shared links
  double now = 0;
  std::vector<std::int32_t> sends = {};  ///< indices of the LineEnds that it sends on
};

/// An executed step, for the trace.
struct Traced {
  EventTask* task;
  Step step;
  std::int64_t loop;
  double begin, end;
  std::int64_t first = 0;   ///< first element of a slice within the chunk
  std::int64_t count = -1;  ///< elements of a slice; -1: the whole chunk
};

/// Keeps the first error of a recorder's sink, because the recorder itself continues after an error.
struct KeptStatus : TraceSink {
  explicit KeptStatus(TraceSink& into) : sink(into) {}
  Status write(std::span<const std::byte> block) override {
    if (status) status = sink.write(block);
    return status;
  }
  TraceSink& sink;
  Status status;
};

class EventEngine {
 public:
  EventEngine(const SimRequest& request, EventJob job)
      : request_(request),
        job_(std::move(job)),
        slices_(request.choice, size_of(request.call.type)) {}

  Result<SimResult> run() {
    RINGSIDE_TRY(run(lay_paths(job_), std::numeric_limits<std::int64_t>::max()));
    RINGSIDE_TRY(write_trace());
    return result_of();
  }

  Result<LinesRun> run_loops(std::int64_t loops) {
    spans_.resize(job_.lines.size());
    RINGSIDE_TRY(run({}, loops));
    for (std::size_t i = 0; i < spans_.size(); ++i) spans_[i].last = job_.lines[i].last_crossed;
    return LinesRun{end(), std::move(spans_)};
  }

  Result<Seconds> run_shared(std::int64_t loops) {
    RINGSIDE_TRY(run(lay_paths(job_), loops));
    return end();
  }

 private:
  using Phase = EventStrand::Phase;

  Status run(const EventPaths& paths, std::int64_t loops) {
    loops_ = loops;
    share_ = std::make_unique<FairShare>(paths.rates, paths.routes);
    for (EventLine& line : job_.lines) {
      line.all_senders = weight_of(line.senders);
      line.all_receivers = weight_of(line.receivers);
      line.slots.resize(kSlots);
    }
    capacity_ = kSlots / slices_.slots();
    per_element_ = static_cast<double>(size_of(request_.call.type).value) *
                   wire_factor(request_.choice.protocol);
    if (request_.wants_loads) times_.emplace(job_.lines.size());
    make_strands();
    for (const EventTask& task : job_.tasks) all_steps_ += count_steps(task.program());
    if (request_.progress) report_at_ = 0;
    for (std::size_t i = 0; i < strands_.size(); ++i)
      ready_.push_back(static_cast<std::int32_t>(i));
    go_on();
    if (done_ < strands_.size()) return stuck();
    return check_chunks();
  }

  struct Alarm {
    double time;
    std::uint64_t number;
    std::int32_t strand;  ///< -1: the line is to start
    std::int32_t line;
    friend bool operator<(const Alarm& a, const Alarm& b) {
      return a.time != b.time ? a.time > b.time : a.number > b.number;
    }
  };

  EventLine& line_of(const LineEnd& end) { return job_.lines[static_cast<std::size_t>(end.line)]; }
  LineEnd& end_at(std::int32_t number) { return job_.ends[static_cast<std::size_t>(number)]; }

  [[nodiscard]] std::int32_t weight_of(const std::vector<std::int32_t>& ends) const {
    std::int32_t all = 0;
    for (const std::int32_t end : ends) all += job_.ends[static_cast<std::size_t>(end)].weight;
    return all;
  }

  /// Returns the chunk that is sent or expected. Empty in a folded job, because the tasks that one task represents
  /// have other chunk numbers.
  [[nodiscard]] EventMessage message_of(const EventStrand& s) const {
    if (job_.is_folded) return {};
    return {s.task->task.map.piece_of(s.at.loop()), s.at.step().chunk};
  }

  void make_strands() {
    for (EventTask& task : job_.tasks) {
      for (std::int32_t number = 0; number < task.task.strands.count; ++number) {
        EventStrand& strand = strands_.emplace_back();
        strand.task = &task;
        strand.at = ProgramCursor(number);
        strand.now = request_.costs.launch.count();
        strand.sends = task.sends_of(number);
      }
    }
  }

  void go_on() {
    for (;;) {
      run_ready();
      const double flow = share_->next();
      const double alarm =
          alarms_.empty() ? std::numeric_limits<double>::infinity() : alarms_.top().time;
      const double next = std::min(flow, alarm);
      if (next == std::numeric_limits<double>::infinity()) return;
      clock_ = next;
      share_->advance(next, [this](std::uint32_t line) { finish_flow(line); });
      while (!alarms_.empty() && alarms_.top().time <= clock_) {
        const Alarm due = alarms_.top();
        alarms_.pop();
        if (due.strand >= 0) {
          ready_.push_back(due.strand);
        } else {
          start_flow(due.line);
        }
      }
    }
  }

  void run_ready() {
    while (!ready_.empty()) {
      running_.swap(ready_);
      for (const std::int32_t strand : running_) go(strand);
      running_.clear();
    }
  }

  void wake(LineEnd& end) {
    if (end.waiter < 0) return;
    ready_.push_back(std::exchange(end.waiter, -1));
  }

  /// Executes steps until the strand must wait or is done.
  void go(std::int32_t id) {
    EventStrand& s = strands_[static_cast<std::size_t>(id)];
    for (;;) {
      switch (s.phase) {
        case Phase::Begin:
          s.port = 0;
          if (!next_step(s)) {
            s.phase = Phase::Drain;
          } else if (s.count > 0) {
            next_slice(s);
          } else {
            end_step(s);
          }
          break;
        case Phase::Await:
          if (!await(s, id)) return;
          s.port = 0;
          s.phase = Phase::Acquire;
          break;
        case Phase::Acquire:
          if (!acquire(s, id)) return;
          release(s);
          s.port = 0;
          s.phase = Phase::Post;
          break;
        case Phase::Post:
          if (!post(s, id)) return;
          if (s.left > 0) {
            if (request_.traces_slices) note(s);
            next_slice(s);
          } else {
            end_step(s);
            s.phase = Phase::Begin;
          }
          break;
        case Phase::Drain:
          if (!drain(s, id)) return;
          s.task->end = std::max(s.task->end, s.now);
          s.phase = Phase::Done;
          ++done_;
          return;
        case Phase::Done:
          return;
      }
    }
  }

  /// Loads the next step.
  /// returns  false: all loops are done
  bool next_step(EventStrand& s) {
    const Program& program = s.task->program();
    if (!s.at.load(program, s.task->steps_of.turned, std::min(program.loops, loops_))) return false;
    s.count = s.task->task.map.at(s.at.loop(), job_.is_even ? 0 : s.at.step().chunk).count;
    s.left = s.count;
    s.begin = s.now;
    return true;
  }

  /// Records an executed step, or its slice, for the trace.
  void note(EventStrand& s) {
    Traced& one = traced_.emplace_back(s.task, s.at.step(), s.at.loop(), s.begin, s.now);
    if (!request_.traces_slices || s.count == 0) return;
    one.first = s.count - s.left - s.slice;
    one.count = s.slice;
    s.begin = s.now;
  }

  void next_slice(EventStrand& s) {
    s.slice = slices_.next(s.count, s.left);
    s.left -= s.slice;
    s.port = 0;
    s.phase = Phase::Await;
  }

  void end_step(EventStrand& s) {
    if (request_.trace != nullptr) note(s);
    if (++steps_ >= report_at_) [[unlikely]]
      report_progress();
    ++s.task->steps;
    s.at.pass(s.task->program());
  }

  /// Calls visit(end) for each port of the set from s.port on.
  /// returns  false: a visit returned false; it is repeated when the strand continues
  template <typename Visit>
  bool for_each_end(EventStrand& s, const std::vector<std::int32_t>& ends, Ports ports,
                    const Visit& visit) {
    for (; s.port < kMaxPortsInSet && (ports.bits >> s.port) != 0; ++s.port) {
      if (((ports.bits >> s.port) & 1U) == 0) continue;
      if (!visit(end_at(ends[static_cast<std::size_t>(ports.first + s.port)]))) return false;
    }
    return true;
  }

  bool await(EventStrand& s, std::int32_t id) {
    return for_each_end(s, s.task->recv, s.at.step().from, [&](LineEnd& end) {
      EventLine& line = line_of(end);
      if (line.carried <= end.count) {
        end.waiter = id;
        return false;
      }
      const EventLine::Slot& slot = line.slot(end.count);
      s.now = std::max(s.now, slot.crossed + line.latency);
      const EventMessage due = message_of(s);
      if (slot.what != due && mismatch_.empty()) {
        mismatch_ = mismatch_text(s.task->rank, s.task->channel, s.task->steps, due.chunk,
                                  due.piece, slot.what.chunk, slot.what.piece);
      }
      return true;
    });
  }

  bool acquire(EventStrand& s, std::int32_t id) {
    return for_each_end(s, s.task->send, s.at.step().to, [&](LineEnd& end) {
      EventLine& line = line_of(end);
      const std::int64_t before = end.count - capacity_;
      if (before < 0) return true;
      if (line.released <= before) {
        end.waiter = id;
        return false;
      }
      s.now = std::max(s.now, line.slot(before).freed);
      return true;
    });
  }

  void release(EventStrand& s) {
    s.port = 0;
    for_each_end(s, s.task->recv, s.at.step().from, [&](LineEnd& end) {
      EventLine& line = line_of(end);
      EventLine::Slot& slot = line.slot(end.count);
      slot.last_taken = std::max(slot.last_taken, s.now);
      slot.taken += end.weight;
      if (slot.taken == line.all_receivers) {
        slot.freed = slot.last_taken;
        ++line.released;
        for (const std::int32_t sender : line.senders) wake(end_at(sender));
      }
      ++end.count;
      return true;
    });
  }

  bool post(EventStrand& s, std::int32_t id) {
    const EventMessage what = message_of(s);
    const double bytes = static_cast<double>(s.slice) * per_element_;
    return for_each_end(s, s.task->send, s.at.step().to, [&](LineEnd& end) {
      EventLine& line = line_of(end);
      if (!line.is_group) {
        // A line carries one message at a time: its sender waits until the previous message has arrived.
        if (line.carried < end.count) {
          end.waiter = id;
          return false;
        }
        s.now = std::max(s.now, line.last_crossed);
        if (line.path >= 0 && s.now > clock_) {
          alarms_.push({s.now, alarmed_++, id, -1});
          return false;
        }
      }
      EventLine::Slot& slot = line.slot(end.count);
      if (end.count == line.begun) {
        slot = {.what = what, .bytes = bytes / line.efficiency, .freed = slot.freed};
        ++line.begun;
      }
      if (slot.what != what) slot.what = {};
      slot.ready = std::max(slot.ready, s.now);
      ++end.count;
      slot.parts += end.weight;
      if (slot.parts == line.all_senders) {
        ++line.posted;
        carry(line);
      }
      return true;
    });
  }

  /// Starts every transfer that can start on the line.
  void carry(EventLine& line) {
    while (!line.is_carrying && line.carried < line.posted) {
      EventLine::Slot& slot = line.slot(line.carried);
      const double start = std::max(slot.ready, line.last_crossed);
      const auto number = static_cast<std::int32_t>(&line - job_.lines.data());
      if (line.path < 0) {
        if (!spans_.empty() && line.carried == 0)
          spans_[static_cast<std::size_t>(number)].first = start;
        arrive(line, start + slot.bytes / line.rate);
      } else {
        line.is_carrying = true;
        if (start > clock_) {
          alarms_.push({start, alarmed_++, -1, number});
        } else {
          start_flow(number);
        }
      }
    }
  }

  void start_flow(std::int32_t number) {
    EventLine& line = job_.lines[static_cast<std::size_t>(number)];
    share_->start(line.path, line.slot(line.carried).bytes, static_cast<std::uint32_t>(number));
  }

  void finish_flow(std::uint32_t number) {
    EventLine& line = job_.lines[number];
    line.is_carrying = false;
    arrive(line, clock_);
    carry(line);
  }

  void arrive(EventLine& line, double time) {
    EventLine::Slot& slot = line.slot(line.carried);
    if (times_) {
      times_->add(static_cast<std::size_t>(&line - job_.lines.data()), slot.bytes,
                  std::max(slot.ready, line.last_crossed), time);
    }
    slot.crossed = line.last_crossed = time;
    line.bytes += slot.bytes;
    ++line.carried;
    for (const std::int32_t receiver : line.receivers) wake(end_at(receiver));
    for (const std::int32_t sender : line.senders) wake(end_at(sender));
  }

  bool drain(EventStrand& s, std::int32_t id) {
    for (; s.port < static_cast<std::int32_t>(s.sends.size()); ++s.port) {
      LineEnd& end = end_at(s.sends[static_cast<std::size_t>(s.port)]);
      EventLine& line = line_of(end);
      if (line.carried < end.count) {
        end.waiter = id;
        return false;
      }
      if (end.count > 0) s.now = std::max(s.now, line.last_crossed);
    }
    return true;
  }

  void report_progress() {
    constexpr std::int64_t kTimes = 100;  // reports in all
    request_.progress(static_cast<double>(steps_) / static_cast<double>(all_steps_));
    report_at_ = steps_ + std::max<std::int64_t>(1, all_steps_ / kTimes);
  }

  /// Strands ran ahead of each other, so events are sorted by time and each rank's steps are numbered in that order.
  Status write_trace() {
    if (request_.trace == nullptr) return {};
    std::ranges::stable_sort(traced_, {}, &Traced::end);
    auto sink = std::make_shared<KeptStatus>(*request_.trace);
    RINGSIDE_TRY(const auto trace,
                 CallTrace::start(request_, sink, this_process_info(TraceClock::Simulated)));
    std::vector<std::uint32_t> taken;
    for (EventTask& task : job_.tasks) taken.push_back(std::exchange(task.steps, 0));
    for (const Traced& one : traced_) {
      const auto ranks_of = [&](const std::vector<std::int32_t>& ends, Ports ports) {
        return [this, &ends, ports](const auto& visit) {
          for_each_rank(
              ports,
              [&](int number) {
                const LineEnd& end = end_at(ends[static_cast<std::size_t>(number)]);
                return PortRanks{end.peer, end.members};
              },
              visit);
        };
      };
      ChunkSpan span = one.task->task.map.at(one.loop, one.step.chunk);
      if (one.count >= 0) {
        span.input += one.first;
        span.output += one.first;
        span.count = one.count;
      }
      record_sim_step(trace->lane(), trace->event_of(one.task->rank, one.task->channel),
                      {.primitive = one.step.primitive,
                       .span = span,
                       .element = size_of(request_.call.type),
                       .begin = Seconds{one.begin},
                       .end = Seconds{one.end},
                       .number = one.task->steps++},
                      ranks_of(one.task->recv, one.step.from),
                      ranks_of(one.task->send, one.step.to));
    }
    for (std::size_t i = 0; i < taken.size(); ++i) job_.tasks[i].steps = taken[i];
    const auto nchannels = static_cast<std::size_t>(request_.choice.nchannels);
    for (std::size_t first = 0; first < job_.tasks.size(); first += nchannels) {
      double end = 0;
      for (std::size_t i = first; i < first + nchannels; ++i)
        end = std::max(end, job_.tasks[i].end);
      trace->record_call(job_.tasks[first].rank, Seconds{end});
    }
    trace->flush();
    return sink->status;
  }

  [[nodiscard]] Error stuck() const {
    std::vector<std::string> waits;
    double time = clock_;
    for (const EventStrand& s : strands_) {
      time = std::max(time, s.now);
      if (s.phase != Phase::Await && s.phase != Phase::Acquire) continue;
      const bool receives = s.phase == Phase::Await;
      const Ports ports = receives ? s.at.step().from : s.at.step().to;
      const auto& ends = receives ? s.task->recv : s.task->send;
      const LineEnd& end =
          job_.ends[static_cast<std::size_t>(ends[static_cast<std::size_t>(ports.first + s.port)])];
      waits.push_back(
          waits_text(s.task->rank, s.task->channel, s.task->steps, receives, to_int(end.peer)));
    }
    return stuck_at(Seconds{time}, waits);
  }

  [[nodiscard]] Status check_chunks() const {
    std::string what = mismatch_;
    for (std::size_t i = 0; i < job_.lines.size() && what.empty(); ++i) {
      const EventLine& line = job_.lines[i];
      if (line.begun > line.released)
        what = unreceived_text(line.begun - line.released, line.first_sender);
    }
    if (what.empty()) return {};
    return steps_do_not_fit(request_.choice.collective, what);
  }

  [[nodiscard]] Seconds end() const {
    double last = 0;
    for (const EventTask& task : job_.tasks) last = std::max(last, task.end);
    return Seconds{last};
  }

  [[nodiscard]] SimResult result_of() const {
    SimResult result;
    result.time = end();
    for (const EventTask& task : job_.tasks) result.steps += task.steps * task.copies;
    LoadSums sums(times_ ? &*times_ : nullptr);
    for (std::size_t i = 0; i < job_.lines.size(); ++i) {
      const EventLine& line = job_.lines[i];
      result.transfers += line.carried * line.copies;
      sums.add(i, line.bytes, line.links);
    }
    for (const auto& [number, links] : job_.original_lines) {
      const auto line = static_cast<std::size_t>(number);
      sums.add(line, job_.lines[line].bytes, links);
    }
    set_loads(*request_.network, std::move(sums), result);
    result.time = request_.overheads.total(result.time, result.busiest);
    return result;
  }

  const SimRequest& request_;
  EventJob job_;
  const Slices slices_;
  std::unique_ptr<FairShare> share_;
  std::int64_t loops_ = 0;  ///< maximum per task
  int capacity_ = 1;        ///< maximum messages in a line
  double per_element_ = 1;  ///< bytes on the wire per element
  std::vector<EventStrand> strands_;
  std::vector<std::int32_t> ready_, running_;
  std::priority_queue<Alarm> alarms_;
  std::uint64_t alarmed_ = 0;
  double clock_ = 0;
  std::size_t done_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t all_steps_ = 0;
  std::int64_t report_at_ = INT64_MAX;  ///< number of steps at which to report progress next
  std::vector<Traced> traced_;
  std::vector<LineSpan> spans_;  ///< [line]; empty: not recorded
  std::optional<LineTimes> times_;
  std::string mismatch_;
};

}  // namespace

Result<LinesRun> run_lines(const SimRequest& request, EventJob job, std::int64_t loops) {
  return EventEngine(request, std::move(job)).run_loops(loops);
}

Result<Seconds> run_shared(const SimRequest& request, EventJob job, std::int64_t loops) {
  return EventEngine(request, std::move(job)).run_shared(loops);
}

Result<SimResult> simulate_events(const SimRequest& request) {
  RINGSIDE_TRY(check_request(request));
  const auto began = std::chrono::steady_clock::now();
  const auto timed = [&](Result<SimResult> result) {
    if (result) result->wall = std::chrono::steady_clock::now() - began;
    return result;
  };
  RINGSIDE_TRY(EventJob job, wire_events(request));
  // A folded job cannot be traced, because a trace contains each rank's steps. In a deadlock, the ranks that wait for
  // each other are searched among all ranks.
  if (request.trace == nullptr && do_chunks_fit(job)) {
    if (std::optional<EventJob> folded = fold(job)) {
      auto result = EventEngine(request, *std::move(folded)).run();
      if (result) return timed(std::move(result));
    }
  }
  return timed(EventEngine(request, std::move(job)).run());
}

}  // namespace ringside
