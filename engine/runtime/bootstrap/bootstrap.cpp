#include "engine/runtime/bootstrap/bootstrap.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/host_name.h"
#include "engine/runtime/bootstrap/debug_output.h"
#include "engine/runtime/bootstrap/messages.h"
#include "engine/runtime/bootstrap/ring_links.h"
#include "engine/transport/socket/acceptor.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/socket/wakeup.h"

namespace ringside {
namespace {

/// The deadline of all_gather() and barrier() without one.
constexpr Nanoseconds kDefaultTimeout = std::chrono::minutes(1);

/// The root sends a keepalive every second.
constexpr Nanoseconds kRootTimeout = std::chrono::seconds(3);

/// Precedes each block with its call and its length, so that ranks whose calls differ get an error that says so.
struct BlockHeader {
  std::uint32_t call = 0;
  std::uint32_t size = 0;
};

std::string host_and_pid() { return fmt::format("{}:{}", host_name("?"), ::getpid()); }

/// The transfer of one block, in either direction.
struct BlockTransfer {
  int fd = -1;
  Rank peer = kNoRank;
  bool is_sending = false;
  BlockHeader header{};
  std::span<std::byte> block;  ///< data to send, or buffer to receive into
  std::size_t done = 0;        ///< bytes of header and block that were transferred

  [[nodiscard]] bool is_complete() const { return done == sizeof header + block.size(); }

  /// Transfers as much as possible without waiting.
  Status advance(const BlockHeader& expected) {
    while (!is_complete()) {
      const bool is_in_header = done < sizeof header;
      const std::span<std::byte> part =
          is_in_header ? std::as_writable_bytes(std::span(&header, 1)).subspan(done)
                       : block.subspan(done - sizeof header);
      RINGSIDE_TRY(const std::size_t moved, is_sending ? send_some(fd, part) : recv_some(fd, part));
      if (moved == 0) return {};
      done += moved;
      if (!is_sending && is_in_header && done == sizeof header) RINGSIDE_TRY(check(expected));
    }
    return {};
  }

  [[nodiscard]] Status check(const BlockHeader& expected) const {
    if (header.call != expected.call) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("it is at exchange {}, this rank at {}", header.call, expected.call),
                   "every rank must make the same calls in the same order"};
    }
    if (header.size != expected.size) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("it gathers {} bytes, this rank {}", header.size, expected.size),
                   "every rank must pass the same number of bytes"};
    }
    return {};
  }
};

}  // namespace

class Bootstrap::Impl {
 public:
  Impl(const BootstrapOptions& options, Wakeup off)
      : options_(options), off_(std::move(off)), secret_(options.id.secret) {
    address_ = with_port(options.listen.value_or(loopback_address()), 0);
    if (options_.who.empty()) options_.who = host_and_pid();
  }

  [[nodiscard]] Rank rank() const { return options_.rank; }
  [[nodiscard]] int nranks() const { return options_.nranks; }
  [[nodiscard]] const Secret& secret() const { return secret_; }
  [[nodiscard]] Clock& clock() const { return *options_.clock; }
  [[nodiscard]] const SocketAddress& address() const { return address_; }
  [[nodiscard]] Patience patience(Deadline until) const { return {until, off_}; }

  Status join() {
    RINGSIDE_TRY(const UniqueFd root, reach_root());
    log_interface();
    // A peer that connects before this rank knows the root's secret waits in the listener's queue.
    RINGSIDE_TRY(UniqueFd listener, listen_on(Endpoint{with_port(address_, 0)}));
    RINGSIDE_TRY(const Endpoint here, local_endpoint(listener.get()));
    RINGSIDE_TRY(introduce(root, std::get<SocketAddress>(here)));
    RINGSIDE_TRY(const SocketAddress successor, await_successor(root));
    RINGSIDE_TRY(const std::unique_ptr<Acceptor> acceptor,
                 Acceptor::serve(std::move(listener), secret(), {}, clock()));
    return report_links(root, link(*acceptor, Endpoint{successor}));
  }

  RingLinks take_watch_links() { return std::exchange(watch_links_, {}); }

