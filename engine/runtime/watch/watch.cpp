#include "engine/runtime/watch/watch.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/runtime/bootstrap/messages.h"
#include "engine/runtime/bootstrap/ring_links.h"
#include "engine/runtime/watch/failure_reports.h"
#include "engine/transport/socket/frame.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/socket/wakeup.h"

namespace ringside {
namespace {

/// How long the watch tries to send its last messages to its neighbours when it ends.
constexpr Nanoseconds kLastFlush = std::chrono::milliseconds(200);

/// One of the two connections of the watch.
struct Link {
  Rank peer = kNoRank;
  UniqueFd fd;
  FrameReader reader{kMessageLimit};
  std::vector<std::byte> out;
  bool is_peer_leaving = false;  ///< the end of the connection is no failure
  bool is_silent = false;        ///< no data arrives on it
  Error why_silent = {};         ///< the reason, if it is silent

  void queue(const WatchMessage& message) {
    if (!fd) return;
    const std::vector<std::byte> frame = make_frame(to_bytes(message));
    out.insert(out.end(), frame.begin(), frame.end());
  }

  /// Sends as much as possible without waiting. A failed connection is noticed when it is read, but the kernel reports
  /// the reason only once.
  void flush() {
    while (fd && !out.empty()) {
      const Result<std::size_t> sent = send_some(fd.get(), out);
      if (!sent) {
        out.clear();
        is_silent |= sent.error().code == ErrorCode::Unreachable;
        if (is_silent) why_silent = sent.error();
      }
      if (!sent || *sent == 0) return;
      out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(*sent));
    }
  }
};

}  // namespace

class Watch::Impl {
 public:
  Impl(const Bootstrap& bootstrap, RingLinks links, Wakeup wake, Wakeup settled, OnAbort on_abort,
       OnCall on_call, OnDump on_dump, std::uint64_t job)
      : me_(bootstrap.rank()),
        clock_(bootstrap.clock()),
        job_(job),
        wake_(std::move(wake)),
        settled_(std::move(settled)),
        on_abort_(std::move(on_abort)),
        on_call_(std::move(on_call)),
        on_dump_(std::move(on_dump)),
        reports_(me_, bootstrap.nranks()) {
    links_[0].peer = bootstrap.next();
    links_[0].fd = std::move(links.next);
    links_[1].peer = bootstrap.previous();
    links_[1].fd = std::move(links.previous);
    thread_ = start_thread(clock_, [this](const std::stop_token& stop) { serve(stop); });
  }

  ~Impl() {
    thread_.request_stop();
    wake_.signal();
  }

  [[nodiscard]] std::uint64_t job() const { return job_; }

  void abort(const Error& why, Rank dead) {
    const std::lock_guard lock(mutex_);
    if (has_aborted_ || !is_own_observation_a_cause()) return;
    has_aborted_ = true;
    report_own(dead == kNoRank ? why : death_of({to_int(dead)}), dead);
    wake_.signal();
  }

  void send_call(Side to, std::uint64_t number, const CallSignature& call) {
    const std::lock_guard lock(mutex_);
    Link& link = links_[static_cast<std::size_t>(to)];
    link.queue({.kind = WatchMessage::Kind::Call, .number = number, .call = call});
    link.flush();
    if (!link.out.empty()) wake_.signal();
  }

  void ask_for_dumps() {
    const std::lock_guard lock(mutex_);
    forward_dump_request(nullptr);
    wake_.signal();
  }

  void goodbye() {
    const std::lock_guard lock(mutex_);
    if (is_leaving_) return;
    is_leaving_ = true;
    for (Link& link : links_) {
      link.queue({.kind = WatchMessage::Kind::Goodbye});
      link.flush();
    }
    wake_.signal();
  }

