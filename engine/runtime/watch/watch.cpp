#include "engine/runtime/watch/watch.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "engine/runtime/bootstrap/messages.h"
#include "engine/runtime/bootstrap/ring_links.h"
#include "engine/transport/socket/frame.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/socket/wakeup.h"

namespace ringside {
namespace {

/// How long the watch tries to send its last messages to its neighbours when it ends.
constexpr Nanoseconds kLastFlush = std::chrono::milliseconds(200);

/// Returns the order of preference among causes of the same moment; equal for the same cause that arrives twice.
std::tuple<int, int> precedence(const WatchMessage& news) {
  if (news.dead != kNoRank) return {0, to_int(news.dead)};
  switch (news.error.code) {
    case ErrorCode::PeerGone:
      return {3, to_int(news.origin)};
    case ErrorCode::Aborted:
      return {2, to_int(news.origin)};  // why a peer is gone
    default:
      return {1, to_int(news.origin)};
  }
}

/// Returns the error of dead ranks. The text is the same on every rank that notices the death, because all ranks must
/// report the same error.
/// dead  ascending, not empty
Error death_of(const std::vector<int>& dead) {
  std::string text =
      fmt::format("rank {} is gone: its process or host ended without a goodbye", dead.front());
  if (dead.size() > 1) {
    const std::span<const int> rest = std::span(dead).subspan(1);
    text += fmt::format(", and so did rank{} {}", rest.size() > 1 ? "s" : "", format_ranks(rest));
  }
  return {ErrorCode::PeerGone, std::move(text),
          "look at that rank's own messages and exit status; the others stopped because of it"};
}

Error death_of(Rank dead) { return death_of(std::vector{to_int(dead)}); }

/// Returns the error of two ranks that lost contact with each other, in the words of a failed data connection.
Error lost_contact(Rank me, Rank peer, const Error& why) {
  return {ErrorCode::Unreachable,
          fmt::format("rank {} lost rank {} on the watch's connection: {}", to_int(me),
                      to_int(peer), why.message),
          why.help};
}

/// Returns the error of ranks that did not report that they are alive.
/// unknown  the ranks behind them, whose messages cannot arrive
/// why      what the rank that timed out had waited for
Error no_answer_of(const std::vector<int>& silent, const std::vector<int>& unknown,
                   const Error& why) {
  const bool are_many = silent.size() > 1;
  std::string text =
      fmt::format("rank{} {} {} not answer: {} stopped, or cannot be reached", are_many ? "s" : "",
                  format_ranks(silent), are_many ? "do" : "does", are_many ? "they are" : "it is");
  if (!unknown.empty()) {
    text += fmt::format("; nothing is heard of rank{} {} behind", unknown.size() > 1 ? "s" : "",
                        format_ranks(unknown));
  }
  return {why.code, fmt::format("{} ({})", text, why.message),
          "look at its process: ps shows T where it is stopped (kill -CONT), D where the kernel "
          "holds it; then at its host and the network"};
}

/// One of the two connections of the watch.
struct Link {
  Rank peer = kNoRank;
  UniqueFd fd;
  FrameReader reader{kMessageLimit};
  std::vector<std::byte> out;
  bool has_said_goodbye = false;
  bool is_silent = false;  ///< no data arrives on it
  Error why_silent = {};   ///< the reason, if it is silent

