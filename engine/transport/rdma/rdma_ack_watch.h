#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "engine/transport/rdma/rdma_settings.h"
#include "engine/transport/socket/socket.h"
#include "ringside/units.h"

namespace ringside {

/// Returns how long an adapter with these settings may resend a packet until it gives up: each try takes up to the
/// timeout.
/// source  InfiniBand, volume 1, 9.7.6.1.3: 4.096 us x 2^timeout
inline Nanoseconds rdma_retry_time(const RdmaSettings& settings) {
  constexpr std::int64_t kUnitNs = 4096;
  return Nanoseconds{(settings.retries + 1) * (kUnitNs << settings.timeout)};
}

/// Detects that the peer does not acknowledge writes when the adapter does not report it: some adapters resend for ever
/// if NCCL_IB_RETRY_CNT is 7, the default.
///
/// Threads  one at a time
class RdmaAckWatch {
 public:
  /// longest  time without an acknowledgement after which the peer counts as unreachable
  explicit RdmaAckWatch(Nanoseconds longest) : longest_(longest) {}
  explicit RdmaAckWatch(const RdmaSettings& settings)
      : RdmaAckWatch(std::max<Nanoseconds>(kAnswerTimeout, rdma_retry_time(settings))) {}

  /// Checks the progress of the writes. Call it regularly.
  /// posted, completed  total numbers of writes
  /// returns            the time without an acknowledgement once it reaches `longest`, else nothing
  std::optional<Nanoseconds> look(std::uint64_t posted, std::uint64_t completed, Clock::Time now) {
    const bool has_moved = std::exchange(completed_, completed) != completed;
    if (posted == completed) {
      since_.reset();
      return std::nullopt;
    }
    if (has_moved || !since_) since_ = now;
    const Nanoseconds waited = now - *since_;
    return waited < longest_ ? std::nullopt : std::optional(waited);
  }

 private:
  Nanoseconds longest_;
  std::uint64_t completed_ = 0;
  std::optional<Clock::Time> since_;
};

}  // namespace ringside