  /// Returns a hash of the ranks' secret, which does not reveal it.
  [[nodiscard]] std::uint64_t job() const {
    if (nranks() == 1) return 1;
    const Secret hash = derive_secret("job " + to_string(UniqueId{{}, secret_}));
    std::uint64_t number = 0;
    std::memcpy(&number, hash.bytes.data(), sizeof number);
    return number;
  }

  Result<std::vector<std::byte>> all_gather(std::span<const std::byte> mine, Deadline deadline) {
    const std::size_t size = mine.size();
    RINGSIDE_ASSERT(size <= UINT32_MAX, "a block of {} bytes", size);
    std::vector<std::byte> all(size * static_cast<std::size_t>(nranks()));
    const auto block_of = [&](int rank) {
      const int wrapped = (rank % nranks() + nranks()) % nranks();
      return std::span(all).subspan(static_cast<std::size_t>(wrapped) * size, size);
    };
    const int me = to_int(rank());
    std::ranges::copy(mine, block_of(me).begin());
    const BlockHeader header{++calls_, static_cast<std::uint32_t>(size)};
    const int steps = nranks() / 2;
    for (int step = 0; step < steps; ++step) {
      const Rank next = next_of(rank(), nranks());
      const Rank previous = previous_of(rank(), nranks());
      std::vector<BlockTransfer> transfers{
          {links_.next.get(), next, true, header, block_of(me - step)},
          {links_.previous.get(), previous, false, {}, block_of(me - step - 1)}};
      // If n is even, both directions would bring the same last block, so it is exchanged once.
      if (step + 1 < steps || nranks() % 2 != 0) {
        transfers.push_back({links_.previous.get(), previous, true, header, block_of(me + step)});
        transfers.push_back({links_.next.get(), next, false, {}, block_of(me + step + 1)});
      }
      RINGSIDE_TRY(exchange(transfers, header, deadline));
    }
    if (is_aborted_) return aborted();
    return all;
  }

  void abort() noexcept {
    is_aborted_ = true;
    off_.signal();
    // The descriptors stay open until this object is destroyed, so their numbers cannot have been reused.
    if (links_.next) ::shutdown(links_.next.get(), SHUT_RDWR);
    if (links_.previous) ::shutdown(links_.previous.get(), SHUT_RDWR);
  }

 private:
  [[nodiscard]] Patience join_patience() const { return patience_of(options_.join_timeout); }
  [[nodiscard]] Patience patience_of(Nanoseconds longest) const {
    const Deadline deadline = deadline_in(longest, clock());
    return options_.cancel == nullptr ? Patience(deadline) : Patience(deadline, *options_.cancel);
  }

  void log_interface() const {
    constexpr Subsystems kAbout = Subsystem::Init | Subsystem::Bootstrap;
    DebugOutput& output = DebugOutput::of_process();
    if (!output.shows(kAbout)) return;
    if (const auto interface = interface_at(address_)) {
      output.info(kAbout, bootstrap_text(output.version(), *interface));
    }
  }

  [[nodiscard]] std::string root_text() const {
    return "rank 0's root at " + to_string(options_.id.root);
  }

  [[nodiscard]] Error no_answer_of_root(const std::string& how) const {
    return {ErrorCode::Timeout,
            fmt::format("rank {}: {} does not answer within {:g} s: {}", to_int(rank()),
                        root_text(), Seconds(options_.join_timeout).count(), how),
            "look at how rank 0 was started and at its own messages; its address must be reachable "
            "from here (NCCL_SOCKET_IFNAME, firewall)"};
  }

  Result<UniqueFd> reach_root() {
    Result<UniqueFd> root = connect_tcp(options_.id.root, join_patience());
    if (!root && root.error().code == ErrorCode::Timeout)
      return no_answer_of_root(root.error().message);
    if (!root) return root;
    if (!options_.listen) {
      // Ranks that reach the root through this interface reach each other through it as well.
      RINGSIDE_TRY(const Endpoint here, local_endpoint(root->get()));
      address_ = with_port(std::get<SocketAddress>(here), 0);
    }
    return root;
  }

