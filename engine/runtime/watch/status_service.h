#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/deadline.h"
#include "base/env.h"
#include "base/result.h"
#include "engine/transport/socket/address.h"

namespace ringside {

class Bootstrap;
class FlightRecorder;

/// Answers what NCCL's RAS service answers, outside the data path: on a port of this host's loopback, in lines of text
/// (`STATUS`, `VERBOSE STATUS`, `SET FORMAT json`, `TIMEOUT 5`, `CLIENT PROTOCOL 2`), of all ranks of the job. Every rank
/// sends its own counts to a peer that proves the job's secret; the first process of a host that gets the port serves the
/// clients, the others serve none.
///
/// A client that is silent, or slow, is disconnected after a while; clients are served one after the other.
///
/// Ownership  the recorder outlives it
class StatusService {
 public:
  /// Every rank calls it at the same time.
  struct Options {
    std::uint16_t port = 28028;  ///< of loopback, NCCL's; 0: a free one
    Nanoseconds client_patience = std::chrono::seconds(5);
  };
  /// errors   as Bootstrap::all_gather(); System: no sockets
  static Result<std::unique_ptr<StatusService>> start(Bootstrap& bootstrap,
                                                      const FlightRecorder& recorder,
                                                      const Options& options, Deadline deadline);
  ~StatusService();
  StatusService(const StatusService&) = delete;
  StatusService& operator=(const StatusService&) = delete;

  /// Where clients connect; nothing where another process serves them.
  [[nodiscard]] std::optional<SocketAddress> address() const;

 private:
  class Impl;
  explicit StatusService(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The port that NCCL_RAS_ADDR names, unless NCCL_RAS_ENABLE=0; unlike NCCL's, the service is off where neither
/// is set.
/// errors  InvalidArgument: not host:port
Result<std::optional<std::uint16_t>> status_port(const Environment& environment = env_text);

/// Asks a service, as a client does.
/// errors  PeerGone, Timeout: no service answers there
Result<std::string> ask_status(const SocketAddress& address, bool is_json, Deadline deadline);

}  // namespace ringside
