#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "sim/wire.h"

namespace ringside {
namespace {

Error gone() { return {ErrorCode::PeerGone, "the other end of the simulation is gone"}; }

/// Waits until there is data, or the other end is closed.
Status await(int socket, const Deadline& until) {
  if (until.at() == Clock::kNever) return {};  // recv() waits instead
  pollfd polled{.fd = socket, .events = POLLIN, .revents = 0};
  for (;;) {
    const int ready = until.poll(std::span(&polled, 1));
    if (ready > 0) return {};
    if (ready == 0) return Error{ErrorCode::Timeout, "the simulation does not answer"};
    if (errno != EINTR) return system_error("wait for the simulation", errno);
  }
}

/// Receives exactly `bytes` from the socket.
Status receive_all(int socket, std::span<std::byte> bytes, const Deadline& until) {
  while (!bytes.empty()) {
    RINGSIDE_TRY(await(socket, until));
    const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (got == 0 || errno == ECONNRESET) {
      return gone();
    } else if (errno != EINTR) {
      return system_error("read from the simulation", errno);
    }
  }
  return {};
}

}  // namespace

Status send_wire(int socket, std::span<const std::byte> encoded) {
  while (!encoded.empty()) {
    const ssize_t put = ::send(socket, encoded.data(), encoded.size(), MSG_NOSIGNAL);
    if (put >= 0) {
      encoded = encoded.subspan(static_cast<std::size_t>(put));
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return gone();
    } else if (errno != EINTR) {
      return system_error("write to the simulation", errno);
    }
  }
  return {};
}

Result<WireMessage> receive_wire(int socket, const WirePatience& patience) {
  std::uint32_t length = 0;
  RINGSIDE_TRY(receive_all(socket, std::as_writable_bytes(std::span(&length, 1)), patience.until));
  if (length > patience.bytes) {
    return Error{ErrorCode::Corrupt, "a message of the simulation has no sensible length"};
  }
  std::vector<std::byte> bytes(sizeof length + length);
  std::memcpy(bytes.data(), &length, sizeof length);
  RINGSIDE_TRY(receive_all(socket, std::span(bytes).subspan(sizeof length), patience.until));
  return decode(bytes);
}

}  // namespace ringside