  Status introduce(const UniqueFd& root, const SocketAddress& listen) {
    const Patience patience = join_patience();
    Status done = shake_hands(root.get(), HandshakeRole::Connecting, secret(), patience);
    if (done) {
      const JoinMessage join{to_int(rank()), nranks(), listen, options_.who, options_.ticket};
      done = send_frame(root.get(), to_bytes(join), patience);
    }
    if (done) return {};
    if (done.error().code == ErrorCode::Timeout) return no_answer_of_root(done.error().message);
    return Error{done.error().code,
                 fmt::format("rank {}: {}: {}", to_int(rank()), root_text(), done.error().message),
                 done.error().help};
  }

  Status link(Acceptor& acceptor, const Endpoint& successor) {
    const Patience patience = join_patience();
    const auto ring = [&](RingHello::Purpose purpose) {
      return link_ring(purpose, rank(), nranks(), acceptor, successor, secret(), patience);
    };
    RINGSIDE_TRY(links_, ring(RingHello::Purpose::Bootstrap));
    RINGSIDE_TRY(watch_links_, ring(RingHello::Purpose::Watch));
    return {};
  }

  /// Reports to the root whether this rank is linked, and waits for the results of the other ranks. Without this, only
  /// the neighbours of a stopped rank would notice it.
  Status report_links(const UniqueFd& root, const Status& linked) {
    if (!linked && linked.error().code == ErrorCode::Aborted) return linked;
    RootMessage report{.kind = RootMessage::Kind::Linked};
    if (!linked) report = {.kind = RootMessage::Kind::Failure, .error = linked.error()};
    if (!send_frame(root.get(), to_bytes(report), join_patience()) && !linked) return linked;
    for (;;) {
      const auto frame = recv_frame(root.get(), kMessageLimit, patience_of(kRootTimeout));
      if (!frame && frame.error().code == ErrorCode::Timeout) {
        return no_answer_of_root(frame.error().message);
      }
      if (!frame && !linked) return linked;
      if (!frame) {
        return Error{frame.error().code,
                     fmt::format("rank {}: {} ended before all had their links: {}", to_int(rank()),
                                 root_text(), frame.error().message),
                     "look at rank 0's own messages and exit status"};
      }
      RINGSIDE_TRY(const RootMessage message, parse_root(*frame));
      if (message.kind == RootMessage::Kind::Linked) return linked;
      if (message.kind == RootMessage::Kind::Failure) return from_all(message.error);
    }
  }

  /// Every rank gets this error; rank 0 alone reports it to the user.
  [[nodiscard]] Error from_all(Error error) const {
    error.is_reported_elsewhere = rank() != Rank{0};
    return error;
  }

  /// Reads the root's messages until all ranks have joined.
  /// returns  the successor's address
  Result<SocketAddress> await_successor(const UniqueFd& root) {
    std::optional<SocketAddress> successor;
    bool is_admitted = false;
    for (;;) {
      const auto frame = recv_frame(root.get(), kMessageLimit, join_patience());
      if (!frame && frame.error().code == ErrorCode::Timeout) {
        return no_answer_of_root(frame.error().message);
      }
      if (!frame) {
        return Error{frame.error().code,
                     fmt::format("rank {}: {} ended before all ranks had come: {}", to_int(rank()),
                                 root_text(), frame.error().message),
                     "look at rank 0's own messages and exit status"};
      }
      RINGSIDE_TRY(const RootMessage message, parse_root(*frame));
      switch (message.kind) {
        case RootMessage::Kind::Waiting:
          break;
        case RootMessage::Kind::Admitted:
          secret_ = message.secret;
          is_admitted = true;
          break;
        case RootMessage::Kind::Successor:
          successor = message.successor;
          break;
        case RootMessage::Kind::Refused:
          return message.error;
        case RootMessage::Kind::Failure:
          return from_all(message.error);
        case RootMessage::Kind::Linked:
        case RootMessage::Kind::Everybody:
          if (successor && is_admitted) return *successor;
          return Error{ErrorCode::Corrupt, root_text() + " named no successor or no secret"};
      }
    }
  }