  void say(const WatchMessage& message) {
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
        nranks_(bootstrap.nranks()),
        clock_(bootstrap.clock()),
        job_(job),
        wake_(std::move(wake)),
        settled_(std::move(settled)),
        on_abort_(std::move(on_abort)),
        on_call_(std::move(on_call)),
        on_dump_(std::move(on_dump)) {
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
    if (has_aborted_ || !takes_own_news()) return;
    has_aborted_ = true;
    take_news({WatchMessage::Kind::Abort, me_, dead, dead == kNoRank ? why : death_of(dead)},
              nullptr);
    wake_.signal();
  }

  void send_call(Side to, std::uint64_t number, const CallSignature& call) {
    const std::lock_guard lock(mutex_);
    Link& link = links_[static_cast<std::size_t>(to)];
    link.say({.kind = WatchMessage::Kind::Call, .number = number, .call = call});
    link.flush();
    if (!link.out.empty()) wake_.signal();
  }

  void ask_for_dumps() {
    const std::lock_guard lock(mutex_);
    pass_on_dump(nullptr);
    wake_.signal();
  }

  void goodbye() {
    const std::lock_guard lock(mutex_);
    if (is_leaving_) return;
    is_leaving_ = true;
    for (Link& link : links_) {
      link.say({.kind = WatchMessage::Kind::Goodbye});
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
      const bool is_settled = tend();
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

  /// returns  whether the cause has just been settled
  bool tend() {
    const std::lock_guard lock(mutex_);
    for (Link& link : links_) {
      listen_to(link);
      link.flush();
    }
    if (!is_settling() || !has_passed(settled_at_)) return false;
    const std::vector<int> dead = deaths();
    const WatchMessage& best = preferred();
    const std::vector<int> absent =
        best.error.code == ErrorCode::Timeout ? absent_ranks() : std::vector<int>();
    if (!absent.empty() && !has_passed(roll_ends_)) return false;
    reason_ = dead.size() > 1 ? death_of(dead) : best.error;
    if (!absent.empty()) reason_ = no_answer(absent, best.error);
    if (reason_->code == ErrorCode::Unreachable) add_lost_contacts(best.origin, *reason_);
    reason_->is_reported_elsewhere = !is_reporter(absent.empty() ? dead : absent);
    return true;
  }

  void listen_to(Link& link) {
    std::array<std::byte, 1024> buffer{};
    while (link.fd) {
      const std::span<std::byte> in(buffer.data(), std::min(buffer.size(), link.reader.wanted()));
      const Result<std::size_t> got = recv_some(link.fd.get(), in);
      if (!got) {
        link.fd.reset();
        if (!link.has_said_goodbye && !is_leaving_ && takes_own_news()) {
          const bool is_silent = link.is_silent || got.error().code == ErrorCode::Unreachable;
          const Error& why = link.is_silent ? link.why_silent : got.error();
          take_news({WatchMessage::Kind::Abort, me_, is_silent ? kNoRank : link.peer,
                     is_silent ? lost_contact(me_, link.peer, why) : death_of(link.peer)},
                    nullptr);
        }
        return;
      }
      if (*got == 0) return;
      Status taken = link.reader.receive(in.first(*got));
      if (taken && link.reader.is_whole()) taken = obey(link, link.reader.take());
      if (!taken) {
        link.fd.reset();
        take_news({WatchMessage::Kind::Abort, me_, kNoRank,
                   Error{ErrorCode::Corrupt,
                         fmt::format("rank {} sent rank {} on the watch's connection: {}",
                                     to_int(link.peer), to_int(me_), taken.error().message),
                         taken.error().help}},
                  nullptr);
      }
    }
  }

  Status obey(Link& from, const std::vector<std::byte>& frame) {
    RINGSIDE_TRY(const WatchMessage message, parse_watch(frame));
    if (message.kind == WatchMessage::Kind::Goodbye) {
      from.has_said_goodbye = true;
      return {};
    }
    if (message.kind == WatchMessage::Kind::Call) {
      const Side side = &from == &links_[0] ? Side::Next : Side::Previous;
      if (on_call_) on_call_(side, message.number, message.call);
      return {};
    }
    if (message.kind == WatchMessage::Kind::Dump) {
      is_dump_wanted_ = pass_on_dump(&from) || is_dump_wanted_;
      return {};
    }
    if (message.kind == WatchMessage::Kind::Present) {
      note_present(message.origin, &from);
      return {};
    }
    // A rank that reports the failure may end at once: that is not a second failure. A rank that has only seen
    // another's death has no reason to end.
    if (message.origin == from.peer && message.dead == kNoRank) from.has_said_goodbye = true;
    take_news(message, &from);
    return {};
  }

  /// returns  whether it is the first request for a dump
  bool pass_on_dump(const Link* from) {
    if (std::exchange(has_asked_for_dumps_, true)) return false;
    for (Link& link : links_) {
      if (&link == from) continue;
      link.say({.kind = WatchMessage::Kind::Dump});
      link.flush();
    }
    return true;
  }

  /// Stores the message and passes it on, once, to the link from which it did not come.
  void take_news(const WatchMessage& news, const Link* from) {
    if (!heard_.emplace(precedence(news), news).second) return;
    if (news.error.code == ErrorCode::Unreachable)
      lost_contacts_[to_int(news.origin)] = news.error.message;
    for (Link& link : links_) {
      if (&link == from) continue;
      link.say(news);
      link.flush();
    }
    if (!reason_ && heard_.size() == 1) settled_at_ = deadline_in(kSettleTime, clock_);
    if (news.dead == me_) deny_death(news.origin);
    if (news.error.code == ErrorCode::Timeout) answer_roll_call();
  }

  /// A rank has timed out: every rank that is alive reports so, once.
  void answer_roll_call() {
    if (std::exchange(has_answered_, true)) return;
    roll_ends_ = deadline_in(kRollCallTime, clock_);
    note_present(me_, nullptr);
    for (const Link& link : links_) {
      if (link.has_said_goodbye) note_present(link.peer, nullptr);  // it was alive when it left
    }
  }

  void note_present(Rank rank, const Link* from) {
    if (!present_.insert(to_int(rank)).second) return;
    for (Link& link : links_) {
      if (&link == from) continue;
      link.say({.kind = WatchMessage::Kind::Present, .origin = rank});
      link.flush();
    }
  }

  /// Returns the ranks that have not reported that they are alive, ascending.
  [[nodiscard]] std::vector<int> absent_ranks() const {
    std::vector<int> absent;
    for (int rank = 0; rank < nranks_; ++rank) {
      if (!present_.contains(rank)) absent.push_back(rank);
    }
    return absent;
  }

  /// Makes the error for absent ranks. A stopped rank passes nothing on: the neighbours of ranks that answered are at
  /// fault; the ranks behind those neighbours may be alive.
  [[nodiscard]] Error no_answer(const std::vector<int>& absent, const Error& why) const {
    std::vector<int> silent;
    std::vector<int> unknown;
    for (const int rank : absent) {
      const bool is_next_to_answer = present_.contains((rank + 1) % nranks_) ||
                                     present_.contains((rank + nranks_ - 1) % nranks_);
      (is_next_to_answer ? silent : unknown).push_back(rank);
    }
    return no_answer_of(silent, unknown, why);
  }

  /// A rank that receives news of its own death reports that it is alive: after a network failure, one side may see
  /// the connection end as if the process had ended (a reset after unanswered keepalives).
  void deny_death(Rank reporter) {
    if (is_leaving_ || lost_contacts_.contains(to_int(me_))) return;
    const Error why{ErrorCode::Unreachable,
                    fmt::format("rank {} takes this rank for gone", to_int(reporter)),
                    "check the network between the two hosts"};
    take_news({WatchMessage::Kind::Abort, me_, kNoRank, lost_contact(me_, reporter, why)}, nullptr);
  }

  /// Returns whether a dump was requested since the last call. The callback must not run under this object's mutex.
  bool is_dump_wanted() {
    const std::lock_guard lock(mutex_);
    return std::exchange(is_dump_wanted_, false);
  }

  /// Returns whether this rank reports to the user: rank 0, and for deaths also the next living ranks on both sides of
  /// the first dead one, because one of these may be dying too.
  [[nodiscard]] bool is_reporter(const std::vector<int>& dead) const {
    if (dead.empty()) return me_ == Rank{0};
    const auto next_living = [&](int step) {
      int rank = dead.front();
      for (std::size_t i = 0; i < dead.size() && std::ranges::binary_search(dead, rank); ++i) {
        rank = (rank + step + nranks_) % nranks_;
      }
      return rank;
    };
    return to_int(me_) == next_living(1) || to_int(me_) == next_living(-1);
  }

  /// Returns whether the message reports the death of a rank that itself reports a lost contact, and so is alive.
  [[nodiscard]] bool is_denied(const WatchMessage& news) const {
    return news.dead != kNoRank && lost_contacts_.contains(to_int(news.dead));
  }

  /// Returns the ranks whose death is reported and not denied, ascending.
  [[nodiscard]] std::vector<int> deaths() const {
    std::vector<int> dead;
    for (const auto& [order, news] : heard_) {
      if (news.dead != kNoRank && !is_denied(news)) dead.push_back(to_int(news.dead));
    }
    return dead;
  }

  /// Returns the cause to report. If a rank denied its death, it sent another cause, so there always is one.
  [[nodiscard]] const WatchMessage& preferred() const {
    return std::ranges::find_if(heard_, [&](const auto& one) { return !is_denied(one.second); })
        ->second;
  }

  /// Adds the contacts that other ranks lost at the same moment: both neighbours of a host that is cut off report it.
  void add_lost_contacts(Rank reported, Error& reason) const {
    for (const auto& [origin, text] : lost_contacts_) {
      if (origin == to_int(reported)) continue;
      reason.message += fmt::format("; {}", text);
    }
  }

  [[nodiscard]] bool is_settling() const { return !heard_.empty() && !reason_; }

  /// Returns whether this rank's own observations count. From the middle of the settling time on they are
  /// consequences: ranks that settled first may already be ending.
  [[nodiscard]] bool takes_own_news() const {
    return heard_.empty() || (!reason_ && !has_passed(settled_at_ - kSettleTime / 2));
  }

  void flush_last_messages() {
    const Deadline until = deadline_in(kLastFlush, clock_);
    const std::lock_guard lock(mutex_);
    for (Link& link : links_) listen_to(link);  // messages may have arrived since the last poll
    for (Link& link : links_) {
      // A rank that knows of the failure may leave: that is not a second failure.
      if (!heard_.empty() && !is_leaving_) link.say({.kind = WatchMessage::Kind::Goodbye});
      link.flush();
      while (link.fd && !link.out.empty() && !has_passed(until)) {
        pollfd entry{link.fd.get(), POLLOUT, 0};
        static_cast<void>(until.poll(std::span(&entry, 1)));
        link.flush();
      }
    }
  }

  const Rank me_;
  const int nranks_;
  Clock& clock_;
  const std::uint64_t job_;
  const Wakeup wake_;
  const Wakeup settled_;  ///< signalled after the callback has received the cause
  const OnAbort on_abort_;
  const OnCall on_call_;
  const OnDump on_dump_;

  mutable std::mutex mutex_;  ///< guards all members below
  std::array<Link, 2> links_;
  std::map<std::tuple<int, int>, WatchMessage> heard_;  ///< the preferred first
  std::map<int, std::string> lost_contacts_;            ///< by the reporting rank
  Deadline settled_at_{};
  std::set<int> present_;  ///< ranks that have reported that they are alive
  Deadline roll_ends_{};
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
