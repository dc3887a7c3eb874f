#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/transport/socket/patience.h"
#include "harness/attach/place.h"
#include "ringside/units.h"

namespace ringside::attach {

/// The answer of a RAS service to STATUS.
struct RasAnswer {
  std::string text;
  bool is_json = false;
  int protocol = 0;  ///< protocol version of the service
};

/// Queries a RAS service: NCCL's since 2.24, or that of ringside's own ranks. Each query uses a separate connection,
/// one at a time. No query changes the job.
///
/// If several processes share the service's port and one of them is stopped, a connection may get no answer. The client
/// then connects again.
///
/// source  docs/formats 7.1
class RasClient {
 public:
  struct Limits {
    /// For the answer to CLIENT PROTOCOL, which the service gives without contacting other processes.
    Nanoseconds greeting = std::chrono::milliseconds(1000);
    int attempts = 6;  ///< connections that get no answer, before the query fails
    Seconds service_wait{
        2};  ///< TIMEOUT: how long the service waits for its processes; whole seconds, at least 1
    std::size_t report = std::size_t{64} << 20;  ///< maximum bytes of a report
    std::size_t events = std::size_t{1} << 20;   ///< maximum bytes of MONITOR's events
  };

  explicit RasClient(Place place) : place_(std::move(place)) {}
  RasClient(Place place, Limits limits) : place_(std::move(place)), limits_(limits) {}

  /// Sends VERBOSE STATUS, and requests JSON if the service supports it.
  /// errors  PeerGone: nothing listens.  Timeout.  Corrupt: the peer is not a RAS service
  Result<RasAnswer> status(const Patience& patience) const;

  /// Sends DIAGNOSTICS (2.31 and later): every process checks its GPU, driver, links and NCCL variables.
  /// errors  as status(); Unsupported: an older service; System: another client's diagnostics run
  Result<std::string> diagnostics(const Patience& patience) const;

  /// Sends MONITOR (2.29 and later). Returns the events of the next `wait`, one on each line; empty if there are none.
  /// errors  as status(), also if the service closes before an event; Unsupported: an older service
  Result<std::string> monitor(Nanoseconds wait, const Patience& patience) const;

  [[nodiscard]] const Place& place() const { return place_; }

 private:
  Place place_;
  Limits limits_ = {};
};

/// Send the same queries on an open connection, with the greeting. For tests and fuzzers.
Result<RasAnswer> ask_status_on(int socket, const RasClient::Limits& limits,
                                const Patience& patience);
Result<std::string> ask_diagnostics_on(int socket, const RasClient::Limits& limits,
                                       const Patience& patience);
Result<std::string> ask_monitor_on(int socket, const RasClient::Limits& limits, Nanoseconds wait,
                                   const Patience& patience);

}  // namespace ringside::attach
