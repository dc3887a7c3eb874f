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
/// lines of text (`STATUS`, `VERBOSE STATUS`, `DIAGNOSTICS`, `MONITOR`, `SET FORMAT json`, `TIMEOUT 5`,
/// `CLIENT PROTOCOL 2`), and for HTTP requests of PyTorch's control plane (`GET /rank/3/handler/fr_trace_json`). Every
/// rank sends its own counts to a peer that proves the job's secret. All processes of the job on a host listen on the
/// same port; the kernel passes each client to one of them.
///
/// A process serves up to 8 clients at once, each on its own thread. A client that sends no request or reads no answer
/// is disconnected after Options::client_patience.
///
/// Threads    any
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

  /// Returns the address for clients, or nothing if this process could not listen: another job uses the port.
  [[nodiscard]] std::optional<SocketAddress> address() const;

 private:
  class Impl;
  explicit StatusService(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Returns the port of NCCL_RAS_ADDR, or nothing if it is not set or NCCL_RAS_ENABLE=0. NCCL's service, in contrast, is
/// on by default. Of the address only the port is used.
/// errors  InvalidArgument: not host:port, or NCCL_RAS_ENABLE is neither 0 nor 1
Result<std::optional<std::uint16_t>> status_port(const Environment& environment = env_text);

}  // namespace ringside
