#include "engine/transport/socket/acceptor.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "base/warning.h"
#include "engine/transport/socket/frame.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/socket/wakeup.h"

namespace ringside {
namespace {

enum class Progress { Waiting, Complete, Closed };

/// One connection between its accept and its hello.
struct Pending {
  Pending(UniqueFd connection, const Secret& secret, Deadline until)
      : fd(std::move(connection)),
        peer(describe_peer(fd.get())),
        handshake(HandshakeRole::Accepting, secret),
        expires(until) {}

  [[nodiscard]] short events() const {
    return handshake.to_send().empty() ? POLLIN : static_cast<short>(POLLIN | POLLOUT);
  }

  /// Advances as far as possible without waiting.
  /// errors  the reason to refuse the peer
  Result<Progress> advance() {
    std::array<std::byte, kHelloLimit> buffer{};
    for (;;) {
      if (const auto out = handshake.to_send(); !out.empty()) {
        RINGSIDE_TRY(const std::size_t sent, send_some(fd.get(), out));
        if (sent == 0) return Progress::Waiting;
        handshake.sent(sent);
        continue;
      }
      if (handshake.is_done() && hello.is_whole()) return Progress::Complete;
      const std::size_t wanted = handshake.is_done() ? hello.wanted() : handshake.wanted();
      const std::span<std::byte> in(buffer.data(), std::min(buffer.size(), wanted));
      RINGSIDE_TRY(const std::size_t got, recv_some(fd.get(), in));
      if (got == 0) return Progress::Waiting;
      RINGSIDE_TRY(take(in.first(got)));
    }
  }

  Status take(std::span<const std::byte> bytes) {
    if (handshake.is_done()) return hello.receive(bytes);
    Status taken = handshake.receive(bytes);
    if (!taken && !handshake.to_send().empty()) {
      // Lets a peer of another version report that; if the socket has no room for 40 bytes, the peer just sees the
      // connection close.
      static_cast<void>(send_some(fd.get(), handshake.to_send()));
    }
    return taken;
  }

  UniqueFd fd;
  std::string peer;
  Handshake handshake;
  FrameReader hello{kHelloLimit};
  Deadline expires;
};

}  // namespace

class Acceptor::Impl {
 public:
  Impl(UniqueFd listener, Endpoint address, const Secret& secret, AcceptorLimits limits,
       Wakeup wake, Wakeup ready, Clock& clock)
      : listener_(std::move(listener)),
        address_(std::move(address)),
        secret_(secret),
        limits_(limits),
        wake_(std::move(wake)),
        ready_(std::move(ready)),
        clock_(clock),
        thread_(start_thread(clock, [this](const std::stop_token& stop) { serve(stop); })) {}

  ~Impl() {
    thread_.request_stop();
    wake_.signal();
  }

  [[nodiscard]] const Endpoint& address() const { return address_; }
  [[nodiscard]] int ready_fd() const { return ready_.fd(); }

