#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/runtime/host/host_table.h"
#include "harness/bench.h"

namespace ringside {

/// One size by one algorithm and protocol.
struct GridCell {
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  Seconds time{0};  ///< median of the slowest rank, out of place
  std::int64_t wrong = 0;
  bool is_modelled = false;  ///< as of the choice
};

/// One size by all of them. What was only modelled counts neither as the best nor as a pick.
struct GridRow {
  Bytes bytes;
  std::vector<GridCell> cells;
  std::size_t best = 0;                  ///< index of the fastest
  std::optional<std::size_t> pick = {};  ///< index of what the tuner chooses without settings

  /// Whether the pick takes at most 5 % longer than the best.
  [[nodiscard]] bool is_pick_good() const {
    return pick && cells[*pick].time <= cells[best].time * 1.05;
  }
};

/// Times every algorithm and protocol that do the collective among these ranks, on each of the sizes. Clears
/// the communicator's settings. Every rank calls it with the same options, and gets the same rows.
/// shape   on_row is called on every rank after each size
/// errors  as run_bench()
Result<std::vector<GridRow>> run_bench_grid(runtime::Communicator& communicator,
                                            const BenchOptions& options,
                                            const std::function<void(const GridRow&)>& on_row);

/// The rows' best as rules; where a row's best is less than 3 % ahead of what the row before took, that goes
/// on. The last rule has no limit.
std::vector<HostRule> rules_of(const std::vector<GridRow>& rows, const HostRule& kind);

}  // namespace ringside
