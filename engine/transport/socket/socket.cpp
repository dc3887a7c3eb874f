#include "engine/transport/socket/socket.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "engine/transport/socket/frame.h"
#include "engine/transport/socket/raw_address.h"
#include "engine/transport/socket/socket_wait.h"

namespace ringside {
namespace {

/// source  RFC 9293, 3.7.1: the segment size that every network supports
constexpr int kShortSegment = 536;
constexpr std::chrono::seconds kKeepIdle{3};      ///< idle time before the first probe
constexpr std::chrono::seconds kKeepInterval{1};  ///< between probes
constexpr const char* kClosedConnection = "a closed connection";

std::string reason(int error_number) { return std::generic_category().message(error_number); }

bool means_peer_gone(int error_number) {
  return error_number == ECONNRESET || error_number == EPIPE || error_number == ECONNABORTED ||
         error_number == ENOTCONN;
}

bool means_unreachable(int error_number) {
  return error_number == ETIMEDOUT || error_number == EHOSTUNREACH || error_number == ENETUNREACH ||
         error_number == ENETDOWN;
}

Error silent_error(const std::string& peer, const std::string& why) {
  const std::string whose = peer == kClosedConnection ? std::string() : peer + ": ";
  return {ErrorCode::Unreachable, fmt::format("{}nothing comes back: {}", whose, why),
          help_for_no_answer()};
}

/// A living peer answers keepalives every kKeepIdle. If a connection is reset after two more intervals without an
/// answer, the other end or its host has given up for the same reason, and the reset is no evidence about the peer's
/// process.
/// returns  how long nothing arrived before the reset; nullopt: something arrived
std::optional<std::chrono::milliseconds> quiet_time_before_reset(int socket, int error_number) {
  if (error_number != ECONNRESET) return std::nullopt;
  int keeps_alive = 0;
  socklen_t size = sizeof keeps_alive;
  if (::getsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &keeps_alive, &size) != 0) return std::nullopt;
  tcp_info info{};
  size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  const std::chrono::milliseconds quiet_time(
      std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv));
  if (keeps_alive == 0 || quiet_time < kKeepIdle + 2 * kKeepInterval) return std::nullopt;
  return quiet_time;
}

Result<UniqueFd> make_socket(int family) {
  UniqueFd made(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made) {
    return system_error("cannot make a socket", errno,
                        errno == EMFILE ? "raise the limit of open files: ulimit -n" : "");
  }
  return made;
}

void set_option(int socket, int level, int name, int value) {
  // For tuning only: a kernel without the option also works, but reacts later.
  static_cast<void>(::setsockopt(socket, level, name, &value, sizeof value));
}

std::string help_for_listen(const Endpoint& endpoint, int error_number) {
  const auto* tcp = std::get_if<SocketAddress>(&endpoint);
  if (tcp == nullptr) return {};
  if (error_number == EADDRINUSE) {
    return fmt::format(
        "another process has the port (ss -ltnp 'sport = :{}' names it): stop it, or choose "
        "another",
        tcp->port);
  }
  if (error_number == EADDRNOTAVAIL) return "no interface here has this address; see: ip -br addr";
  if (error_number == EACCES) return "ports below 1024 need root: choose a higher one";
  return {};
}

/// A connection to a free local port may connect to itself, if the kernel picks that port for its own end. It looks
/// like a peer that echoes.
bool is_connected_to_itself(int socket) {
  RawAddress near;
  RawAddress far;
  if (::getsockname(socket, near.get(), &near.size) != 0) return false;
  if (::getpeername(socket, far.get(), &far.size) != 0) return false;
  const auto near_address = from_raw(near.get());
  const auto far_address = from_raw(far.get());
  return near_address && far_address && *near_address == *far_address;
}

/// Makes one attempt.  returns  0, or the errno of the attempt
Result<int> try_connect(int socket, const RawAddress& address, const Patience& patience) {
  if (::connect(socket, address.get(), address.size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  RINGSIDE_TRY(const bool is_over, patience.wait_for(socket, POLLOUT));
  if (!is_over) return ETIMEDOUT;
  int outcome = 0;
  socklen_t size = sizeof outcome;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &outcome, &size) != 0) return errno;
  return outcome;
}

