#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/runtime/host/host_table.h"
#include "harness/bench.h"

namespace ringside {

/// The time of one size with one algorithm and protocol.
struct GridCell {
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  Seconds time{0};  ///< median of the slowest rank, out of place
  std::int64_t wrong = 0;
  bool is_modelled = false;  ///< as Choice::is_modelled
};

/// The times of one size with all algorithms and protocols. `best` and `pick` ignore combinations
/// that were only modelled.
struct GridRow {
  Bytes bytes;
  std::vector<GridCell> cells;
  std::size_t best = 0;                  ///< index of the fastest
  std::optional<std::size_t> pick = {};  ///< index of the tuner's choice without settings

  /// Returns true if the pick takes at most 5 % longer than the best.
  [[nodiscard]] bool is_pick_good() const {
    return pick && cells[*pick].time <= cells[best].time * 1.05;
  }
};

/// Times every algorithm and protocol that support the collective on these ranks, for each size.
/// Clears the communicator's settings. Every rank must call it with the same options and gets the
/// same rows.
/// on_row  called on every rank after each size
/// errors  as run_bench()
Result<std::vector<GridRow>> run_bench_grid(runtime::Communicator& communicator,
                                            const BenchOptions& options,
                                            const std::function<void(const GridRow&)>& on_row);

/// Converts the best combinations to tuning rules. A row keeps the previous row's combination if
/// its own best is less than 3 % faster. The last rule has no size limit.
std::vector<HostRule> rules_of(const std::vector<GridRow>& rows, const HostRule& kind);

}  // namespace ringside
