#include <fmt/format.h>

#include "base/text.h"
#include "cli/bench/bench_report.h"

namespace ringside::cli {
namespace {

constexpr const char* kCommonNames = "collective,type,redop,root,nranks,transport";

/// Returns the fields that all lines of a run have in common. No word of them holds a comma or a quote.
std::string common_fields(const BenchJob& job) {
  const BenchOptions& bench = job.options;
  return fmt::format("{},{},{},{},{},{}", to_string(bench.collective), to_string(bench.type),
                     study::redop_column(bench), study::root_column(bench), job.nranks,
                     job.transport);
}

std::string choice_fields(const BenchJob& job, const Choice& choice) {
  if (!job.options.is_ours()) return ",,,0";
  return fmt::format("{},{},{},{}", to_string(choice.algorithm), to_string(choice.protocol),
                     choice.nchannels, is_modelled(choice) ? 1 : 0);
}

std::string timing_line(const BenchJob& job, const BenchRow& row, const char* placement,
                        const BenchTiming& timing) {
  const bool is_checked = job.options.checks > 0;
  return fmt::format("{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.6g},{:.6g},{},{}\n",
                     common_fields(job), row.bytes.value, row.count, placement,
                     choice_fields(job, row.choice), in_us(timing.median), in_us(timing.p95),
                     in_us(timing.least), in_us(timing.most), in_gbs(timing.algbw),
                     in_gbs(timing.busbw), is_checked ? fmt::to_string(timing.wrong) : "",
                     row.expected ? fmt::format("{:.3f}", in_us(*row.expected)) : "");
}

}  // namespace

std::string sweep_csv_head() {
  return fmt::format(
      "{},bytes,count,placement,algorithm,protocol,nchannels,is_modelled,time_us,p95_us,min_us,"
      "max_us,algbw_gbs,busbw_gbs,wrong,expected_us\n",
      kCommonNames);
}

std::string sweep_csv(const BenchJob& job, const BenchRow& row) {
  std::string text = timing_line(job, row, "out_of_place", row.out_of_place);
  if (row.in_place) text += timing_line(job, row, "in_place", *row.in_place);
  return text;
}

std::string grid_csv_head() {
  return fmt::format(
      "{},bytes,algorithm,protocol,is_modelled,time_us,busbw_gbs,is_pick,is_best,wrong\n",
      kCommonNames);
}

std::string grid_csv(const BenchJob& job, const GridRow& row) {
  const double factor = busbw_factor(job.options.collective, job.nranks);
  const bool is_checked = job.options.checks > 0;
  std::string text;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const GridCell& cell = row.cells[i];
    text +=
        fmt::format("{},{},{},{},{},{:.3f},{:.6g},{},{},{}\n", common_fields(job), row.bytes.value,
                    to_string(cell.algorithm), to_string(cell.protocol), cell.is_modelled ? 1 : 0,
                    in_us(cell.time), in_gbs(row.bytes / cell.time) * factor, row.pick == i ? 1 : 0,
                    row.best == i ? 1 : 0, is_checked ? fmt::to_string(cell.wrong) : "");
  }
  return text;
}

}  // namespace ringside::cli
