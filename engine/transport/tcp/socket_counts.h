#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/env.h"
#include "base/result.h"
#include "engine/transport/transport.h"

namespace ringside {

/// The number of sockets of a connection between hosts, and of additional threads that serve them.
struct SocketCounts {
  static constexpr int kMostThreads = 16;
  static constexpr int kMostSockets = 64;

  int threads = 0;     ///< NCCL_SOCKET_NTHREADS; 0: one socket, served by the program's own thread
  int per_thread = 1;  ///< NCCL_NSOCKS_PERTHREAD

  [[nodiscard]] bool is_striped() const { return threads > 0; }
  [[nodiscard]] std::size_t sockets() const {
    return is_striped() ? static_cast<std::size_t>(threads) * static_cast<std::size_t>(per_thread)
                        : 1;
  }
  friend bool operator==(const SocketCounts&, const SocketCounts&) = default;
};

/// "2x4": two threads with four sockets each; empty: one socket, no thread.
std::string to_string(SocketCounts counts);
/// Reads what to_string() writes. An invalid text counts as empty.
SocketCounts parse_socket_counts(std::string_view text);

/// Reads NCCL_SOCKET_NTHREADS and NCCL_NSOCKS_PERTHREAD. If only the latter is set, there is one thread.
/// errors  InvalidArgument: a number that is invalid or out of range; more than kMostSockets together
/// source  NCCL, ncclNetSocketGetNsockNthread; its automatic values on AWS and GCP are not implemented
Result<SocketCounts> socket_counts_from(const Environment& environment);

/// Returns the counts for a connection of this shape. As in NCCL, the receiver's counts (`receiver`, its address)
/// apply. Connections with short slots have one socket.
SocketCounts socket_counts_of(std::string_view receiver, ConnectionShape shape);

/// Opens the state whose address() sends the counts to the other ranks.
/// errors  as socket_counts_from()
Result<std::unique_ptr<TransportState>> open_tcp(const LocalSite& here);

}  // namespace ringside
