#include "engine/transport/socket/answers.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>

#include "engine/transport/socket/raw_address.h"
#include "engine/transport/socket/socket.h"

namespace ringside {
namespace {

/// After this time without acknowledgements, a new connection asks whether the host is there. The second half of the
/// timeout is left for its answer.
constexpr std::chrono::milliseconds kAskedAfter = kAnswerTimeout / 2;

/// Starts to connect to the address of the socket's peer.
/// returns  empty: impossible
UniqueFd begin_attempt(int socket) {
  RawAddress peer;
  if (::getpeername(socket, peer.get(), &peer.size) != 0) return {};
  UniqueFd made(::socket(peer.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made) return {};
  if (::connect(made.get(), peer.get(), peer.size) == 0 || errno == EINPROGRESS) return made;
  return {};
}

/// Returns whether the host answered an attempt: it accepted, or refused, which also shows that it is there.
/// returns  nullopt: not known yet
std::optional<bool> outcome_of(int attempt) {
  pollfd polled{attempt, POLLOUT, 0};
  if (::poll(&polled, 1, 0) <= 0) return std::nullopt;
  int number = 0;
  socklen_t size = sizeof number;
  if (::getsockopt(attempt, SOL_SOCKET, SO_ERROR, &number, &size) != 0) return false;
  return number == 0 || number == ECONNREFUSED;
}

/// Returns the error about a peer that acknowledges nothing.
/// is_host_there  its host answers a new connection, so that only long packets, or this connection, are lost
Error unanswered(int socket, std::chrono::milliseconds waited, const tcp_info& info,
                 bool is_host_there) {
  const std::string what =
      fmt::format("{}: nothing comes back: no acknowledgement for {} s, sent again {} times",
                  describe_peer(socket), waited.count() / 1000, info.tcpi_retransmits);
  if (!is_host_there) return {ErrorCode::Unreachable, what, help_for_no_answer()};
  constexpr unsigned kHeaders = 28;  // IPv4 and ICMP headers of ping
  return {ErrorCode::Unreachable,
          fmt::format("{}; the host answers a new connection, so short packets pass and those of "
                      "up to {} bytes do "
                      "not: the MTU differs on the way",
                      what, info.tcpi_pmtu),
          fmt::format("give all interfaces and switches between the two hosts one MTU: ip link "
                      "show on both; ping -M do "
                      "-s {} HOST has to be answered. If it is, something on the way forgot the "
                      "connection: nft list "
                      "ruleset, conntrack -L",
                      info.tcpi_pmtu - std::min(info.tcpi_pmtu, kHeaders))};
}

}  // namespace

Status AnswerWatch::check(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  const bool is_waiting = info.tcpi_unacked > 0 && info.tcpi_retransmits > 0;
  // The time without any packet from the peer: data also carries acknowledgements, and a peer that sends is there.
  const std::chrono::milliseconds waited(
      std::min(info.tcpi_last_ack_recv, info.tcpi_last_data_recv));
  if (!is_waiting || waited < kAskedAfter) {
    attempt_.reset();
    is_answered_.reset();
    return {};
  }
  ask_host(socket);
  if (waited < kAnswerTimeout) return {};
  return unanswered(socket, waited, info, is_answered_.value_or(false));
}

void AnswerWatch::ask_host(int socket) {
  if (is_answered_) return;
  if (!attempt_) attempt_ = begin_attempt(socket);
  is_answered_ = attempt_ ? outcome_of(attempt_.get()) : false;
  if (is_answered_) attempt_.reset();
}

bool answers_short_packets(int socket, const Patience& patience) {
  const UniqueFd attempt = begin_attempt(socket);
  if (!attempt) return false;
  const Result<bool> is_over = patience.wait_for(attempt.get(), POLLOUT);
  return is_over && *is_over && outcome_of(attempt.get()).value_or(false);
}

}  // namespace ringside
