#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "cli/bench_report.h"

namespace ringside::cli {
namespace {

bool has_root(Collective collective) {
  return collective == Collective::Broadcast || collective == Collective::Reduce ||
         collective == Collective::Gather || collective == Collective::Scatter;
}

bool reduces(Collective collective) {
  return collective == Collective::AllReduce || collective == Collective::ReduceScatter ||
         collective == Collective::Reduce;
}

std::string timing_columns(const std::optional<BenchTiming>& timing, bool checked) {
  if (!timing) return fmt::format("  {:>10}{:>8}{:>8}{:>8}", "N/A", "N/A", "N/A", "N/A");
  return fmt::format("  {:>10.2f}{:>8.2f}{:>8.2f}{:>8}", in_us(timing->median),
                     in_gbs(timing->algbw), in_gbs(timing->busbw),
                     checked ? fmt::to_string(timing->wrong) : "N/A");
}

}  // namespace

const char* redop_column(const BenchOptions& bench) {
  return reduces(bench.collective) ? to_string(bench.op) : "none";
}
int root_column(const BenchOptions& bench) {
  return has_root(bench.collective) ? to_int(bench.root) : -1;
}

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

std::string sweep_head(const BenchJob& job) {
  return fmt::format(
             "# ringside {}: {}, {} ranks over {}, {} warm-up and {} timed runs; time: median over "
             "the runs of the slowest rank\n",
             RINGSIDE_VERSION, to_string(job.options.collective), job.nranks, job.transport,
             job.options.warmup, job.options.iterations) +
         fmt::format("#\n#{:>57}{:^35}{:^35}\n", "", "out-of-place", "in-place") +
         fmt::format(
             "#{:>12}{:>14}{:>10}{:>8}{:>8}  {:>10}{:>8}{:>8}{:>8}  {:>10}{:>8}{:>8}{:>8}\n",
             "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time",
             "algbw", "busbw", "#wrong") +
         fmt::format("#{:>12}{:>14}{:>10}{:>8}{:>8}  {:>10}{:>8}{:>8}{:>8}  {:>10}{:>8}{:>8}\n",
                     "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)",
                     "(GB/s)", "(GB/s)");
}

std::string sweep_line(const BenchJob& job, const BenchRow& row) {
  const BenchOptions& bench = job.options;
  const bool is_checked = bench.check != BenchCheck::Off;
  return fmt::format(" {:>12}{:>14}{:>10}{:>8}{:>8}{}{}  {} {}\n", row.bytes.value, row.count,
                     to_string(bench.type), redop_column(bench), root_column(bench),
                     timing_columns(row.out_of_place, is_checked),
                     timing_columns(row.in_place, is_checked), to_string(row.choice.algorithm),
                     to_string(row.choice.protocol));
}

std::string sweep_foot(const std::vector<BenchRow>& rows) {
  double sum = 0;
  int timings = 0;
  for (const BenchRow& row : rows) {
    sum += in_gbs(row.out_of_place.busbw) + (row.in_place ? in_gbs(row.in_place->busbw) : 0);
    timings += row.in_place ? 2 : 1;
  }
  std::string text;
  const bool is_any_modelled = std::ranges::any_of(
      rows, [](const BenchRow& row) { return is_modelled(row.choice.algorithm); });
  if (is_any_modelled) {
    text += "# modelled             : hosts have no switch that reduces; copies stand for it\n";
  }
  const std::int64_t wrong = wrong_in(rows);
  text += fmt::format("# Out of bounds values : {} {}\n", wrong, wrong == 0 ? "OK" : "FAILED");
  return text + fmt::format("# Avg bus bandwidth    : {:.5g}\n", sum / timings);
}

std::string grid_head(const BenchJob& job) {
  return fmt::format("# {} among {} ranks over {}; median of {} runs; x: times the best\n",
                     to_string(job.options.collective), job.nranks, job.transport,
                     job.options.iterations) +
         fmt::format("#{:>12}  {:<16}{:<8}{:>12}{:>8}\n", "size (B)", "algo", "proto", "time (us)",
                     "x");
}

std::string grid_lines(const GridRow& row) {
  std::string text;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const GridCell& cell = row.cells[i];
    fmt::format_to(std::back_inserter(text), " {:>12}  {:<16}{:<8}{:>12.2f}{:>8.2f}  {}{}{}{}\n",
                   row.bytes.value, to_string(cell.algorithm), to_string(cell.protocol),
                   in_us(cell.time), cell.time / row.cells[row.best].time,
                   row.pick == i ? "pick " : "", row.best == i ? "best " : "",
                   is_modelled(cell.algorithm) ? "modelled " : "", cell.wrong != 0 ? "WRONG" : "");
  }
  return text;
}

std::string grid_foot(const std::vector<GridRow>& rows) {
  return fmt::format("# pick within 5 % of the best: {} of {} sizes\n",
                     std::ranges::count_if(rows, &GridRow::is_pick_good), rows.size());
}

}  // namespace ringside::cli
