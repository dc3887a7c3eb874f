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

/// How long an adapter that is set so may send a packet again until it gives up: each try takes up to the time-out.
/// source  InfiniBand, volume 1, 9.7.6.1.3: 4.096 us x 2^timeout
inline Nanoseconds rdma_retry_time(const RdmaSettings& settings) {
  constexpr std::int64_t kUnitNs = 4096;
  return Nanoseconds{(settings.retries + 1) * (kUnitNs << settings.timeout)};
}

/// Notices that the peer does not acknowledge writes, where the adapter does not report it: some send again for ever when
/// NCCL_IB_RETRY_CNT is 7, its default.
///
/// Threads  one at a time
class RdmaAckWatch {
 public:
  /// longest  after which a peer is no longer reached
  explicit RdmaAckWatch(Nanoseconds longest) : longest_(longest) {}
  explicit RdmaAckWatch(const RdmaSettings& settings)
      : RdmaAckWatch(std::max<Nanoseconds>(kAnswerTimeout, rdma_retry_time(settings))) {}

  /// To be asked now and then.
  /// posted, completed  writes, ever
  /// returns            how long nothing was acknowledged, once that is too long
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
