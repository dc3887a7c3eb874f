#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/bench.h"
#include "harness/bench_grid.h"
#include "study/validate/curve.h"

/// Summaries of a benchmark's rows: for its table, its documents, its plot.
namespace ringside::study {

/// The parameters that all rows of a run have in common.
struct BenchJob {
  BenchOptions options;
  int nranks = 1;
  std::string transport;
};

/// Wrong elements, over all rows.
std::int64_t wrong_in(const std::vector<BenchRow>& rows);
std::int64_t wrong_in(const std::vector<GridRow>& rows);

/// The mean bus bandwidth of all timings, in place and not.
/// shape  rows are not empty
BytesPerSecond mean_busbw(const std::vector<BenchRow>& rows);

/// Whether a row ran by an algorithm that hosts only model.
bool is_any_modelled(const std::vector<BenchRow>& rows);

/// Rows whose pick is within 5 % of the best.
std::size_t good_picks(const std::vector<GridRow>& rows);

/// What nccl-tests prints in the redop and root columns: "none" and -1 where there is none.
const char* redop_column(const BenchOptions& bench);
int root_column(const BenchOptions& bench);

/// Out of place and, where it was timed, in place.
std::vector<Curve> curves_of(const std::vector<BenchRow>& rows);

/// One for each algorithm and protocol.
std::vector<Curve> curves_of(const BenchJob& job, const std::vector<GridRow>& rows);

}  // namespace ringside::study
