#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "sim/wire.h"

namespace ringside {
namespace {

/// More than the routes of any job need; a length beyond it is no length.
constexpr std::uint32_t kMostBytes = 1U << 30;

Error gone() { return {ErrorCode::PeerGone, "the other end of the simulation is gone"}; }

/// Takes all of `bytes` from the socket.
Status receive_all(int socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
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

Result<WireMessage> receive_wire(int socket) {
  std::uint32_t length = 0;
  RINGSIDE_TRY(receive_all(socket, std::as_writable_bytes(std::span(&length, 1))));
  if (length > kMostBytes) {
    return Error{ErrorCode::Corrupt, "a message of the simulation has no sensible length"};
  }
  std::vector<std::byte> bytes(sizeof length + length);
  std::memcpy(bytes.data(), &length, sizeof length);
  RINGSIDE_TRY(receive_all(socket, std::span(bytes).subspan(sizeof length)));
  return decode(bytes);
}

}  // namespace ringside
