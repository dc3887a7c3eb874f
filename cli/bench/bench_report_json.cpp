#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "cli/bench/bench_report.h"

namespace ringside::cli {
namespace {

Json timing_json(const BenchTiming& timing, bool is_checked) {
  return {{"time_us", in_us(timing.median)},   {"algbw_gbs", in_gbs(timing.algbw)},
          {"busbw_gbs", in_gbs(timing.busbw)}, {"wrong", is_checked ? Json(timing.wrong) : Json()},
          {"p95_us", in_us(timing.p95)},       {"min_us", in_us(timing.least)},
          {"max_us", in_us(timing.most)}};
}

Json row_json(const GridRow& row) {
  Json cells = Json::array();
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const GridCell& cell = row.cells[i];
    cells.push_back({{"algorithm", to_string(cell.algorithm)},
                     {"protocol", to_string(cell.protocol)},
                     {"time_us", in_us(cell.time)},
                     {"wrong", cell.wrong},
                     {"is_pick", row.pick == i},
                     {"is_best", row.best == i},
                     {"is_modelled", cell.is_modelled}});
  }
  return {{"bytes", row.bytes.value}, {"is_pick_good", row.is_pick_good()}, {"cells", cells}};
}

}  // namespace

std::string sweep_json(const BenchJob& job, const std::vector<BenchRow>& rows) {
  const BenchOptions& bench = job.options;
  const bool is_checked = bench.checks > 0;
  const bool is_ours = bench.is_ours();
  Json results = Json::array();
  for (const BenchRow& row : rows) {
    Json entry = {{"bytes", row.bytes.value},
                  {"count", row.count},
                  {"type", to_string(bench.type)},
                  {"redop", study::redop_column(bench)},
                  {"root", study::root_column(bench)}};
    entry.update(timing_json(row.out_of_place, is_checked));
    entry["in_place"] = row.in_place ? timing_json(*row.in_place, is_checked) : Json();
    entry["expected_us"] = row.expected ? Json(in_us(*row.expected)) : Json();
    entry["algorithm"] = is_ours ? Json(to_string(row.choice.algorithm)) : Json();
    entry["protocol"] = is_ours ? Json(to_string(row.choice.protocol)) : Json();
    entry["nchannels"] = is_ours ? Json(row.choice.nchannels) : Json();
    entry["is_modelled"] = is_modelled(row.choice);
    results.push_back(std::move(entry));
  }
  return to_text(Json{{"schema", "ringside.bench/1"},
                      {"collective", to_string(bench.collective)},
                      {"backend", bench.backend},
                      {"transport", job.transport},
                      {"nranks", job.nranks},
                      {"buffers", bench.shares_memory ? "shared" : "private"},
                      {"warmup", bench.warmup},
                      {"iterations", bench.iterations},
                      {"results", std::move(results)}});
}

std::string grid_json(const BenchJob& job, const std::vector<GridRow>& rows) {
  Json results = Json::array();
  for (const GridRow& row : rows) results.push_back(row_json(row));
  return to_text(Json{{"schema", "ringside.bench-grid/1"},
                      {"collective", to_string(job.options.collective)},
                      {"transport", job.transport},
                      {"nranks", job.nranks},
                      {"good_picks", study::good_picks(rows)},
                      {"results", std::move(results)}});
}

}  // namespace ringside::cli
