#pragma once

#include <vector>

#include "diag/audit/benchmark_table.h"

namespace ringside::audit {

/// Takes a line of nccl-tests' output: a rank of the header, the column headings, a row, or the average.
/// shape  record.kind is BenchmarkRank, BenchmarkHeading, BenchmarkRow or BenchmarkAverage
void take_benchmark(std::vector<BenchmarkTable>& tables, const logs::Record& record);

/// Takes one of the two messages that begin a run: `# Collective test starting: all_reduce_perf`, which names the
/// collective (nccl-tests 2.17.6 and later), and then the options, `# nThread 1 nGpus 8 minBytes ...`. Opens a
/// new table if the last one is of an earlier run. Ignores all other messages.
void take_benchmark_message(std::vector<BenchmarkTable>& tables, const logs::Record& record);

}  // namespace ringside::audit
