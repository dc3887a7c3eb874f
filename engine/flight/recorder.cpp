#include "engine/flight/recorder.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/warning.h"
#include "engine/flight/copy_dump.h"
#include "engine/flight/dump_file.h"
#include "engine/flight/dump_pipe.h"
#include "engine/flight/ring.h"
#include "engine/flight/semaphore.h"
#include "trace/clock.h"

namespace ringside {
namespace {

// The signal handler uses these only: they live as long as the process.
std::atomic<int> signals_pending{0};
Semaphore& signal_semaphore() {
  static Semaphore semaphore;
  return semaphore;
}
std::atomic<bool> has_signal_owner{false};

void on_signal(int /*number*/) {
  const int kept = errno;
  signals_pending.fetch_add(1, std::memory_order_relaxed);
  signal_semaphore().post();
  errno = kept;
}

/// Adds 1. Only one thread at a time writes the counter.
void count_one(std::atomic<std::int64_t>& counter) {
  counter.fetch_add(1, std::memory_order_release);
}

}  // namespace

class FlightRecorder::Group {
 public:
  Group(int number, GroupFacts given, ProgressSource source, AskOthers asker)
      : index(number),
        facts(std::move(given)),
        progress(std::move(source)),
        ask_others(std::move(asker)) {}

  const int index;
  const GroupFacts facts;
  // Written by the thread that calls, one at a time; read by dumps.
  std::atomic<std::int64_t> collective_seq{0}, p2p_seq{0}, op_id{0};
  std::atomic<std::int64_t> enqueued{-1}, started{-1}, completed{-1};
  std::atomic<std::int64_t> completed_op{0};  ///< all operations up to it succeeded
  std::atomic<std::int64_t> failed_op{0};     ///< those after completed_op up to it failed
  std::array<std::atomic<std::int64_t>, kCollectiveCount> launches{}, completions{};
  std::atomic<std::int64_t> under_way_since{0};  ///< begin of the current call; 0: no call
  std::atomic<GroupState> state{GroupState::Init};
  std::atomic<bool> has_failed{false};
  // Used by the recorder's thread only: time and amount of the last progress seen, and the call that had made no
  // progress for too long at the last look.
  std::int64_t moved_at = 0;
  std::uint64_t moved = 0;
  std::int64_t suspected = 0;
  bool has_left = false;  // guarded by the recorder's mutex
  // Guarded by the recorder's mutex; empty after the communicator has left.
  ProgressSource progress;
  AskOthers ask_others;
};

class FlightRecorder::Impl {
 public:
  Impl(FlightSettings settings, int rank)
      : settings_(std::move(settings)), rank_(rank), ring_(settings_) {
    if (settings_.prefix.empty()) return;
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
    if (settings_.pipe.empty()) return;
    auto pipe = DumpPipe::make(fmt::format("{}{}.pipe", settings_.pipe, rank_),
                               [this] { ask({.dump = snapshot("asked for by the pipe")}); });
    if (pipe) {
      pipe_ = *std::move(pipe);
    } else {
      report_warning({"engine/flight/recorder.cpp", __LINE__, __func__}, pipe.error().message);
    }
  }

  ~Impl() {
    if (owns_signal_) {
      ::sigaction(SIGUSR1, &before_, nullptr);
      has_signal_owner = false;
    }
    pipe_.reset();
    thread_.request_stop();
    semaphore().post();
  }

  Group& join(GroupFacts facts, ProgressSource progress, AskOthers ask_others) {
    const std::lock_guard lock(mutex_);
    return groups_.emplace_back(static_cast<int>(groups_.size()), std::move(facts),
                                std::move(progress), std::move(ask_others));
  }

  void leave(Group& group) {
    const std::lock_guard lock(mutex_);
    group.progress = {};
    group.ask_others = {};
    group.has_left = true;
  }

  std::vector<GroupView> groups() {
    std::vector<GroupView> views;
    const std::lock_guard lock(mutex_);
    for (const Group& group : groups_) {
      if (group.has_left) continue;
      GroupView& view = views.emplace_back();
      view.name = group.facts.name;
      view.desc = group.facts.desc;
      view.ranks = group.facts.ranks;
      view.state = group.state.load(std::memory_order_relaxed);
      view.has_failed = group.has_failed.load(std::memory_order_relaxed);
      for (std::size_t i = 0; i < view.launched.size(); ++i) {
        // Completions are read first, so that a call that ends meanwhile does not look like one that was never
        // launched.
        view.completed[i] = group.completions[i].load(std::memory_order_acquire);
        view.launched[i] = group.launches[i].load(std::memory_order_relaxed);
      }
    }
    return views;
  }