bool is_worth_another_try(int error_number) {
  switch (error_number) {
    case ECONNREFUSED:  // no process listens yet
    case ECONNRESET:
    case ETIMEDOUT:
    case EHOSTUNREACH:  // the other host may be booting
    case EAGAIN:        // a Unix listener's queue is full
    case EINTR:
      return true;
    default:
      return false;
  }
}

enum class Use { Hold, Listen, ListenShared };

/// Makes a socket bound to the address; it does not listen yet.
Result<UniqueFd> bind_to(const Endpoint& endpoint, Use use) {
  const RawAddress raw = to_raw(endpoint);
  RINGSIDE_TRY(UniqueFd made, make_socket(raw.storage.ss_family));
  const auto* tcp = std::get_if<SocketAddress>(&endpoint);
  // With a requested port, closing connections of the last run must not block it. Without one, SO_REUSEADDR would let
  // the kernel give the same free port to two sockets.
  if (tcp != nullptr && tcp->port != 0) set_option(made.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (use == Use::ListenShared) set_option(made.get(), SOL_SOCKET, SO_REUSEPORT, 1);
  if (::bind(made.get(), raw.get(), raw.size) != 0 ||
      (use != Use::Hold && ::listen(made.get(), SOMAXCONN) != 0)) {
    const int why = errno;
    return system_error("cannot listen on " + to_string(endpoint), why,
                        help_for_listen(endpoint, why));
  }
  return made;
}

}  // namespace

bool would_wait(int error_number) {
  return error_number == EAGAIN || error_number == EWOULDBLOCK;  // NOLINT: equal on Linux only
}

Error stream_error(int socket, int error_number) {
  if (const auto quiet_time = quiet_time_before_reset(socket, error_number)) {
    return silent_error(describe_peer(socket),
                        fmt::format("{} after {} s without an answer", reason(error_number),
                                    quiet_time->count() / 1000));
  }
  if (means_peer_gone(error_number)) {
    return {ErrorCode::PeerGone,
            fmt::format("{}: connection lost: {}", describe_peer(socket), reason(error_number))};
  }
  if (means_unreachable(error_number)) {
    return silent_error(describe_peer(socket), reason(error_number));
  }
  return system_error(describe_peer(socket), error_number);
}

Status wait_for_socket(int socket, short events, const Patience& patience) {
  RINGSIDE_TRY(const bool is_ready, patience.wait_for(socket, events));
  if (is_ready) return {};
  return Error{ErrorCode::Timeout, fmt::format("{}: nothing {} in time", describe_peer(socket),
                                               events == POLLIN ? "came" : "could be sent")};
}

Result<UniqueFd> listen_on(const Endpoint& endpoint) { return bind_to(endpoint, Use::Listen); }
Result<UniqueFd> take_port(const SocketAddress& address) {
  return bind_to(Endpoint{address}, Use::Hold);
}

Result<UniqueFd> listen_shared(const SocketAddress& address) {
  return bind_to(Endpoint{address}, Use::ListenShared);
}

Result<UniqueFd> listen_tcp(const SocketAddress& address) { return listen_on(Endpoint{address}); }

Result<UniqueFd> listen_unix(const AbstractName& name) { return listen_on(Endpoint{name}); }

