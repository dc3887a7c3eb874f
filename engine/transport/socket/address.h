#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace ringside {

/// Where a TCP socket is: an IPv4 or IPv6 address and a port. Link-local IPv6 addresses with a zone (`fe80::1%eth0`)
/// are rejected: the zone has no meaning on another host.
struct SocketAddress {
  enum class Family : std::uint8_t { V4, V6 };

  Family family = Family::V4;
  std::array<std::uint8_t, 16> ip{};  ///< network byte order; V4 uses the first four
  std::uint16_t port = 0;             ///< 0: the kernel chooses one when listening

  friend bool operator==(const SocketAddress&, const SocketAddress&) = default;
};

SocketAddress loopback_address(std::uint16_t port = 0);  ///< 127.0.0.1
bool is_loopback(const SocketAddress& address);

/// Returns the same address with another port.
SocketAddress with_port(SocketAddress address, std::uint16_t port);

std::string to_string(const SocketAddress& address);  ///< `10.0.0.1:4000`, `[fd00::1]:4000`

/// Reads what to_string() writes. Names are for resolve_address().
/// errors  InvalidArgument: no port, a port outside 0 .. 65535, not an IP address, IPv6 without brackets
Result<SocketAddress> parse_socket_address(std::string_view text);

/// Resolves a host name or IP address. If it has several, addresses of `family` go first, so that all ranks that
/// resolve one name get the same family.
/// errors  InvalidArgument: the name is empty.  System: it cannot be resolved.
Result<SocketAddress> resolve_address(const std::string& host, std::uint16_t port,
                                      SocketAddress::Family family = SocketAddress::Family::V4);

/// `host:port`, `10.0.0.1:4000` or `[fd00::1]:4000`, as in MASTER_ADDR or NCCL_COMM_ID.
struct HostPort {
  std::string host;  ///< without brackets
  std::uint16_t port = 0;
};

/// errors  InvalidArgument: no host, no port, a port outside 1 .. 65535
Result<HostPort> parse_host_port(std::string_view text);

/// The name of a Unix socket in the kernel's abstract space: it has no file, needs no cleanup after a crash, and is
/// visible to every process of the network namespace.
struct AbstractName {
  std::string name;  ///< 1 .. 107 bytes
  friend bool operator==(const AbstractName&, const AbstractName&) = default;
};

/// The address on which a process listens: TCP between hosts, an abstract Unix socket within one.
using Endpoint = std::variant<SocketAddress, AbstractName>;

std::string to_string(const Endpoint& endpoint);  ///< `10.0.0.1:4000`, `[fd00::1]:4000`, `@name`

/// Reads what to_string(Endpoint) writes.
/// errors  InvalidArgument: as parse_socket_address; an abstract name that is empty or too long
Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace ringside