  Result<Accepted> accept(const Patience& patience) {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (is_closed_) {
          return Error{ErrorCode::Aborted, to_string(address_) + " was closed"};
        }
        if (!queue_.empty()) {
          Accepted first = std::move(queue_.front());
          queue_.pop_front();
          ready_.clear();
          return first;
        }
      }
      RINGSIDE_TRY(const bool has_news, patience.wait_for(ready_.fd(), POLLIN));
      if (!has_news) {
        return Error{ErrorCode::Timeout,
                     fmt::format("no connection to {} arrived in time", to_string(address_))};
      }
    }
  }

  void close() noexcept {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    ready_.signal();
  }

 private:
  void serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      wait();
      if (stop.stop_requested()) return;
      let_in_more();
      std::erase_if(pending_, [this](Pending& one) { return is_over(one); });
    }
  }

  void wait() {
    polled_.clear();
    polled_.push_back({wake_.fd(), POLLIN, 0});
    // After "too many open files" the listener would stay readable: the thread polls it again when a connection has
    // ended, or a little later.
    if (!is_out_of_files_) polled_.push_back({listener_.get(), POLLIN, 0});
    Deadline first = is_out_of_files_ ? deadline_in(std::chrono::milliseconds(50), clock_)
                                      : Deadline::never(clock_);
    for (const Pending& one : pending_) {
      polled_.push_back({one.fd.get(), one.events(), 0});
      first = std::min(first, one.expires);
    }
    is_out_of_files_ = false;
    // A failed poll (EINTR, no memory) leads to one round without events.
    static_cast<void>(first.poll(polled_));
  }

  void let_in_more() {
    for (;;) {
      Result<UniqueFd> next = accept_one(listener_.get());
      if (!next) {
        report_warning({"engine/transport/socket/acceptor.cpp", __LINE__, __func__},
                       fmt::format("{}: {}; {}", to_string(address_), next.error().message,
                                   next.error().help));
        is_out_of_files_ = true;
        if (!pending_.empty()) drop_oldest("to make room: this process is out of files");
        return;
      }
      if (!*next) return;
      if (pending_.size() >= limits_.pending) drop_oldest("to make room for newer connections");
      pending_.emplace_back(*std::move(next), secret_, deadline_in(limits_.handshake, clock_));
    }
  }

  bool is_over(Pending& one) {
    const Result<Progress> progress = one.advance();
    if (!progress) {
      // A peer that gives up reports that itself: a rank that asked this one for its status while it was stopped,
      // which is no fault of the job.
      if (progress.error().code != ErrorCode::PeerGone) refuse(one, progress.error().message);
      return true;
    }
    if (*progress == Progress::Complete) {
      const std::lock_guard lock(mutex_);
      queue_.push_back({std::move(one.fd), std::move(one.peer), one.hello.take()});
      ready_.signal();
      return true;
    }
    if (!has_passed(one.expires)) return false;
    refuse(one, "did not finish the handshake in time");
    return true;
  }

  void drop_oldest(const char* why) {
    refuse(pending_.front(), why);
    pending_.erase(pending_.begin());
  }

  void refuse(const Pending& one, const std::string& why) {
    ++refused_;
    if (refused_ > 32 && refused_ % 1000 != 0) return;
    report_warning({"engine/transport/socket/acceptor.cpp", __LINE__, __func__},
                   fmt::format("{} refused {}: {}{}", to_string(address_), one.peer, why,
                               refused_ < 32 ? "" : fmt::format(" ({} refused so far)", refused_)));
  }

  const UniqueFd listener_;
  const Endpoint address_;
  const Secret secret_;
  const AcceptorLimits limits_;
  const Wakeup wake_;   ///< wakes the thread's poll
  const Wakeup ready_;  ///< counts the elements of queue_; stays readable after close()
  Clock& clock_;

  std::mutex mutex_;
  std::deque<Accepted> queue_;  ///< guarded by mutex_
  bool is_closed_ = false;      ///< guarded by mutex_

  // Used by the thread only:
  std::vector<Pending> pending_;  ///< oldest first
  std::vector<pollfd> polled_;
  bool is_out_of_files_ = false;
  std::size_t refused_ = 0;

  std::jthread
      thread_;  // last member: the thread starts after all others exist and ends before they are destroyed
};

Result<std::unique_ptr<Acceptor>> Acceptor::listen(const Endpoint& endpoint, const Secret& secret,
                                                   AcceptorLimits limits, Clock& clock) {
  RINGSIDE_TRY(UniqueFd listener, listen_on(endpoint));
  return serve(std::move(listener), secret, limits, clock);
}

Result<std::unique_ptr<Acceptor>> Acceptor::serve(UniqueFd listener, const Secret& secret,
                                                  AcceptorLimits limits, Clock& clock) {
  RINGSIDE_TRY(Endpoint address, local_endpoint(listener.get()));
  RINGSIDE_TRY(Wakeup wake, Wakeup::make());
  RINGSIDE_TRY(Wakeup ready, Wakeup::make(Wakeup::Kind::Counter));
  return std::unique_ptr<Acceptor>(
      new Acceptor(std::make_unique<Impl>(std::move(listener), std::move(address), secret, limits,
                                          std::move(wake), std::move(ready), clock)));
}

Acceptor::Acceptor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Acceptor::~Acceptor() = default;

const Endpoint& Acceptor::address() const { return impl_->address(); }
Result<Accepted> Acceptor::accept(const Patience& patience) { return impl_->accept(patience); }
int Acceptor::ready_fd() const { return impl_->ready_fd(); }
void Acceptor::close() noexcept { impl_->close(); }

AbstractName fresh_name(std::string_view for_what) {
  std::string name = fmt::format("ringside-{}-", for_what);
  for (const std::byte byte : random_secret().bytes) {
    name += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  return {name};
}

Result<UniqueFd> connect_authenticated(const Endpoint& endpoint, const Secret& secret,
                                       std::span<const std::byte> hello, const Patience& patience,
                                       NoListener no_listener, Segments segments) {
  RINGSIDE_ASSERT(hello.size() <= kHelloLimit, "a hello of {} bytes", hello.size());
  RINGSIDE_TRY(UniqueFd fd, connect_to(endpoint, patience, no_listener, segments));
  RINGSIDE_TRY(shake_hands(fd.get(), HandshakeRole::Connecting, secret, patience));
  RINGSIDE_TRY(send_frame(fd.get(), hello, patience));
  return fd;
}

}  // namespace ringside