Result<UniqueFd> connect_to(const Endpoint& endpoint, const Patience& patience,
                            NoListener no_listener, Segments segments) {
  constexpr Nanoseconds kFirstPause = std::chrono::milliseconds(5);
  constexpr Nanoseconds kLongestPause = std::chrono::milliseconds(100);
  const RawAddress raw = to_raw(endpoint);
  Nanoseconds pause = kFirstPause;
  for (;;) {
    RINGSIDE_TRY(UniqueFd made, make_socket(raw.storage.ss_family));
    if (segments == Segments::Short && raw.storage.ss_family != AF_UNIX) {
      set_option(made.get(), IPPROTO_TCP, TCP_MAXSEG, kShortSegment);
    }
    RINGSIDE_TRY(int outcome, try_connect(made.get(), raw, patience));
    if (outcome == 0 && is_connected_to_itself(made.get())) outcome = ECONNREFUSED;
    if (outcome == 0) {
      if (raw.storage.ss_family != AF_UNIX) set_option(made.get(), IPPROTO_TCP, TCP_NODELAY, 1);
      return made;
    }
    if (outcome == ECONNREFUSED && no_listener == NoListener::IsEnd) {
      return Error{ErrorCode::PeerGone, "nothing listens at " + to_string(endpoint)};
    }
    if (!is_worth_another_try(outcome)) {
      return system_error("cannot connect to " + to_string(endpoint), outcome);
    }
    RINGSIDE_TRY(patience.at_most(pause).wait_for(-1, 0));
    if (has_passed(patience.deadline())) {
      return Error{ErrorCode::Timeout,
                   fmt::format("{} does not answer: {}", to_string(endpoint), reason(outcome))};
    }
    pause = std::min(pause * 2, kLongestPause);
  }
}

Result<UniqueFd> connect_tcp(const SocketAddress& address, const Patience& patience) {
  return connect_to(Endpoint{address}, patience);
}

Result<UniqueFd> connect_unix(const AbstractName& name, const Patience& patience) {
  return connect_to(Endpoint{name}, patience);
}

Result<UniqueFd> accept_one(int listener) {
  for (;;) {
    RawAddress peer;
    UniqueFd accepted(::accept4(listener, peer.get(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted) {
      if (peer.storage.ss_family != AF_UNIX)
        set_option(accepted.get(), IPPROTO_TCP, TCP_NODELAY, 1);
      return accepted;
    }
    const int why = errno;
    if (would_wait(why)) return UniqueFd();
    // An error of one connection does not affect the next: see accept(2), "Error handling".
    if (why == EINTR || why == ECONNABORTED || why == EPROTO || why == ENETDOWN ||
        why == EHOSTDOWN || why == EHOSTUNREACH || why == ENETUNREACH || why == ENONET ||
        why == EOPNOTSUPP || why == ENOPROTOOPT) {
      continue;
    }
    return system_error("cannot accept a connection", why,
                        why == EMFILE ? "raise the limit of open files: ulimit -n" : "");
  }
}

Result<Endpoint> local_endpoint(int socket) {
  RawAddress raw;
  if (::getsockname(socket, raw.get(), &raw.size) != 0) return system_error("getsockname", errno);
  if (raw.storage.ss_family == AF_UNIX) {
    sockaddr_un address{};
    std::memcpy(&address, &raw.storage, sizeof address);
    constexpr std::size_t kBefore = offsetof(sockaddr_un, sun_path) + 1;
    if (raw.size <= kBefore) return Error{ErrorCode::System, "the Unix socket has no name"};
    return Endpoint{AbstractName{std::string(&address.sun_path[1], raw.size - kBefore)}};
  }
  const auto address = from_raw(raw.get());
  if (!address) return Error{ErrorCode::System, "the socket is neither TCP nor Unix"};
  return Endpoint{*address};
}

std::string describe_peer(int socket) {
  RawAddress raw;
  if (::getpeername(socket, raw.get(), &raw.size) != 0) return kClosedConnection;
  if (raw.storage.ss_family == AF_UNIX) {
    ucred who{};
    socklen_t size = sizeof who;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return "a local process";
    return fmt::format("process {} of user {}", who.pid, who.uid);
  }
  const auto address = from_raw(raw.get());
  return address ? to_string(*address) : "an unknown peer";
}

const char* help_for_no_answer() {
  return "look at what lies between the two hosts: links and switches (ip -s link), firewalls (nft "
         "list "
         "ruleset), MTU (ping -M do -s 8972), routes";
}

void enable_keepalive(int socket, Attention attention) {
  RawAddress raw;
  if (::getsockname(socket, raw.get(), &raw.size) != 0 || raw.storage.ss_family == AF_UNIX) return;
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(kKeepIdle.count()));
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(kKeepInterval.count()));
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 5);  // number of unanswered probes
  // Data that waits for room at the receiver also counts as unanswered.
  if (attention == Attention::Prompt) {
    set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(kAnswerTimeout.count()));
  }
}

