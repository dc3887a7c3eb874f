#include "study/validate/bench_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/vocabulary.h"

namespace ringside::study {

std::int64_t wrong_in(const std::vector<BenchRow>& rows) {
  std::int64_t wrong = 0;
  for (const BenchRow& row : rows) {
    wrong += row.out_of_place.wrong + (row.in_place ? row.in_place->wrong : 0);
  }
  return wrong;
}

std::int64_t wrong_in(const std::vector<GridRow>& rows) {
  std::int64_t wrong = 0;
  for (const GridRow& row : rows) {
    for (const GridCell& cell : row.cells) wrong += cell.wrong;
  }
  return wrong;
}

BytesPerSecond mean_busbw(const std::vector<BenchRow>& rows) {
  RINGSIDE_ASSERT(!rows.empty(), "no rows");
  double sum = 0;
  int timings = 0;
  for (const BenchRow& row : rows) {
    sum += row.out_of_place.busbw.value + (row.in_place ? row.in_place->busbw.value : 0);
    timings += row.in_place ? 2 : 1;
  }
  return {sum / timings};
}

bool is_any_modelled(const std::vector<BenchRow>& rows) {
  return std::ranges::any_of(rows, [](const BenchRow& row) { return is_modelled(row.choice); });
}

std::size_t good_picks(const std::vector<GridRow>& rows) {
  return static_cast<std::size_t>(std::ranges::count_if(rows, &GridRow::is_pick_good));
}

const char* redop_column(const BenchOptions& bench) {
  return is_reduction(bench.collective) ? to_string(bench.op) : "none";
}
int root_column(const BenchOptions& bench) {
  return has_root(bench.collective) ? to_int(bench.root) : -1;
}

std::vector<Curve> curves_of(const std::vector<BenchRow>& rows) {
  Curve out{.name = "out of place"};
  Curve in{.name = "in place", .is_secondary = true};
  for (const BenchRow& row : rows) {
    out.points.push_back({row.bytes, row.out_of_place.median, row.out_of_place.busbw});
    if (row.in_place) in.points.push_back({row.bytes, row.in_place->median, row.in_place->busbw});
  }
  std::vector<Curve> curves{std::move(out)};
  if (!in.points.empty()) curves.push_back(std::move(in));
  return curves;
}

std::vector<Curve> curves_of(const BenchJob& job, const std::vector<GridRow>& rows) {
  const double factor = busbw_factor(job.options.collective, job.nranks);
  std::vector<Curve> curves;
  for (const GridRow& row : rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const GridCell& cell = row.cells[i];
      const std::optional choice = std::pair{cell.algorithm, cell.protocol};
      auto curve = std::ranges::find(curves, choice, &Curve::choice);
      if (curve == curves.end()) {
        const std::string name =
            fmt::format("{} {}{}", to_string(cell.algorithm), to_string(cell.protocol),
                        cell.is_modelled ? " (modelled)" : "");
        curves.push_back({.name = name, .choice = choice});
        curve = curves.end() - 1;
      }
      const BytesPerSecond algbw = cell.time.count() > 0 ? row.bytes / cell.time : BytesPerSecond{};
      curve->points.push_back({row.bytes, cell.time, algbw * factor, row.pick == i});
    }
  }
  return curves;
}

}  // namespace ringside::study
