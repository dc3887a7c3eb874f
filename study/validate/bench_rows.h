#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/bench.h"
#include "harness/bench_grid.h"
#include "study/validate/curve.h"

/// Summarises a benchmark's rows for its table, its documents and its plot.
namespace ringside::study {

/// The parameters that all rows of a run share.
struct BenchJob {
  BenchOptions options;
  int nranks = 1;
  std::string transport;
};

/// Both return the number of wrong elements over all rows.
std::int64_t wrong_in(const std::vector<BenchRow>& rows);
std::int64_t wrong_in(const std::vector<GridRow>& rows);

/// Returns the mean bus bandwidth of all timings, in place and out of place.
/// shape  rows are not empty
BytesPerSecond mean_busbw(const std::vector<BenchRow>& rows);

/// Returns true if a row used an algorithm that hosts only simulate.
bool is_any_modelled(const std::vector<BenchRow>& rows);

/// Returns the number of rows whose choice is within 5 % of the best.
std::size_t good_picks(const std::vector<GridRow>& rows);

/// Both return the text or number that nccl-tests prints in its redop and root columns; "none" and
/// -1 if not applicable.
const char* redop_column(const BenchOptions& bench);
int root_column(const BenchOptions& bench);

/// Returns the out-of-place curve and, if it was timed, the in-place curve.
std::vector<Curve> curves_of(const std::vector<BenchRow>& rows);

/// Returns one curve for each algorithm and protocol.
std::vector<Curve> curves_of(const BenchJob& job, const std::vector<GridRow>& rows);

}  // namespace ringside::study