  Ticket begin(Group& group, const FlightFacts* facts, std::uint32_t count, bool is_p2p,
               bool is_unordered, Nanoseconds now) {
    RINGSIDE_ASSERT(count > 0, "a call of {} entries", count);
    auto& counter = is_p2p ? group.p2p_seq : group.collective_seq;
    const std::int64_t seq = counter.fetch_add(1, std::memory_order_relaxed) + 1;
    if (!is_unordered) {
      group.enqueued.store(seq, std::memory_order_relaxed);
      group.under_way_since.store(now.count(), std::memory_order_relaxed);
    }
    const Collective collective = count > 1 ? Collective::SendRecv : facts[0].collective;
    count_one(group.launches[static_cast<std::size_t>(collective)]);
    const std::uint32_t entries = count > 1 ? count + 1 : count;
    const std::int64_t first_op = group.op_id.fetch_add(entries, std::memory_order_relaxed) + 1;
    Ticket ticket{0, entries, is_unordered, seq, first_op + entries - 1, &group, collective};
    ticket.first = ring_.take(entries);
    for (std::uint32_t i = 0; i < entries; ++i) {
      const bool is_end = i == count;
      ring_.fill(ticket.first + i, facts[is_end ? i - 1 : i],
                 {.group = static_cast<std::uint32_t>(group.index),
                  .is_end = is_end,
                  .fate = is_unordered ? FlightFate::Pending : FlightFate::Ordered,
                  .seq = static_cast<std::uint32_t>(seq),
                  .op_id = static_cast<std::uint32_t>(first_op + i),
                  .created = now.count()});
    }
    return ticket;
  }

  void start(const Ticket& ticket, Nanoseconds now) {
    if (!settings_.has_timing) return;
    ticket.group->started.store(ticket.seq, std::memory_order_relaxed);
    ring_.note_time(ticket.first, ticket.count, &FlightTimes::started, now);
  }

  void end_unordered(const Ticket& ticket, bool is_done) {
    if (is_done) {
      count_one(ticket.group->completions[static_cast<std::size_t>(ticket.collective)]);
    } else {
      ticket.group->has_failed = true;
    }
    ring_.set_fate(ticket.first, is_done ? FlightFate::Done : FlightFate::Failed);
  }

  void reopen(const Ticket& ticket, const std::string& reason) {
    ring_.set_fate(ticket.first, FlightFate::Pending);
    ticket.group->completions[static_cast<std::size_t>(ticket.collective)].fetch_sub(
        1, std::memory_order_release);
    failed(reason, ticket.group);
  }

  void end(const Ticket& ticket, bool is_done, Nanoseconds now) {
    ring_.note_time(ticket.first, ticket.count, &FlightTimes::ended, now);
    if (ticket.is_unordered) {
      end_unordered(ticket, is_done);
      return;
    }
    Group& group = *ticket.group;
    group.under_way_since.store(0, std::memory_order_relaxed);
    if (!is_done) {
      group.failed_op.store(ticket.last_op, std::memory_order_relaxed);
      group.has_failed = true;
      return;
    }
    group.completed.store(ticket.seq, std::memory_order_relaxed);
    group.completed_op.store(ticket.last_op, std::memory_order_release);
    count_one(group.completions[static_cast<std::size_t>(ticket.collective)]);
  }

  FlightDump snapshot(const std::string& reason) {
    if (reason.empty()) {
      const std::lock_guard lock(mutex_);
      if (failure_ && ring_.taken() == failure_at_) return copy_of(*failure_);
    }
    FlightDump dump;
    dump.library = "ringside";
    dump.thread_name = "ringside";
    dump.reason = reason;
    const std::lock_guard lock(mutex_);
    for (Group& group : groups_) {
      dump.groups.push_back({group.index, group.facts.name, group.facts.desc, group.facts.ranks});
      const std::int64_t enqueued = group.enqueued.load(std::memory_order_relaxed);
      if (enqueued >= 0) {
        dump.status.push_back({group.index, enqueued, group.started.load(std::memory_order_relaxed),
                               group.completed.load(std::memory_order_relaxed)});
      }
      dump.timeout_ms = std::max<std::int64_t>(
          dump.timeout_ms,
          std::chrono::duration_cast<std::chrono::milliseconds>(group.facts.timeout).count());
      if (!group.progress) continue;
      const std::size_t before = dump.progress.size();
      group.progress(dump.progress);
      for (std::size_t i = before; i < dump.progress.size(); ++i) {
        FlightDump::Progress& one = dump.progress[i];
        one.group = group.index;
        one.peer = job_rank(group, one.peer);
      }
    }
    ring_.add_entries(dump, [this](std::uint32_t group) { return progress_of(groups_[group]); });
    return dump;
  }

