#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/socket/address.h"
#include "engine/transport/socket/patience.h"

namespace ringside::attach {

/// The address of a process of the job: a TCP port, or a Unix socket.
struct Place {
  std::variant<HostPort, std::string> where;  ///< text: the path of the Unix socket
  std::string path = {};                      ///< prefix of every HTTP request to it
};

/// Returns the place for messages: `n01:8080/path`, or the path of the socket.
std::string to_string(const Place& place);

/// Reads `HOST`, `HOST:PORT`, `[fd00::1]:PORT` or `:PORT`.
/// errors  InvalidArgument
Result<HostPort> parse_host(std::string_view text, std::uint16_t default_port);

/// Reads `http://HOST:PORT[/path]`, `HOST:PORT`, `unix:PATH` or `/PATH`.
/// errors  InvalidArgument
Result<Place> parse_place(std::string_view text);

/// Returns the host's address. The lookup ends at the deadline even if the name server does not answer.
/// errors  System: the name is unknown.  Timeout
Result<SocketAddress> resolve(const HostPort& host, Deadline deadline);

/// Connects to a place.
/// errors  as resolve(); PeerGone: nothing listens there.  InvalidArgument: the path of a Unix socket is too long
Result<UniqueFd> connect(const Place& place, const Patience& patience);

}  // namespace ringside::attach
