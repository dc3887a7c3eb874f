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

}  // namespace ringside::hang
