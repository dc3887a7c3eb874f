#pragma once

#include <string>
#include <vector>

#include "study/validate/bench_rows.h"

/// Formats the rows of `bench`: as a table like that of nccl-tests, as JSON, as CSV.
namespace ringside::cli {

using study::BenchJob;

std::string sweep_head(const BenchJob& job);
std::string sweep_line(const BenchJob& job, const BenchRow& row);
std::string sweep_foot(const std::vector<BenchRow>& rows);

std::string grid_head(const BenchJob& job);
std::string grid_lines(const GridRow& row);
/// Returns a line about the number of sizes at which the pick is within 5 % of the best.
std::string grid_foot(const std::vector<GridRow>& rows);

/// Return one JSON document.
std::string sweep_json(const BenchJob& job, const std::vector<BenchRow>& rows);
std::string grid_json(const BenchJob& job, const std::vector<GridRow>& rows);

/// Return the line of column names, or the lines of a row: one for each size and placement, or for
/// each cell of the grid. Fields that were not measured are empty.
std::string sweep_csv_head();
std::string sweep_csv(const BenchJob& job, const BenchRow& row);
std::string grid_csv_head();
std::string grid_csv(const BenchJob& job, const GridRow& row);

}  // namespace ringside::cli