Status check_open(int socket) {
  // Not POLLIN: unread data does not show whether the peer has ended.
  pollfd poll{socket, POLLRDHUP, 0};
  if (::poll(&poll, 1, 0) <= 0) return {};
  int number = 0;
  socklen_t size = sizeof number;
  static_cast<void>(::getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &size));
  if (number != 0) return stream_error(socket, number);
  return Error{ErrorCode::PeerGone, "its process closed the connection or died"};
}

Result<std::size_t> send_some(int socket, std::span<const std::byte> data) {
  return send_some(socket, std::span(&data, 1));
}

Result<std::size_t> recv_some(int socket, std::span<std::byte> data) {
  if (data.empty()) return std::size_t{0};
  return recv_some(socket, std::span(&data, 1));
}

Result<std::size_t> send_some(int socket, std::span<const std::span<const std::byte>> pieces) {
  RINGSIDE_ASSERT(pieces.size() <= kMostPieces, "{} pieces", pieces.size());
  std::array<iovec, kMostPieces> vectors;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    // sendmsg() does not write to the buffers.
    vectors[i] = {const_cast<std::byte*>(pieces[i].data()), pieces[i].size()};
  }
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = pieces.size();
  for (;;) {
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (would_wait(errno)) return std::size_t{0};
    if (errno != EINTR) return stream_error(socket, errno);
  }
}

Result<std::size_t> recv_some(int socket, std::span<const std::span<std::byte>> pieces) {
  RINGSIDE_ASSERT(pieces.size() <= kMostPieces, "{} pieces", pieces.size());
  std::array<iovec, kMostPieces> vectors;
  for (std::size_t i = 0; i < pieces.size(); ++i) vectors[i] = {pieces[i].data(), pieces[i].size()};
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = pieces.size();
  for (;;) {
    const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got == 0) {
      return Error{ErrorCode::PeerGone,
                   fmt::format("{}: closed the connection", describe_peer(socket))};
    }
    if (would_wait(errno)) return std::size_t{0};
    if (errno != EINTR) return stream_error(socket, errno);
  }
}

bool is_writable(int socket) {
  pollfd poll{socket, POLLOUT, 0};
  return ::poll(&poll, 1, 0) > 0;
}

bool is_readable(int fd) {
  pollfd poll{fd, POLLIN, 0};
  return ::poll(&poll, 1, 0) > 0;
}

Status send_all(int socket, std::span<const std::byte> data, const Patience& patience) {
  while (!data.empty()) {
    RINGSIDE_TRY(const std::size_t sent, send_some(socket, data));
    data = data.subspan(sent);
    if (sent == 0) RINGSIDE_TRY(wait_for_socket(socket, POLLOUT, patience));
  }
  return {};
}

Status recv_all(int socket, std::span<std::byte> data, const Patience& patience) {
  while (!data.empty()) {
    RINGSIDE_TRY(const std::size_t got, recv_some(socket, data));
    data = data.subspan(got);
    if (got == 0) RINGSIDE_TRY(wait_for_socket(socket, POLLIN, patience));
  }
  return {};
}

Status send_frame(int socket, std::span<const std::byte> payload, const Patience& patience) {
  return send_all(socket, make_frame(payload), patience);
}

Result<std::vector<std::byte>> recv_frame(int socket, std::size_t limit, const Patience& patience) {
  FrameReader reader(limit);
  std::vector<std::byte> piece;
  while (!reader.is_whole()) {
    piece.resize(reader.wanted());
    RINGSIDE_TRY(recv_all(socket, piece, patience));
    if (const Status taken = reader.receive(piece); !taken) {
      return Error{taken.error().code, describe_peer(socket) + ": " + taken.error().message};
    }
  }
  return reader.take();
}

}  // namespace ringside
