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

/// Serves the status of all ranks as NCCL's RAS service does, outside the data path. It listens on a loopback port for
/// lines of text (`STATUS`, `VERBOSE STATUS`, `SET FORMAT json`, `TIMEOUT 5`, `CLIENT PROTOCOL 2`). Every rank sends
/// its own counts to a peer that proves the job's secret. The first process of a host that binds the port serves the
/// clients; the other processes serve none.
///
/// Clients are served one after the other; a silent or slow client is disconnected after Options::client_patience.
///
/// Ownership  the recorder outlives it
class StatusService {
 public:
  struct Options {
    std::uint16_t port = 28028;  ///< loopback port, as NCCL's; 0: the kernel chooses
    Nanoseconds client_patience = std::chrono::seconds(5);
  };
  /// Starts the service. Every rank calls it at the same time.
  /// errors   as Bootstrap::all_gather(); System: no sockets
  static Result<std::unique_ptr<StatusService>> start(Bootstrap& bootstrap,
                                                      const FlightRecorder& recorder,
                                                      const Options& options, Deadline deadline);
  ~StatusService();
  StatusService(const StatusService&) = delete;
  StatusService& operator=(const StatusService&) = delete;

  /// Returns the address for clients, or nothing if another process of this host serves them.
  [[nodiscard]] std::optional<SocketAddress> address() const;

 private:
  class Impl;
  explicit StatusService(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Returns the port of NCCL_RAS_ADDR, or nothing if NCCL_RAS_ENABLE=0. Unlike NCCL's, the service is off if neither is
/// set.
/// errors  InvalidArgument: not host:port
Result<std::optional<std::uint16_t>> status_port(const Environment& environment = env_text);

}  // namespace ringside
