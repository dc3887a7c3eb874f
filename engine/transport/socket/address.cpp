#include "engine/transport/socket/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "engine/transport/socket/raw_address.h"

namespace ringside {
namespace {

constexpr std::size_t kLongestAbstractName = sizeof(sockaddr_un::sun_path) - 1;

Error bad_address(std::string_view text, std::string_view why) {
  return {ErrorCode::InvalidArgument, fmt::format("'{}' is not an address: {}", text, why),
          "write 10.0.0.1:4000 or [fd00::1]:4000"};
}

Result<std::uint16_t> parse_port(std::string_view whole, std::string_view text) {
  const Result<std::int64_t> port = parse_int(text);
  if (!port || *port < 0 || *port > 65535) {
    return bad_address(whole, fmt::format("the port '{}' is not a number from 0 to 65535", text));
  }
  return static_cast<std::uint16_t>(*port);
}

struct Split {
  std::string_view host;
  std::string_view port;
  bool has_brackets = false;
};

Result<Split> split_host_port(std::string_view text) {
  if (!text.empty() && text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return bad_address(text, "'[' without ']'");
    if (end + 1 >= text.size() || text[end + 1] != ':') {
      return bad_address(text, "no ':port' after ']'");
    }
    return Split{text.substr(1, end - 1), text.substr(end + 2), true};
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad_address(text, "no ':port'");
  if (text.substr(0, colon).find(':') != std::string_view::npos) {
    return bad_address(text, "an IPv6 address needs brackets");
  }
  return Split{text.substr(0, colon), text.substr(colon + 1), false};
}

}  // namespace

RawAddress to_raw(const Endpoint& endpoint) {
  RawAddress raw;
  if (const auto* unix_name = std::get_if<AbstractName>(&endpoint)) {
    RINGSIDE_ASSERT(!unix_name->name.empty() && unix_name->name.size() <= kLongestAbstractName,
                    "abstract name of {} bytes", unix_name->name.size());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;  // sun_path[0] stays 0, which makes the name abstract
    std::memcpy(&address.sun_path[1], unix_name->name.data(), unix_name->name.size());
    raw.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + unix_name->name.size());
    std::memcpy(&raw.storage, &address, raw.size);
    return raw;
  }
  const auto& tcp = std::get<SocketAddress>(endpoint);
  if (tcp.family == SocketAddress::Family::V4) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(tcp.port);
    std::memcpy(&address.sin_addr, tcp.ip.data(), sizeof address.sin_addr);
    raw.size = sizeof address;
    std::memcpy(&raw.storage, &address, sizeof address);
  } else {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(tcp.port);
    std::memcpy(&address.sin6_addr, tcp.ip.data(), sizeof address.sin6_addr);
    raw.size = sizeof address;
    std::memcpy(&raw.storage, &address, sizeof address);
  }
  return raw;
}

std::optional<SocketAddress> from_raw(const sockaddr* address) {
  if (address == nullptr) return std::nullopt;
  SocketAddress result;
  if (address->sa_family == AF_INET) {
    sockaddr_in raw{};
    std::memcpy(&raw, address, sizeof raw);
    std::memcpy(result.ip.data(), &raw.sin_addr, sizeof raw.sin_addr);
    result.port = ntohs(raw.sin_port);
    return result;
  }
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 raw{};
    std::memcpy(&raw, address, sizeof raw);
    result.family = SocketAddress::Family::V6;
    std::memcpy(result.ip.data(), &raw.sin6_addr, sizeof raw.sin6_addr);
    result.port = ntohs(raw.sin6_port);
    return result;
  }
  return std::nullopt;
}

SocketAddress loopback_address(std::uint16_t port) {
  SocketAddress address;
  address.ip = {127, 0, 0, 1};
  address.port = port;
  return address;
}

bool is_loopback(const SocketAddress& address) {
  if (address.family == SocketAddress::Family::V4) return address.ip[0] == 127;
  return std::all_of(address.ip.begin(), address.ip.end() - 1,
                     [](auto byte) { return byte == 0; }) &&
         address.ip.back() == 1;
}

SocketAddress with_port(SocketAddress address, std::uint16_t port) {
  address.port = port;
  return address;
}

std::string to_string(const SocketAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.family == SocketAddress::Family::V4) {
    ::inet_ntop(AF_INET, address.ip.data(), text, sizeof text);
    return fmt::format("{}:{}", text, address.port);
  }
  ::inet_ntop(AF_INET6, address.ip.data(), text, sizeof text);
  return fmt::format("[{}]:{}", text, address.port);
}

Result<SocketAddress> parse_socket_address(std::string_view text) {
  RINGSIDE_TRY(const Split split, split_host_port(text));
  SocketAddress address;
  RINGSIDE_TRY(address.port, parse_port(text, split.port));
  const std::string host(split.host);
  address.family = split.has_brackets ? SocketAddress::Family::V6 : SocketAddress::Family::V4;
  if (host.find('%') != std::string::npos) {
    return bad_address(text, "a zone ('%') means nothing on another host");
  }
  if (::inet_pton(split.has_brackets ? AF_INET6 : AF_INET, host.c_str(), address.ip.data()) != 1 ||
      host.size() != std::strlen(host.c_str())) {
    return bad_address(
        text, fmt::format("'{}' is not an {} address", host, split.has_brackets ? "IPv6" : "IPv4"));
  }
  return address;
}

Result<SocketAddress> resolve_address(const std::string& host, std::uint16_t port,
                                      SocketAddress::Family family) {
  if (host.empty() || host.size() != std::strlen(host.c_str())) {
    return Error{ErrorCode::InvalidArgument, fmt::format("'{}' is not the name of a host", host)};
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (status != 0) {
    return Error{ErrorCode::System,
                 fmt::format("cannot resolve host '{}': {}", host, ::gai_strerror(status)),
                 fmt::format("check the name with: getent hosts {}", host)};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  std::optional<SocketAddress> second_best;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    const std::optional<SocketAddress> address = from_raw(entry->ai_addr);
    if (!address) continue;
    if (address->family == family) return with_port(*address, port);
    if (!second_best) second_best = address;
  }
  if (!second_best) {
    return Error{ErrorCode::System, fmt::format("host '{}' has no IPv4 or IPv6 address", host)};
  }
  return with_port(*second_best, port);
}

Result<HostPort> parse_host_port(std::string_view text) {
  RINGSIDE_TRY(const Split split, split_host_port(text));
  RINGSIDE_TRY(const std::uint16_t port, parse_port(text, split.port));
  if (split.host.empty()) return bad_address(text, "no host before the port");
  if (port == 0) return bad_address(text, "port 0 cannot be connected to");
  return HostPort{std::string(split.host), port};
}

std::string to_string(const Endpoint& endpoint) {
  if (const auto* name = std::get_if<AbstractName>(&endpoint)) return "@" + name->name;
  return to_string(std::get<SocketAddress>(endpoint));
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  if (text.empty() || text.front() != '@') {
    RINGSIDE_TRY(const SocketAddress address, parse_socket_address(text));
    return Endpoint{address};
  }
  const std::string_view name = text.substr(1);
  if (name.empty() || name.size() > kLongestAbstractName) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is not the name of a Unix socket", text),
                 fmt::format("'@' and 1 to {} bytes", kLongestAbstractName)};
  }
  return Endpoint{AbstractName{std::string(name)}};
}

}  // namespace ringside
