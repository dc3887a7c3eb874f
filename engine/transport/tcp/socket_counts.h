#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/env.h"
#include "base/result.h"
#include "engine/transport/transport.h"

namespace ringside {

/// Over how many sockets a connection between hosts goes, and how many threads besides the program's own serve them.
struct SocketCounts {
  static constexpr int kMostThreads = 16;
  static constexpr int kMostSockets = 64;

  int threads = 0;     ///< NCCL_SOCKET_NTHREADS; 0: the program's own thread and one socket
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
/// Of such a text; what is none counts as empty.
SocketCounts parse_socket_counts(std::string_view text);

/// Sockets for each thread without a number of threads mean one thread.
/// errors  InvalidArgument: a number that is invalid or out of range; more than kMostSockets together
/// source  NCCL, ncclNetSocketGetNsockNthread; what that finds out by itself on AWS and GCP is not done
Result<SocketCounts> socket_counts_from(const Environment& environment);

/// Of a connection of this shape: the receiver's word counts, as in NCCL. One where slots are short.
SocketCounts socket_counts_of(std::string_view receiver, ConnectionShape shape);

/// What tcp sends to the other ranks: the counts.
/// errors  as socket_counts_from()
Result<std::unique_ptr<TransportState>> open_tcp(const LocalSite& here);

}  // namespace ringside
