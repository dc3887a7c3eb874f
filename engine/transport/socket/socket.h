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

/// Functions on stream sockets that never block longer than the caller's Patience.
///
/// Every socket made here is non-blocking and close-on-exec, TCP ones send without delay, and none
/// raises SIGPIPE. A cancelled wait returns Aborted. If another thread calls shutdown(2) on the socket, the wait
/// returns PeerGone.
namespace ringside {

/// Listens with the kernel's longest queue. With port 0 the kernel chooses a port: see local_endpoint().
/// errors  System: the port is busy, or the address is not this host's or not allowed. The text names the address, and
///         the help what to do
Result<UniqueFd> listen_tcp(const SocketAddress& address);

/// Listens on a port that several processes of one user share (SO_REUSEPORT): the kernel gives each connection to one
/// of them. All of them must listen by this function.
/// errors  as listen_tcp()
Result<UniqueFd> listen_shared(const SocketAddress& address);

/// Takes a port without listening on it: a client is refused, and may try again. listen_tcp() on it works
/// once this one is closed.
/// errors  as listen_tcp()
Result<UniqueFd> take_port(const SocketAddress& address);

/// Listens on an abstract Unix name.
/// errors  System: another process listens on the name
Result<UniqueFd> listen_unix(const AbstractName& name);

/// Listens on an endpoint of either kind.
/// errors  as listen_tcp() and listen_unix()
Result<UniqueFd> listen_on(const Endpoint& endpoint);

/// How to interpret that no process listens at an address.
enum class NoListener {
  IsEarly,  ///< a process will listen: try again
  IsEnd,    ///< the process that listened has ended: fail
};

/// The largest TCP segments of a connection, in both directions.
enum class Segments {
  Long,   ///< the largest that the path allows
  Short,  ///< 536 bytes, which also pass if MTUs differ; used to report that problem
};

/// Connects. With IsEarly it tries again while no process listens there yet.
/// errors  Timeout: no process listened before the deadline; the text contains the last reason. PeerGone: no process
///         listens any more.  System: the network cannot reach the address at all.
Result<UniqueFd> connect_to(const Endpoint& endpoint, const Patience& patience,
                            NoListener no_listener = NoListener::IsEarly,
                            Segments segments = Segments::Long);

/// Connects to an address, as connect_to().
/// errors  Timeout, System: as connect_to()
Result<UniqueFd> connect_tcp(const SocketAddress& address, const Patience& patience);
Result<UniqueFd> connect_unix(const AbstractName& name, const Patience& patience);

/// Takes a connection from the listener's queue. Returns an empty UniqueFd if the queue is empty. Never blocks.
/// errors  System: out of file descriptors, or the listener is broken
Result<UniqueFd> accept_one(int listener);

/// Returns the socket's own address, with the port that the kernel chose.
/// errors  System
Result<Endpoint> local_endpoint(int socket);

/// Describes the peer for messages.
/// returns  "10.0.0.1:4000", or "process 4711 of user 1000" for a Unix socket, or "a closed connection"
std::string describe_peer(int socket);

/// A peer that has not answered for this long is unreachable.
inline constexpr std::chrono::milliseconds kAnswerTimeout{8000};

/// Whether the other end reads arriving data at once (Prompt), or only when its program gets to it (Late).
enum class Attention { Prompt, Late };

/// Makes the kernel detect within about 8 s that the other host is off or unreachable, even if no data is sent. With
/// Prompt, it also detects that sent data is not acknowledged. Has no effect on Unix sockets, whose ends share a
/// kernel.
void enable_keepalive(int socket, Attention attention);

/// Returns the help text for errors about a host that does not answer.
const char* help_for_no_answer();

/// Checks that the connection is open, as far as this host's kernel knows.
/// errors  PeerGone: the other end closed or died; Unreachable: keepalives got no answer, as send_some(); System
Status check_open(int socket);

/// Sends all of `data`.
/// errors  Timeout, Aborted; PeerGone: closed or reset; System
Status send_all(int socket, std::span<const std::byte> data, const Patience& patience);

/// Receives until all of `data` is filled.
/// errors  Timeout, Aborted; PeerGone: closed or reset before the last byte; System
Status recv_all(int socket, std::span<std::byte> data, const Patience& patience);

/// Sends or receives as much as possible without waiting.
/// returns  number of bytes; 0: the call would have to wait
/// errors  PeerGone: closed or reset (recv_some: after all earlier data has been read); System.  Unreachable: the peer
///         does not answer, or did not answer before a reset, which therefore does not prove its death
Result<std::size_t> send_some(int socket, std::span<const std::byte> data);
Result<std::size_t> recv_some(int socket, std::span<std::byte> data);
/// The most pieces that one call of send_some() or recv_some() handles.
inline constexpr std::size_t kMostPieces = 16;
/// Sends or receives several pieces in order, in one call.
/// shape  at most kMostPieces
Result<std::size_t> send_some(int socket, std::span<const std::span<const std::byte>> pieces);
Result<std::size_t> recv_some(int socket, std::span<const std::span<std::byte>> pieces);

/// Returns whether a good part of the kernel's send buffer is free. send_some() also works with less room, but then
/// sends many short pieces.
bool is_writable(int socket);

/// Returns whether a read would return at once: data has arrived, or the other end has closed.
bool is_readable(int fd);

/// Sends one frame: four bytes of length, little-endian, then the payload.
/// errors  as send_all
Status send_frame(int socket, std::span<const std::byte> payload, const Patience& patience);

/// Receives one frame, and returns its payload.
/// errors  as recv_all; Corrupt: the payload is longer than `limit` bytes
Result<std::vector<std::byte>> recv_frame(int socket, std::size_t limit, const Patience& patience);

}  // namespace ringside
