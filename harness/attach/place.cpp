#include "harness/attach/place.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <future>
#include <thread>

#include "engine/transport/socket/socket.h"

namespace ringside::attach {
namespace {

Result<UniqueFd> connect_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{}: the path of a Unix socket", path),
                 fmt::format("give 1 to {} bytes", sizeof address.sun_path - 1)};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_error("socket", errno);
  const auto* raw = reinterpret_cast<const sockaddr*>(&address);  // NOLINT: the socket API
  if (::connect(socket.get(), raw, sizeof address) == 0) return socket;
  const int why = errno;
  if (why == ECONNREFUSED || why == ENOENT) {
    return Error{ErrorCode::PeerGone, fmt::format("nothing listens on {}", path)};
  }
  return system_error("cannot connect to " + path, why);
}

}  // namespace

std::string to_string(const Place& place) {
  if (const auto* path = std::get_if<std::string>(&place.where)) return *path;
  const HostPort& host = std::get<HostPort>(place.where);
  const bool is_v6 = host.host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}{}", host.host, host.port, place.path)
               : fmt::format("{}:{}{}", host.host, host.port, place.path);
}

Result<HostPort> parse_host(std::string_view text, std::uint16_t default_port) {
  if (text.starts_with(':')) return parse_host_port(fmt::format("localhost{}", text));
  const bool has_port = text.starts_with('[') ? text.find("]:") != std::string_view::npos
                                              : text.find(':') != std::string_view::npos;
  if (has_port) return parse_host_port(text);
  return parse_host_port(fmt::format("{}:{}", text, default_port));
}

Result<Place> parse_place(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  constexpr std::string_view kHttp = "http://";
  if (text.starts_with(kUnix)) return Place{std::string(text.substr(kUnix.size()))};
  if (text.starts_with('/')) return Place{std::string(text)};
  if (text.starts_with(kHttp)) text.remove_prefix(kHttp.size());
  const std::size_t slash = text.find('/');
  RINGSIDE_TRY(HostPort host, parse_host_port(text.substr(0, slash)));
  std::string path(slash == std::string_view::npos ? std::string_view() : text.substr(slash));
  while (path.ends_with('/')) path.pop_back();
  for (const char letter : path) {
    if (static_cast<unsigned char>(letter) <= ' ' || letter == '\x7f') {
      return Error{ErrorCode::InvalidArgument, fmt::format("'{}': a blank in an address", text)};
    }
  }
  return Place{std::move(host), std::move(path)};
}

Result<SocketAddress> resolve(const HostPort& host, Deadline deadline) {
  const bool is_v6 = host.host.find(':') != std::string::npos;
  const std::string plain = is_v6 ? fmt::format("[{}]:{}", host.host, host.port)
                                  : fmt::format("{}:{}", host.host, host.port);
  if (auto address = parse_socket_address(plain)) return address;
  if (host.host == "localhost") return loopback_address(host.port);
  // getaddrinfo() has no time-out: its thread is left behind when it takes too long.
  std::promise<Result<SocketAddress>> promise;
  std::future<Result<SocketAddress>> future = promise.get_future();
  std::thread([promise = std::move(promise), host]() mutable {
    promise.set_value(resolve_address(host.host, host.port));
  }).detach();
  if (future.wait_until(deadline.at()) != std::future_status::ready) {
    return Error{ErrorCode::Timeout, fmt::format("{}: its address is not known", host.host),
                 fmt::format("check the name with: getent hosts {}", host.host)};
  }
  return future.get();
}

Result<UniqueFd> connect(const Place& place, const Patience& patience) {
  if (const auto* path = std::get_if<std::string>(&place.where)) return connect_path(*path);
  RINGSIDE_TRY(const SocketAddress address,
               resolve(std::get<HostPort>(place.where), patience.deadline()));
  return connect_to(Endpoint{address}, patience, NoListener::IsEnd);
}

}  // namespace ringside::attach
