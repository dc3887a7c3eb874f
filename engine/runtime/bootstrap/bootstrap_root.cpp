#include "engine/runtime/bootstrap/bootstrap_root.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/warning.h"
#include "engine/runtime/bootstrap/debug_output.h"
#include "engine/runtime/bootstrap/messages.h"
#include "engine/transport/socket/acceptor.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/socket/wakeup.h"

namespace ringside {
namespace {

constexpr std::size_t kMostNotes = 3;  ///< refused connections that an error lists

/// A message to a rank is a few hundred bytes into an empty socket buffer: sending waits only if the rank's host is
/// gone.
constexpr Nanoseconds kSendTimeout = std::chrono::seconds(1);

/// Ranks give up linking after the join timeout and report at once. A rank that has not reported after this additional
/// time is stopped.
constexpr Nanoseconds kReportTime = std::chrono::seconds(1);

/// One rank that has joined.
struct Member {
  UniqueFd fd;
  JoinMessage join;
  bool has_reported = false;  ///< whether it has its links
};

}  // namespace

class BootstrapRoot::Impl {
 public:
  Impl(const RootOptions& options, std::unique_ptr<Acceptor> acceptor, Wakeup wake)
      : options_(options),
        acceptor_(std::move(acceptor)),
        address_(std::get<SocketAddress>(acceptor_->address())),
        wake_(std::move(wake)),
        nranks_(options.nranks),
        members_(static_cast<std::size_t>(nranks_)),
        thread_(start_thread(clock(), [this](const std::stop_token& stop) { serve(stop); })) {}

  ~Impl() {
    thread_.request_stop();
    wake_.signal();
  }

  [[nodiscard]] const SocketAddress& address() const { return address_; }
  [[nodiscard]] UniqueId id() const { return {address_, options_.secret}; }
  [[nodiscard]] const Secret& ticket() const { return ticket_; }

 private:
  [[nodiscard]] Clock& clock() const { return *options_.clock; }

  void serve(const std::stop_token& stop) {
    for (;;) {
      wait();
      if (stop.stop_requested()) return;
      while (Result<Accepted> next = acceptor_->accept(Deadline{})) take(*std::move(next));
      if (!is_waiting()) continue;
      if (is_linking_ ? take_reports() : fail_if_a_rank_left()) continue;
      if (has_passed(expires_)) {
        fail(is_linking_ ? unlinked_error() : missing_error());
      } else {
        send_keepalives();
      }
    }
  }

  /// Returns whether some ranks have joined and others have not.
  [[nodiscard]] bool is_waiting() const { return joined_ > 0 && !is_over_; }

  void wait() {
    std::vector<pollfd> polled{{wake_.fd(), POLLIN, 0}, {acceptor_->ready_fd(), POLLIN, 0}};
    std::vector<int> ranks;  // of polled[2], polled[3], ...
    Deadline until = Deadline::never(clock());
    if (is_waiting()) {
      for (int rank = 0; rank < nranks_; ++rank) {
        if (!at(rank)) continue;
        polled.push_back({at(rank)->fd.get(), POLLIN, 0});
        ranks.push_back(rank);
      }
      until = std::min(expires_, keepalive_at_);
    }
    readable_.clear();
    if (until.poll(polled) <= 0) return;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (polled[i + 2].revents != 0) readable_.push_back(ranks[i]);
    }
  }

  void take(Accepted accepted) {
    Result<JoinMessage> join = parse_join(accepted.hello);
    if (!join) {
      report_warning({"engine/runtime/bootstrap/bootstrap_root.cpp", __LINE__, __func__},
                     fmt::format("root {} refused {}: {}", to_string(address_), accepted.peer,
                                 join.error().message));
      return;
    }
    if (const auto why = reason_to_refuse(*join)) {
      report_warning(
          {"engine/runtime/bootstrap/bootstrap_root.cpp", __LINE__, __func__},
          fmt::format("root {} refused {}: {}", to_string(address_), accepted.peer, why->message));
      if (notes_.size() < kMostNotes) notes_.push_back(why->message);
      send(accepted.fd, {.kind = RootMessage::Kind::Refused, .error = *why});
      return;
    }
    const int rank = join->rank;
    at(rank) = Member{std::move(accepted.fd), *std::move(join)};
    ++joined_;
    send(at(rank)->fd, {.kind = RootMessage::Kind::Admitted, .secret = admitted_});
    expires_ = deadline_in(options_.join_timeout, clock());
    keepalive_at_ = deadline_in(keepalive_pause(), clock());
    introduce(rank);
    introduce((rank + nranks_ - 1) % nranks_);
    if (joined_ == nranks_) begin_linking();
  }

