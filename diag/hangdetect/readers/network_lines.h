#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "diag/logparse/record.h"

namespace ringside::hang {

/// A line of NCCL's network code that tells of a transfer or a port that failed.
struct NetworkFailure {
  /// `node-a, adapter mlx5_2: completion 12 (transport retries exhausted) from peer 10.1.0.2`
  std::string text;
  std::int64_t status = 0;  ///< of a completion; 0: of a port or device
  bool is_consequence =
      false;  ///< the queue had failed before, or a port went down: a job can live on
};

/// returns  nothing for a line that is none: other messages, and events of a port that came up
/// source   docs/formats 4.2
std::optional<NetworkFailure> network_failure(const logs::Record& record, std::string_view host);

/// What LogStatement::NetworkError keeps as its code, beside 0 of a failure that may be the first: a port went down, or a
/// queue was flushed that had failed before.
inline constexpr std::int64_t kPortEvent = 1;
inline constexpr std::int64_t kFlushed = 5;
std::int64_t network_code(const NetworkFailure& failure);

/// What to do first about it, by the status in NetworkFailure::text.
std::string_view network_step(std::string_view text);

}  // namespace ringside::hang