  [[nodiscard]] std::optional<Error> reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
  }

  [[nodiscard]] std::optional<Error> reason(Deadline deadline) const {
    pollfd entry{settled_.fd(), POLLIN, 0};
    while (deadline.poll(std::span(&entry, 1)) <= 0) {
      if (has_passed(deadline)) return std::nullopt;
    }
    return reason();
  }

 private:
  void serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      wait();
      const bool is_settled = exchange_messages();
      if (is_dump_wanted() && on_dump_) on_dump_();
      if (!is_settled) continue;
      if (on_abort_) on_abort_(*reason_);  // written once, by this thread
      // A thread that waits for the signal locks the mutex afterwards, and so sees the effects of on_abort_: polling
      // alone does not order memory between threads.
      { const std::lock_guard lock(mutex_); }
      settled_.signal();
    }
    flush_last_messages();
  }

  void wait() {
    std::vector<pollfd> polled{{wake_.fd(), POLLIN, 0}};
    Deadline until = Deadline::never(clock_);
    {
      const std::lock_guard lock(mutex_);
      for (const Link& link : links_) {
        if (!link.fd) continue;
        polled.push_back(
            {link.fd.get(), static_cast<short>(link.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
      }
      if (is_settling()) until = has_passed(settled_at_) ? roll_ends_ : settled_at_;
    }
    // A failed poll (EINTR, no memory) leads to one round without events.
    static_cast<void>(until.poll(polled));
    wake_.clear();
  }

  /// Receives and sends what is there.
  /// returns  whether the cause has just been settled
  bool exchange_messages() {
    const std::lock_guard lock(mutex_);
    for (Link& link : links_) {
      receive_from(link);
      link.flush();
    }
    if (!is_settling() || !has_passed(settled_at_)) return false;
    if (!reports_.absent().empty() && !has_passed(roll_ends_)) return false;
    reason_ = reports_.cause();
    return true;
  }

  void receive_from(Link& link) {
    std::array<std::byte, 1024> buffer{};
    while (link.fd) {
      const std::span<std::byte> in(buffer.data(), std::min(buffer.size(), link.reader.wanted()));
      const Result<std::size_t> got = recv_some(link.fd.get(), in);
      if (!got) return end_link(link, got.error());
      if (*got == 0) return;
      Status taken = link.reader.receive(in.first(*got));
      if (taken && link.reader.is_whole()) taken = handle(link, link.reader.take());
      if (!taken) {
        link.fd.reset();
        report_own({ErrorCode::Corrupt,
                    fmt::format("rank {} sent rank {} on the watch's connection: {}",
                                to_int(link.peer), to_int(me_), taken.error().message),
                    taken.error().help});
      }
    }
  }

  /// The connection has ended: the peer left, died, or cannot be reached.
  void end_link(Link& link, const Error& why) {
    link.fd.reset();
    if (link.is_peer_leaving || is_leaving_ || !is_own_observation_a_cause()) return;
    if (link.is_silent || why.code == ErrorCode::Unreachable) {
      report_own(lost_contact(me_, link.peer, link.is_silent ? link.why_silent : why));
    } else {
      report_own(death_of({to_int(link.peer)}), link.peer);
    }
  }

  Status handle(Link& from, const std::vector<std::byte>& frame) {
    RINGSIDE_TRY(const WatchMessage message, parse_watch(frame));
    switch (message.kind) {
      case WatchMessage::Kind::Goodbye:
        from.is_peer_leaving = true;
        break;
      case WatchMessage::Kind::Call:
        if (on_call_) {
          on_call_(&from == &links_[0] ? Side::Next : Side::Previous, message.number, message.call);
        }
        break;
      case WatchMessage::Kind::Dump:
        is_dump_wanted_ = forward_dump_request(&from) || is_dump_wanted_;
        break;
      case WatchMessage::Kind::Present:
        add_present(message.origin, &from);
        break;
      case WatchMessage::Kind::Abort:
        // A rank that reports the failure may end at once: that is not a second failure. A rank that has only seen
        // another's death has no reason to end.
        if (message.origin == from.peer && message.dead == kNoRank) from.is_peer_leaving = true;
        add_report(message, &from);
        break;
    }
    return {};
  }

  /// returns  whether it is the first request for a dump
  bool forward_dump_request(const Link* from) {
    if (std::exchange(has_asked_for_dumps_, true)) return false;
    forward({.kind = WatchMessage::Kind::Dump}, from);
    return true;
  }

  /// Sends the message to both neighbours except the one from which it came (null: this rank made it).
  void forward(const WatchMessage& message, const Link* from) {
    for (Link& link : links_) {
      if (&link == from) continue;
      link.queue(message);
      link.flush();
    }
  }

  /// Reports a failure that this rank observed.
  /// dead  the rank that died, or kNoRank
  void report_own(Error why, Rank dead = kNoRank) {
    add_report({WatchMessage::Kind::Abort, me_, dead, std::move(why)}, nullptr);
  }

  /// Stores a report that is new, and forwards it.
  void add_report(const WatchMessage& report, const Link* from) {
    const bool is_first = reports_.is_empty();
    if (!reports_.add(report)) return;
    forward(report, from);
    if (!reason_ && is_first) settled_at_ = deadline_in(kSettleTime, clock_);
    if (report.dead == me_) deny_death(report.origin);
    if (report.error.code == ErrorCode::Timeout) answer_roll_call();
  }

  /// A rank has timed out: every rank that is alive reports so, once.
  void answer_roll_call() {
    if (std::exchange(has_answered_, true)) return;
    roll_ends_ = deadline_in(kRollCallTime, clock_);
    add_present(me_, nullptr);
    for (const Link& link : links_) {
      if (link.is_peer_leaving) add_present(link.peer, nullptr);  // it was alive when it left
    }
  }

  void add_present(Rank rank, const Link* from) {
    if (!reports_.add_present(rank)) return;
    forward({.kind = WatchMessage::Kind::Present, .origin = rank}, from);
  }

  /// A rank that receives a report of its own death answers that it is alive: after a network failure, one side may see
  /// the connection end as if the process had ended (a reset after unanswered keepalives).
  void deny_death(Rank reporter) {
    if (is_leaving_ || reports_.has_lost_contact(me_)) return;
    report_own(lost_contact(
        me_, reporter,
        {ErrorCode::Unreachable,
         fmt::format("rank {} reported that this rank had died, but it runs", to_int(reporter)),
         "check the network between the two hosts"}));
  }

  /// Returns whether a dump was requested since the last call. The callback must not run under this object's mutex.
  bool is_dump_wanted() {
    const std::lock_guard lock(mutex_);
    return std::exchange(is_dump_wanted_, false);
  }

  [[nodiscard]] bool is_settling() const { return !reports_.is_empty() && !reason_; }

  /// Returns whether a failure that this rank observes now can be the cause. From the middle of the settling time on they are
  /// consequences: ranks that settled first may already be ending.
  [[nodiscard]] bool is_own_observation_a_cause() const {
    return reports_.is_empty() || (!reason_ && !has_passed(settled_at_ - kSettleTime / 2));
  }

  void flush_last_messages() {
    const Deadline until = deadline_in(kLastFlush, clock_);
    const std::lock_guard lock(mutex_);
    for (Link& link : links_) receive_from(link);  // messages may have arrived since the last poll
    for (Link& link : links_) {
      // A rank that knows of the failure may leave: that is not a second failure.
      if (!reports_.is_empty() && !is_leaving_) link.queue({.kind = WatchMessage::Kind::Goodbye});
      link.flush();
      while (link.fd && !link.out.empty() && !has_passed(until)) {
        pollfd entry{link.fd.get(), POLLOUT, 0};
        static_cast<void>(until.poll(std::span(&entry, 1)));
        link.flush();
      }
    }
  }

  const Rank me_;
  Clock& clock_;
  const std::uint64_t job_;
  const Wakeup wake_;
  const Wakeup settled_;  ///< signalled after the callback has received the cause
  const OnAbort on_abort_;
  const OnCall on_call_;
  const OnDump on_dump_;

  mutable std::mutex mutex_;  ///< guards all members below
  std::array<Link, 2> links_;
  FailureReports reports_;
  Deadline settled_at_{};  ///< when the cause is chosen, after the first report
  Deadline roll_ends_{};   ///< until when ranks may report that they are alive, after a time-out
  bool has_answered_ = false;
  std::optional<Error> reason_;
  bool has_aborted_ = false;
  bool has_asked_for_dumps_ = false;
  bool is_dump_wanted_ = false;
  bool is_leaving_ = false;

  std::jthread
      thread_;  // last member: the thread ends before the members that it uses are destroyed
};

Result<std::unique_ptr<Watch>> Watch::start(Bootstrap& bootstrap, OnAbort on_abort, OnCall on_call,
                                            OnDump on_dump) {
  RINGSIDE_TRY(Wakeup wake, Wakeup::make());
  RINGSIDE_TRY(Wakeup settled, Wakeup::make());
  RingLinks links = bootstrap.take_watch_links();
  if (bootstrap.nranks() > 1) {
    enable_keepalive(links.next.get(), Attention::Prompt);
    enable_keepalive(links.previous.get(), Attention::Prompt);
  }
  return std::unique_ptr<Watch>(new Watch(std::make_unique<Impl>(
      bootstrap, std::move(links), std::move(wake), std::move(settled), std::move(on_abort),
      std::move(on_call), std::move(on_dump), bootstrap.job())));
}

Watch::Watch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Watch::~Watch() = default;

void Watch::abort(const Error& why, Rank dead) { impl_->abort(why, dead); }
void Watch::send_call(Side to, std::uint64_t number, const CallSignature& call) {
  impl_->send_call(to, number, call);
}
void Watch::ask_for_dumps() { impl_->ask_for_dumps(); }
void Watch::goodbye() { impl_->goodbye(); }
std::uint64_t Watch::job() const { return impl_->job(); }
std::optional<Error> Watch::reason() const { return impl_->reason(); }
std::optional<Error> Watch::reason(Deadline deadline) const { return impl_->reason(deadline); }

}  // namespace ringside