  std::optional<Error> reason_to_refuse(const JoinMessage& join) {
    const std::string who = fmt::format("rank {} ({})", join.rank, join.who);
    const auto refusal = [](std::string text, std::string help) {
      return Error{ErrorCode::InvalidArgument, std::move(text), std::move(help)};
    };
    if (is_over_ || is_linking_) {
      return refusal(
          fmt::format("{} came too late: the job of {} ranks has met already", who, nranks_),
          "start each rank once, and each job with an id of its own");
    }
    if (nranks_ == 0 && join.nranks >= 1 && join.nranks <= kMostRanks) {
      nranks_ = join.nranks;
      members_.resize(static_cast<std::size_t>(nranks_));
    }
    if (join.nranks != nranks_) {
      return refusal(
          fmt::format("{} was started for {} ranks, the job has {}", who, join.nranks, nranks_),
          "start every rank with the same number of ranks");
    }
    if (join.rank < 0 || join.rank >= nranks_) {
      return refusal(fmt::format("{} is outside 0-{}", who, nranks_ - 1),
                     "ranks count from 0; see how this one was started");
    }
    if (options_.wants_ticket && join.rank == 0 && join.ticket != ticket_) {
      return refusal(fmt::format("{} is not the process that runs the root", who),
                     "start rank 0 once; two jobs at one address need two RINGSIDE_SECRETs");
    }
    if (const auto& first = at(join.rank)) {
      return refusal(
          fmt::format("rank {} came twice: {} and {}", join.rank, first->join.who, join.who),
          "start each rank once; two jobs at one root need two ids");
    }
    return std::nullopt;
  }

  /// Sends `rank` its successor's address, once both have joined.
  void introduce(int rank) {
    const auto& member = at(rank);
    const auto& next = at((rank + 1) % nranks_);
    if (!member || !next) return;
    send(member->fd, {.kind = RootMessage::Kind::Successor, .successor = next->join.listen});
  }

  /// Fails the job if a waiting rank has left: such a rank sends nothing, so a readable connection has ended.
  /// returns  whether the job has failed
  bool fail_if_a_rank_left() {
    for (const int rank : readable_) {
      const auto& member = at(rank);
      std::byte byte{};
      const Result<std::size_t> got = recv_some(member->fd.get(), {&byte, 1});
      if (got && *got == 0) continue;
      fail({ErrorCode::PeerGone,
            fmt::format("rank {} ({}) came and left again before rank{} {} of {} had come",
                        member->join.rank, member->join.who, missing().size() == 1 ? "" : "s",
                        format_ranks(missing()), nranks_),
            "look at that rank's own messages and exit status"});
      return true;
    }
    return false;
  }

  void begin_linking() {
    is_linking_ = true;
    expires_ = deadline_in(options_.join_timeout + kReportTime, clock());
    for (const auto& member : members_) send(member->fd, {.kind = RootMessage::Kind::Everybody});
  }

  /// Reads whether ranks have connected to their neighbours.
  /// returns  whether the job has started or failed
  bool take_reports() {
    for (const int rank : readable_) {
      Member& member = *at(rank);
      if (member.has_reported) {
        fail(left_error(member));
        return true;
      }
      const auto frame =
          recv_frame(member.fd.get(), kMessageLimit, deadline_in(kSendTimeout, clock()));
      const auto report = frame ? parse_root(*frame) : Result<RootMessage>(frame.error());
      if (!report) {
        fail(left_error(member));
        return true;
      }
      member.has_reported = true;
      if (report->kind != RootMessage::Kind::Failure) continue;
      if (!first_timeout_) first_timeout_ = report->error;
      if (report->error.code == ErrorCode::Timeout) continue;  // its peer may be stopped
      fail(report->error);
      return true;
    }
    if (!unlinked().empty()) return false;
    if (first_timeout_) {
      fail(*first_timeout_);
    } else {
      finish({.kind = RootMessage::Kind::Linked});
    }
    return true;
  }

  [[nodiscard]] static Error left_error(const Member& member) {
    return {ErrorCode::PeerGone,
            fmt::format("rank {} ({}) came and left again before all had their links",
                        member.join.rank, member.join.who),
            "look at that rank's own messages and exit status"};
  }

  /// Returns the ranks that have not reported whether they have their links.
  [[nodiscard]] std::vector<int> unlinked() const {
    std::vector<int> ranks;
    for (const auto& member : members_) {
      if (!member->has_reported) ranks.push_back(member->join.rank);
    }
    return ranks;
  }