  Status exchange(std::vector<BlockTransfer>& transfers, const BlockHeader& header,
                  Deadline deadline) {
    for (;;) {
      std::vector<pollfd> polled;
      for (BlockTransfer& one : transfers) {
        if (const Status moved = one.advance(header); !moved) {
          return is_aborted_ ? aborted() : failed_with(one.peer, moved.error());
        }
        if (one.is_complete()) continue;
        polled.push_back({one.fd, static_cast<short>(one.is_sending ? POLLOUT : POLLIN), 0});
      }
      if (polled.empty()) return {};
      if (has_passed(deadline)) {
        const auto late = std::ranges::find_if(
            transfers, [](const BlockTransfer& one) { return !one.is_complete(); });
        return failed_with(
            late->peer, {ErrorCode::Timeout,
                         late->is_sending ? "it accepted no data in time" : "nothing came in time",
                         "that rank or one behind it is late or hangs"});
      }
      if (deadline.poll(polled) < 0 && errno != EINTR) {
        return system_error("cannot wait for the neighbours: poll", errno);
      }
    }
  }

  [[nodiscard]] Error failed_with(Rank peer, const Error& why) const {
    return {why.code,
            fmt::format("rank {}: exchange {} with rank {}: {}", to_int(rank()), calls_,
                        to_int(peer), why.message),
            why.help};
  }

  [[nodiscard]] Error aborted() const {
    return {ErrorCode::Aborted, fmt::format("rank {}: aborted", to_int(rank()))};
  }

  BootstrapOptions options_;
  const Wakeup off_;  ///< signalled by abort()
  Secret secret_;     ///< first the job's secret, later the one that the root sent
  SocketAddress address_;
  RingLinks links_;        ///< empty if there is one rank
  RingLinks watch_links_;  ///< empty if there is one rank, or after they were taken
  std::uint32_t calls_ = 0;
  std::atomic<bool> is_aborted_{false};
};

Result<std::unique_ptr<Bootstrap>> Bootstrap::join(const BootstrapOptions& options) {
  const int rank = to_int(options.rank);
  if (options.nranks < 1 || rank < 0 || rank >= options.nranks) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("rank {} is outside the job of {} ranks", rank, options.nranks),
                 "ranks count from 0 to one less than their number"};
  }
  RINGSIDE_TRY(Wakeup off, Wakeup::make());
  auto impl = std::make_unique<Impl>(options, std::move(off));
  DebugOutput& output = DebugOutput::of_process();
  output.announce(rank == 0);
  const Status joined = options.nranks > 1 ? impl->join() : Status{};
  if (!joined) {
    output.warn({"engine/runtime/bootstrap/bootstrap.cpp", __LINE__, __func__}, joined.error());
    return joined.error();
  }
  return std::unique_ptr<Bootstrap>(new Bootstrap(std::move(impl)));
}

Bootstrap::Bootstrap(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Bootstrap::~Bootstrap() = default;

Result<std::vector<std::byte>> Bootstrap::all_gather(std::span<const std::byte> mine,
                                                     Deadline deadline) {
  return impl_->all_gather(mine, deadline);
}

Status Bootstrap::barrier(Deadline deadline) {
  RINGSIDE_TRY(impl_->all_gather({}, deadline));
  return {};
}

Result<std::vector<std::byte>> Bootstrap::all_gather(std::span<const std::byte> mine) {
  return impl_->all_gather(mine, deadline_in(kDefaultTimeout, clock()));
}

Status Bootstrap::barrier() { return barrier(deadline_in(kDefaultTimeout, clock())); }

void Bootstrap::abort() noexcept { impl_->abort(); }
Patience Bootstrap::patience(Deadline until) const { return impl_->patience(until); }
RingLinks Bootstrap::take_watch_links() { return impl_->take_watch_links(); }
std::uint64_t Bootstrap::job() const { return impl_->job(); }
Rank Bootstrap::rank() const { return impl_->rank(); }
int Bootstrap::nranks() const { return impl_->nranks(); }
Rank Bootstrap::next() const { return next_of(rank(), nranks()); }
Rank Bootstrap::previous() const { return previous_of(rank(), nranks()); }
const Secret& Bootstrap::secret() const { return impl_->secret(); }
Clock& Bootstrap::clock() const { return impl_->clock(); }
const SocketAddress& Bootstrap::address() const { return impl_->address(); }

}  // namespace ringside
