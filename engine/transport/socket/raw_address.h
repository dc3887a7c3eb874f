#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <optional>

#include "engine/transport/socket/address.h"

namespace ringside {

/// An Endpoint in the kernel's format, for the files of this folder that make system calls.
struct RawAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  [[nodiscard]] const sockaddr* get() const {
    return reinterpret_cast<const sockaddr*>(&storage);  // NOLINT: what the socket API asks for
  }
  [[nodiscard]] sockaddr* get() {
    return reinterpret_cast<sockaddr*>(&storage);  // NOLINT: what the socket API asks for
  }
};

RawAddress to_raw(const Endpoint& endpoint);

/// returns  nothing for families other than IPv4 and IPv6
std::optional<SocketAddress> from_raw(const sockaddr* address);

}  // namespace ringside