  [[nodiscard]] Error unlinked_error() const {
    const std::vector<int> ranks = unlinked();
    const bool are_many = ranks.size() > 1;
    return {ErrorCode::Timeout,
            fmt::format("rank{} {} {} not answer: {} stopped, or cannot be reached (no links "
                        "within {:g} s of the last arrival)",
                        are_many ? "s" : "", format_ranks(ranks), are_many ? "do" : "does",
                        are_many ? "they are" : "it is", Seconds(options_.join_timeout).count()),
            "look at its process: ps shows T where it is stopped (kill -CONT), D where the kernel "
            "holds it; then at its host and the network"};
  }

  [[nodiscard]] std::vector<int> missing() const {
    std::vector<int> ranks;
    for (int rank = 0; rank < nranks_; ++rank) {
      if (!members_[static_cast<std::size_t>(rank)]) ranks.push_back(rank);
    }
    return ranks;
  }

  [[nodiscard]] Error missing_error() const {
    const std::vector<int> ranks = missing();
    const std::string notes =
        notes_.empty() ? "" : fmt::format("; refused: {}", fmt::join(notes_, "; "));
    return {ErrorCode::Timeout,
            fmt::format("rank{} {} of {} never came within {:g} s of the last arrival{}",
                        ranks.size() == 1 ? "" : "s", format_ranks(ranks), nranks_,
                        Seconds(options_.join_timeout).count(), notes),
            fmt::format("look at how these were started and at their own messages; they must reach "
                        "{} (NCCL_SOCKET_IFNAME, firewall)",
                        to_string(address_))};
  }

  [[nodiscard]] Nanoseconds keepalive_pause() const {
    return std::min<Nanoseconds>(std::chrono::seconds(1), options_.join_timeout / 4);
  }

  /// Sends keepalives to waiting ranks, at intervals.
  void send_keepalives() {
    if (!has_passed(keepalive_at_)) return;
    keepalive_at_ = deadline_in(keepalive_pause(), clock());
    for (const auto& member : members_) {
      if (member) send(member->fd, {.kind = RootMessage::Kind::Waiting});
    }
  }

  void fail(const Error& why) { finish({.kind = RootMessage::Kind::Failure, .error = why}); }

  void finish(const RootMessage& last_message) {
    is_over_ = true;
    for (const auto& member : members_) {
      if (member) send(member->fd, last_message);
    }
    members_.clear();
  }

  /// Sends a message. If the rank is gone, its neighbours and fail_if_a_rank_left() notice that too.
  void send(const UniqueFd& fd, const RootMessage& message) const {
    static_cast<void>(send_frame(fd.get(), to_bytes(message), deadline_in(kSendTimeout, clock())));
  }

  std::optional<Member>& at(int rank) { return members_[static_cast<std::size_t>(rank)]; }

  const RootOptions options_;
  const std::unique_ptr<Acceptor> acceptor_;
  const SocketAddress address_;
  const Wakeup wake_;
  const Secret admitted_ = random_secret();
  const Secret ticket_ = random_secret();

  // Used by the thread only:
  int nranks_;
  std::vector<std::optional<Member>> members_;  ///< [rank]
  std::vector<int> readable_;                   ///< ranks whose connections are readable
  int joined_ = 0;
  bool is_linking_ = false;  ///< all ranks have joined
  bool is_over_ = false;
  std::optional<Error> first_timeout_;  ///< why the first rank that timed out could not link
  Deadline expires_{};
  Deadline keepalive_at_{};
  std::vector<std::string> notes_;  ///< why connections were refused

  std::jthread
      thread_;  // last member: the thread starts after all others exist and ends before they are destroyed
};

Result<std::unique_ptr<BootstrapRoot>> BootstrapRoot::start(const RootOptions& options) {
  DebugOutput::of_process();  // receives warnings about connections that were refused
  if (options.nranks < 0 || options.nranks > kMostRanks) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("a job cannot have {} ranks", options.nranks),
                 fmt::format("pass a number from 1 to {}", kMostRanks)};
  }
  RINGSIDE_TRY(std::unique_ptr<Acceptor> acceptor,
               Acceptor::listen(Endpoint{options.listen}, options.secret, {}, *options.clock));
  RINGSIDE_TRY(Wakeup wake, Wakeup::make());
  return std::unique_ptr<BootstrapRoot>(
      new BootstrapRoot(std::make_unique<Impl>(options, std::move(acceptor), std::move(wake))));
}

BootstrapRoot::BootstrapRoot(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BootstrapRoot::~BootstrapRoot() = default;

const SocketAddress& BootstrapRoot::address() const { return impl_->address(); }
UniqueId BootstrapRoot::id() const { return impl_->id(); }
Secret BootstrapRoot::ticket() const { return impl_->ticket(); }

}  // namespace ringside
