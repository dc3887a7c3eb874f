#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/socket/address.h"
#include "engine/transport/socket/patience.h"

namespace ringside::attach {

/// Where a process of the job answers: a TCP port, or the path of a Unix socket. `path` is what every HTTP request to it
/// begins with.
struct Place {
  std::variant<HostPort, std::string> where;
  std::string path = {};
};

std::string to_string(const Place& place);

/// Reads `HOST`, `HOST:PORT`, `[fd00::1]:PORT` or `:PORT`.
/// errors  InvalidArgument
Result<HostPort> parse_host(std::string_view text, std::uint16_t default_port);

/// Reads `http://HOST:PORT[/path]`, `HOST:PORT`, `unix:PATH` or `/PATH`.
/// errors  InvalidArgument
Result<Place> parse_place(std::string_view text);

/// The host's address. The lookup ends by the deadline, whatever the name server does.
/// errors  System: the name is unknown.  Timeout
Result<SocketAddress> resolve(const HostPort& host, Deadline deadline);

/// errors  PeerGone: nothing listens there.  Timeout; System
Result<UniqueFd> connect(const Place& place, const Patience& patience);

}  // namespace ringside::attach
