#include "harness/bench_grid.h"

#include <algorithm>

#include "base/assert.h"

namespace ringside {
namespace {

/// A rule is added only if its choice takes at most this share of the preceding one's time, so that noise adds none.
constexpr double kWorthAChange = 0.97;

/// returns  nullopt if the algorithm does not support the call among these ranks
Result<std::optional<GridCell>> time_cell(runtime::Communicator& communicator,
                                          const BenchOptions& options, Algorithm algorithm,
                                          Protocol protocol) {
  const CallSettings settings{.algorithm = algorithm, .protocol = protocol};
  if (!check_bench(options, settings)) return std::optional<GridCell>{};
  communicator.set_settings(settings);
  const auto rows = run_bench(communicator, options, [](const BenchRow&) {});
  // No data has moved yet: all ranks refuse the plan alike.
  if (!rows && rows.error().code == ErrorCode::Unsupported) return std::optional<GridCell>{};
  if (!rows) return rows.error();
  const BenchTiming& timing = rows->front().out_of_place;
  return std::optional(GridCell{algorithm, protocol, timing.median, timing.wrong,
                                is_modelled(rows->front().choice)});
}

std::size_t fastest(const std::vector<GridCell>& cells) {
  std::size_t best = cells.size();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].is_modelled) continue;
    if (best == cells.size() || cells[i].time < cells[best].time) best = i;
  }
  RINGSIDE_ASSERT(best < cells.size(), "no algorithm among {}", cells.size());
  return best;
}

const GridCell* cell_of(const GridRow& row, const HostRule& rule) {
  const auto found = std::ranges::find_if(row.cells, [&](const GridCell& cell) {
    return cell.algorithm == rule.algorithm && cell.protocol == rule.protocol;
  });
  return found == row.cells.end() ? nullptr : &*found;
}

}  // namespace

Result<std::vector<GridRow>> run_bench_grid(runtime::Communicator& communicator,
                                            const BenchOptions& options,
                                            const std::function<void(const GridRow&)>& on_row) {
  BenchOptions one = options;
  one.in_place = false;
  one.on_progress = {};
  double all = 0;
  for (const Bytes size : options.sizes) all += work_of(size);
  double done = 0;
  std::vector<GridRow> rows;
  for (const Bytes size : options.sizes) {
    one.sizes = {size};
    GridRow row;
    for (int a = 0; a < kAlgorithmCount; ++a) {
      for (const Protocol protocol : {Protocol::LL, Protocol::LL128, Protocol::Simple}) {
        RINGSIDE_TRY(const std::optional<GridCell> cell,
                     time_cell(communicator, one, static_cast<Algorithm>(a), protocol));
        if (cell) row.cells.push_back(*cell);
      }
      done += work_of(size) / kAlgorithmCount;
      if (options.on_progress) options.on_progress(done / all);
    }
    row.best = fastest(row.cells);
    communicator.set_settings({});
    one.iterations = 1;
    one.warmup = 0;
    RINGSIDE_TRY(const std::vector<BenchRow> usual,
                 run_bench(communicator, one, [](const BenchRow&) {}));
    one.iterations = options.iterations;
    one.warmup = options.warmup;
    row.bytes = usual.front().bytes;
    const Choice& choice = usual.front().choice;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const bool is_it =
          row.cells[i].algorithm == choice.algorithm && row.cells[i].protocol == choice.protocol;
      if (is_it) row.pick = i;
    }
    on_row(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<HostRule> rules_of(const std::vector<GridRow>& rows, const HostRule& kind) {
  std::vector<HostRule> rules;
  for (const GridRow& row : rows) {
    const GridCell& best = row.cells[row.best];
    const GridCell* same = rules.empty() ? nullptr : cell_of(row, rules.back());
    if (same == nullptr || best.time < same->time * kWorthAChange) {
      rules.push_back(kind);
      rules.back().algorithm = best.algorithm;
      rules.back().protocol = best.protocol;
    }
    rules.back().up_to = row.bytes;
  }
  if (!rules.empty()) rules.back().up_to = kNoLimit;
  return rules;
}

}  // namespace ringside
