#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/transport/socket/patience.h"
#include "harness/attach/place.h"
#include "ringside/units.h"

namespace ringside::attach {

/// What a RAS service answered to STATUS.
struct RasAnswer {
  std::string text;
  bool is_json = false;
  int protocol = 0;  ///< version that the service speaks
};

/// Asks a RAS service: NCCL's since 2.24, or the one of our own ranks. Each question is a connection of its own, one at a
/// time. Nothing that is asked changes the job.
///
/// A service that shares its port among processes, one of which is stopped, may not answer; the client then connects again.
///
/// source  docs/formats 7.1
class RasClient {
 public:
  struct Limits {
    Nanoseconds greeting =
        std::chrono::milliseconds(1000);  ///< for CLIENT PROTOCOL, which no process has to look up
    int attempts = 6;                     ///< connections that may go without a greeting
    Seconds leg{2};                       ///< TIMEOUT: how long the service waits for its processes
    std::size_t report = std::size_t{64} << 20;
    std::size_t events = std::size_t{1} << 20;
  };

  explicit RasClient(Place place) : place_(std::move(place)) {}
  RasClient(Place place, Limits limits) : place_(std::move(place)), limits_(limits) {}

  /// VERBOSE STATUS, as JSON where the service has it.
  /// errors  PeerGone: nothing listens.  Timeout.  Corrupt: the peer is no RAS service
  Result<RasAnswer> status(const Patience& patience) const;

  /// DIAGNOSTICS (2.31 and later): every process checks its GPU, driver, links and NCCL variables.
  /// errors  as status(); Unsupported: an older service; System: another client's diagnostics run
  Result<std::string> diagnostics(const Patience& patience) const;

  /// MONITOR (2.29 and later): the events of the next `wait`, a line each.
  /// errors  as status(); Unsupported: an older service
  Result<std::string> monitor(Nanoseconds wait, const Patience& patience) const;

  [[nodiscard]] const Place& place() const { return place_; }

 private:
  Place place_;
  Limits limits_ = {};
};

/// The same questions on a connection that exists: what a test or a fuzzer drives. The greeting is part of each.
Result<RasAnswer> ask_status_on(int socket, const RasClient::Limits& limits,
                                const Patience& patience);
Result<std::string> ask_diagnostics_on(int socket, const RasClient::Limits& limits,
                                       const Patience& patience);
Result<std::string> ask_monitor_on(int socket, const RasClient::Limits& limits, Nanoseconds wait,
                                   const Patience& patience);

}  // namespace ringside::attach
