#include <fmt/format.h>

#include <algorithm>

#include "base/append.h"
#include "base/text.h"
#include "cli/bench/bench_report.h"

namespace ringside::cli {
namespace {

std::string timing_columns(const std::optional<BenchTiming>& timing, bool checked) {
  if (!timing) return fmt::format("  {:>10}{:>8}{:>8}{:>8}", "N/A", "N/A", "N/A", "N/A");
  return fmt::format("  {:>10.2f}{:>8.2f}{:>8.2f}{:>8}", in_us(timing->median),
                     in_gbs(timing->algbw), in_gbs(timing->busbw),
                     checked ? fmt::to_string(timing->wrong) : "N/A");
}

/// "  9.10 us, 0.12 GB/s expected: 95 %", for the out-of-place time; empty: no expectation.
std::string expectation(const BenchJob& job, const BenchRow& row) {
  if (!row.expected) return {};
  const BytesPerSecond busbw =
      row.bytes / *row.expected * busbw_factor(job.options.collective, job.nranks);
  return fmt::format("  {:.2f} us, {:.2f} GB/s expected: {:.0f} %", in_us(*row.expected),
                     in_gbs(busbw), 100 * (*row.expected / row.out_of_place.median));
}

}  // namespace

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
  const bool is_ours = bench.is_ours();
  const bool is_checked = bench.checks > 0;
  return fmt::format(" {:>12}{:>14}{:>10}{:>8}{:>8}{}{}  {} {}{}\n", row.bytes.value, row.count,
                     to_string(bench.type), study::redop_column(bench), study::root_column(bench),
                     timing_columns(row.out_of_place, is_checked),
                     timing_columns(row.in_place, is_checked),
                     is_ours ? to_string(row.choice.algorithm) : bench.backend.c_str(),
                     is_ours ? to_string(row.choice.protocol) : "", expectation(job, row));
}

std::string sweep_foot(const std::vector<BenchRow>& rows) {
  std::string text;
  if (study::is_any_modelled(rows)) {
    text += "# modelled             : hosts have no switch that reduces; copies replace it\n";
  }
  if (std::ranges::any_of(rows, [](const BenchRow& row) { return row.choice.by_switch; })) {
    text += "# NVSwitch             : it has reduced and multicast\n";
  }
  const std::int64_t wrong = study::wrong_in(rows);
  text += fmt::format("# Out of bounds values : {} {}\n", wrong, wrong == 0 ? "OK" : "FAILED");
  return text + fmt::format("# Avg bus bandwidth    : {:.5g}\n", in_gbs(study::mean_busbw(rows)));
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
    append(text, " {:>12}  {:<16}{:<8}{:>12.2f}{:>8.2f}  {}{}{}{}\n", row.bytes.value,
           to_string(cell.algorithm), to_string(cell.protocol), in_us(cell.time),
           cell.time / row.cells[row.best].time, row.pick == i ? "pick " : "",
           row.best == i ? "best " : "", cell.is_modelled ? "modelled " : "",
           cell.wrong != 0 ? "WRONG" : "");
  }
  return text;
}

std::string grid_foot(const std::vector<GridRow>& rows) {
  return fmt::format("# pick within 5 % of the best: {} of {} sizes\n", study::good_picks(rows),
                     rows.size());
}

}  // namespace ringside::cli