  [[nodiscard]] bool writes_on_failure() const {
    return !settings_.prefix.empty() && settings_.dumps_on_failure;
  }

  void failed(const std::string& reason, const Group* group) {
    if (has_failed_.exchange(true)) return;
    FlightDump dump = snapshot(reason);
    if (group != nullptr) dump.reason_group = group->facts.name;
    const bool writes = writes_on_failure();
    if (writes) ask({.dump = copy_of(dump), .asks_others = true});
    {
      const std::lock_guard lock(mutex_);
      failure_at_ = ring_.taken();
      failure_ = std::move(dump);
    }
    // A dump that is not written to a file may be requested by a status service.
    if (!writes) ask_all_others();
  }

  bool wait_written(Nanoseconds longest) {
    std::unique_lock lock(queue_mutex_);
    return written_.wait_for(lock, longest, [this] { return queue_.empty() && !is_writing_; });
  }

  void dump_on_signal() {
    if (settings_.prefix.empty() || has_signal_owner.exchange(true)) return;
    struct sigaction now {};
    if (::sigaction(SIGUSR1, nullptr, &before_) != 0 || before_.sa_handler != SIG_DFL) {
      has_signal_owner = false;
      return;
    }
    static_cast<void>(signal_semaphore());  // Created before the signal handler uses it.
    now.sa_handler = on_signal;
    now.sa_flags = SA_RESTART;
    owns_signal_ = true;
    own_semaphore_.post();  // wakes the thread, which then uses the other semaphore
    ::sigaction(SIGUSR1, &now, nullptr);
  }

  [[nodiscard]] const FlightSettings& settings() const { return settings_; }
  [[nodiscard]] int rank() const { return rank_; }

 private:
  struct Request {
    FlightDump dump;
    bool asks_others = false;  ///< whether to request dumps from the other ranks
  };

  Semaphore& semaphore() { return owns_signal_ ? signal_semaphore() : own_semaphore_; }

  void ask(Request request) {
    {
      const std::lock_guard lock(queue_mutex_);
      queue_.push_back(std::move(request));
    }
    semaphore().post();
  }

  void serve(const std::stop_token& stop) {
    for (;;) {
      if (settings_.heartbeat.count() == 0) {
        semaphore().wait();
      } else if (!semaphore().wait(settings_.heartbeat / 4)) {
        look_for_stuck_threads();
        continue;
      }
      // Dumps that were requested before the end are written before it.
      const bool is_last = stop.stop_requested();
      if (owns_signal_ && signals_pending.exchange(0) > 0) write({snapshot("SIGUSR1"), false});
      while (auto request = take()) {
        if (request->asks_others) ask_all_others();
        write(*request);
        const std::lock_guard lock(queue_mutex_);
        is_writing_ = false;
        written_.notify_all();
      }
      if (is_last) return;
    }
  }

  /// A call ends itself after its timeout without progress. If its thread is stuck, the process dumps and aborts.
  void look_for_stuck_threads() {
    const auto stuck = find_stuck(trace_now().count());
    if (!stuck) return;
    ask_all_others();
    write({snapshot(*stuck), false});
    report_warning({"engine/flight/recorder.cpp", __LINE__, __func__},
                   fmt::format("rank {}: {}; the process ends", rank_, *stuck));
    std::abort();
  }

  /// Returns a sentence about a call whose thread is stuck; nullopt: no thread is stuck.
  std::optional<std::string> find_stuck(std::int64_t now) {
    const std::lock_guard lock(mutex_);
    for (Group& group : groups_) {
      const std::int64_t since = group.under_way_since.load(std::memory_order_relaxed);
      if (since == 0 || group.has_left) continue;
      const std::uint64_t moved = messages_of(group);
      if (moved != group.moved) group.moved_at = now;
      group.moved_at = std::max(group.moved_at, since);
      group.moved = moved;
      const Nanoseconds still{now - group.moved_at};
      const std::int64_t call = group.op_id.load(std::memory_order_relaxed);
      const bool is_late = still > group.facts.timeout + settings_.heartbeat;
      // The call must be late in two looks: a process that was stopped gets time to end its call itself.
      if (std::exchange(group.suspected, is_late ? call : 0) != call || !is_late) continue;
      return fmt::format(
          "call {} of communicator {} makes no progress for {:.3g} s, though its time-out is "
          "{:.3g} s: the thread that makes it is stuck (TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC)",
          group.enqueued.load(std::memory_order_relaxed), group.facts.name, Seconds(still).count(),
          Seconds(group.facts.timeout).count());
    }
    return std::nullopt;
  }

  /// Returns the number of messages on all connections of the group.
  static std::uint64_t messages_of(const Group& group) {
    std::vector<FlightDump::Progress> progress;
    if (group.progress) group.progress(progress);
    std::uint64_t sum = 0;
    for (const FlightDump::Progress& one : progress) sum += one.messages;
    return sum;
  }

