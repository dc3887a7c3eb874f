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

/// Answers what NCCL's RAS service answers, next to the data path: on a port of this host's loopback, in lines of text
/// (`STATUS`, `VERBOSE STATUS`, `MONITOR`, `DIAGNOSTICS`, `SET FORMAT json`, `TIMEOUT 5`, `CLIENT PROTOCOL 2`), of all ranks
/// of the job. The processes of a host share the port: while one of them runs, it answers for all.
///
/// The port also serves the flight recorder's dump of each rank as PyTorch's control plane does: an HTTP request for
/// `/rank/R/handler/fr_trace_json`. STATUS as JSON gives that address for each rank (`control_plane`).
///
/// A client that is silent, or slow, is disconnected after a while. At most 8 clients are served at once; others wait.
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

  /// Where clients ask; nothing where another job has the port.
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

}  // namespace ringside
