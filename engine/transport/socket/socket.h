#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/socket/address.h"
#include "engine/transport/socket/patience.h"

/// Stream sockets that never block beyond the caller's patience.
///
/// Every socket made here is non-blocking and close-on-exec, TCP ones send without delay, and none
/// raises SIGPIPE. A wait that is called off returns Aborted; one whose socket another thread shuts
/// down (shutdown(2)), PeerGone.
namespace ringside {

/// Listens with the kernel's longest queue; port 0 takes a free one, see local_endpoint().
/// errors  System: the port is busy, the address is not this host's, or not allowed; the text names the
///         address, the help says what to do
Result<UniqueFd> listen_tcp(const SocketAddress& address);

/// The same on a port that several processes of one user share (SO_REUSEPORT): the kernel gives each connection to one of
/// them. Each has to open it so.
Result<UniqueFd> listen_shared(const SocketAddress& address);

/// Takes a port without listening on it: a client is refused, and may try again. listen_tcp() on it works
/// once this one is closed.
/// errors  as listen_tcp()
Result<UniqueFd> take_port(const SocketAddress& address);

/// errors  System: the name is taken
Result<UniqueFd> listen_unix(const AbstractName& name);

/// listen_tcp or listen_unix.
Result<UniqueFd> listen_on(const Endpoint& endpoint);

/// What it means that no process listens at an address.
enum class NoListener {
  IsEarly,  ///< one will: try again
  IsEnd,    ///< one did, and is gone
};

/// What the packets of a connection over IP may hold, both ways.
enum class Segments {
  Long,   ///< what the interfaces on the way take
  Short,  ///< 536 bytes, which pass where an MTU differs: for news of just that
};

/// Connects, and tries again while no process listens there yet.
/// errors  Timeout: no process listened before the deadline; the text has the last reason.
///         PeerGone: no process listens any more.  System: the network cannot reach the address at all.
Result<UniqueFd> connect_to(const Endpoint& endpoint, const Patience& patience,
                            NoListener no_listener = NoListener::IsEarly,
                            Segments segments = Segments::Long);

/// errors  Timeout, System: as connect_to
Result<UniqueFd> connect_tcp(const SocketAddress& address, const Patience& patience);
Result<UniqueFd> connect_unix(const AbstractName& name, const Patience& patience);

/// A connection that waits in the listener's queue, or an empty UniqueFd when none does. Never blocks.
/// errors  System: out of file descriptors, or the listener is broken
Result<UniqueFd> accept_one(int listener);

/// What the socket is bound to, with the port that the kernel chose.
/// errors  System
Result<Endpoint> local_endpoint(int socket);

/// returns  "10.0.0.1:4000", or "process 4711 of user 1000" on a Unix socket, or "a closed connection"
std::string describe_peer(int socket);

/// After so long without an answer a peer is no longer reached.
inline constexpr std::chrono::milliseconds kAnswerTimeout{8000};

/// Whether the other end always reads what comes, or when it gets to it.
enum class Attention { Prompt, Late };

/// Notices within about 8 s that the other host is off or unreachable, though nothing is being sent; and of a prompt
/// reader, that what was sent stays unanswered. Does nothing on Unix sockets, whose kernel is their own.
void enable_keepalive(int socket, Attention attention);

/// What to do about a host from which nothing comes back.
const char* help_for_no_answer();

/// Whether the connection is open, as far as this host's kernel knows.
/// errors  PeerGone: the other end closed or died; Unreachable: keepalives got no answer, as send_some(); System
Status check_open(int socket);

/// Sends all of `data`.
/// errors  Timeout, Aborted; PeerGone: closed or reset; System
Status send_all(int socket, std::span<const std::byte> data, const Patience& patience);

/// Fills all of `data`.
/// errors  Timeout, Aborted; PeerGone: closed or reset before the last byte; System
Status recv_all(int socket, std::span<std::byte> data, const Patience& patience);

/// What could be sent or received at once; 0 when that would wait. Never blocks.
/// errors  PeerGone: closed or reset (for recv_some: and everything before it has been read); System
///         Unreachable: nothing comes back, or nothing did when it was reset, which then does not prove a death
Result<std::size_t> send_some(int socket, std::span<const std::byte> data);
Result<std::size_t> recv_some(int socket, std::span<std::byte> data);
/// The same of several pieces, one after the other, in one call.  shape  at most kMostPieces
inline constexpr std::size_t kMostPieces = 16;
Result<std::size_t> send_some(int socket, std::span<const std::span<const std::byte>> pieces);
Result<std::size_t> recv_some(int socket, std::span<const std::span<std::byte>> pieces);

/// Whether the kernel has room for a good part of its buffer's length: send_some() takes less, too, but
/// then many short pieces travel.
bool is_writable(int socket);

/// Whether there is something to read, or the other end has gone.
bool is_readable(int fd);

/// Sends one frame: four bytes of length, little-endian, then the payload.
/// errors  as send_all
Status send_frame(int socket, std::span<const std::byte> payload, const Patience& patience);

/// One frame's payload.
/// errors  as recv_all; Corrupt: longer than `limit`
Result<std::vector<std::byte>> recv_frame(int socket, std::size_t limit, const Patience& patience);

}  // namespace ringside