  std::optional<Request> take() {
    const std::lock_guard lock(queue_mutex_);
    if (queue_.empty()) return std::nullopt;
    is_writing_ = true;
    Request request = std::move(queue_.front());
    queue_.pop_front();
    return request;
  }

  void ask_all_others() {
    const std::lock_guard lock(mutex_);
    for (const Group& group : groups_) {
      if (group.ask_others) group.ask_others();
    }
  }

  void write(const Request& request) {
    const auto written = write_dump(request.dump, settings_, rank_);
    const std::string wanted = dump_path(settings_, rank_);
    if (written && *written == wanted) return;
    report_warning({"engine/flight/recorder.cpp", __LINE__, __func__},
                   written ? fmt::format("rank {}: {} cannot be written: the dump is in {}", rank_,
                                         wanted, *written)
                           : fmt::format("rank {}: no dump: {}", rank_, written.error().message));
  }

  static FlightRing::GroupProgress progress_of(const Group& group) {
    return {group.facts.rank, group.completed_op.load(std::memory_order_acquire),
            group.failed_op.load(std::memory_order_relaxed)};
  }

  static int job_rank(const Group& group, int rank) {
    const auto at = static_cast<std::size_t>(rank);
    return at < group.facts.ranks.size() ? group.facts.ranks[at] : rank;
  }

  const FlightSettings settings_;
  const int rank_;
  FlightRing ring_;
  std::atomic<bool> has_failed_{false};

  std::mutex mutex_;  ///< guards the list of groups; groups never move
  std::deque<Group> groups_;
  std::optional<FlightDump> failure_;  ///< content at the first failure; guarded by mutex_
  std::uint64_t failure_at_ = 0;       ///< number of calls at that time; guarded by mutex_

  std::mutex queue_mutex_;  ///< guards the next two members
  std::deque<Request> queue_;
  bool is_writing_ = false;
  std::condition_variable written_;

  Semaphore own_semaphore_;
  std::atomic<bool> owns_signal_{false};
  struct sigaction before_ {};
  std::unique_ptr<DumpPipe> pipe_;

  std::jthread thread_;  // last member: the thread uses all others
};

FlightRecorder::FlightRecorder(FlightSettings settings, int rank)
    : impl_(std::make_unique<Impl>(std::move(settings), rank)) {}
FlightRecorder::~FlightRecorder() = default;

FlightRecorder::Group& FlightRecorder::join(GroupFacts facts, ProgressSource progress,
                                            AskOthers ask_others) {
  return impl_->join(std::move(facts), std::move(progress), std::move(ask_others));
}
void FlightRecorder::leave(Group& group) { impl_->leave(group); }

FlightRecorder::Ticket FlightRecorder::begin(Group& group, const FlightFacts& facts,
                                             Nanoseconds now) {
  return impl_->begin(group, &facts, 1, is_flight_message(facts.collective), false, now);
}
FlightRecorder::Ticket FlightRecorder::begin_unordered(Group& group, const FlightFacts& message,
                                                       Nanoseconds now) {
  return impl_->begin(group, &message, 1, true, true, now);
}
FlightRecorder::Ticket FlightRecorder::begin(Group& group, const std::vector<FlightFacts>& messages,
                                             Nanoseconds now) {
  return impl_->begin(group, messages.data(), static_cast<std::uint32_t>(messages.size()), true,
                      false, now);
}
void FlightRecorder::start(const Ticket& ticket, Nanoseconds now) { impl_->start(ticket, now); }
void FlightRecorder::end(const Ticket& ticket, bool is_done, Nanoseconds now) {
  impl_->end(ticket, is_done, now);
}

void FlightRecorder::reopen(const Ticket& ticket, const std::string& reason) {
  impl_->reopen(ticket, reason);
}

std::vector<FlightRecorder::GroupView> FlightRecorder::groups() const { return impl_->groups(); }
void FlightRecorder::set_state(Group& group, GroupState state) { group.state = state; }

FlightDump FlightRecorder::snapshot(const std::string& reason) const {
  return impl_->snapshot(reason);
}
void FlightRecorder::failed(const std::string& reason, const Group* group) {
  impl_->failed(reason, group);
}
bool FlightRecorder::writes_on_failure() const { return impl_->writes_on_failure(); }
bool FlightRecorder::wait_written(Nanoseconds longest) { return impl_->wait_written(longest); }
void FlightRecorder::dump_on_signal() { impl_->dump_on_signal(); }
const FlightSettings& FlightRecorder::settings() const { return impl_->settings(); }
int FlightRecorder::rank() const { return impl_->rank(); }

}  // namespace ringside
