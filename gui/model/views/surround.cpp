#include "gui/model/views/surround.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/text.h"
#include "base/vocabulary.h"
#include "engine/topology/presets.h"
#include "study/explain/explanation.h"

namespace ringside::gui {
namespace {

Table tuner_table(const study::SimPlan& plan, Bytes size) {
  Table table{.title = fmt::format("What NCCL's tuner estimates for {}", format_bytes(size)),
              .head = {"algorithm", "protocol", "time (us)"},
              .rows = {}};
  const auto explained = study::make_explanation({}, plan.job.tuner,
                                                 {.collective = plan.calls.collective,
                                                  .type = plan.calls.type,
                                                  .op = plan.calls.op,
                                                  .sizes = {size}});
  if (!explained || explained->sizes.empty()) {
    table.note = "it does not support this";
    return table;
  }
  std::vector<Candidate> candidates = explained->sizes.front().candidates;
  std::erase_if(candidates, [](const Candidate& one) { return one.obstacle != Obstacle::None; });
  std::ranges::stable_sort(candidates, {},
                           [](const Candidate& one) { return one.prediction.time_us; });
  for (const Candidate& one : candidates) {
    const bool is_best = table.rows.empty();
    const float share =
        one.prediction.time_us / std::max(candidates.back().prediction.time_us, 1e-6F);
    table.rows.push_back({{{to_string(one.algorithm), 0, is_best ? Ink::Good : Ink::Text},
                           {to_string(one.protocol)},
                           {fmt::format("{:.2f}", one.prediction.time_us), share}}});
  }
  return table;
}

void add_nodes(const study::SimPlan& plan, const study::SimCall& call, const Replay& replay,
               Surround& surround) {
  const Job& job = plan.job.asked.job;
  surround.nodes = static_cast<int>(job.nodes.size());
  surround.node_of.resize(static_cast<std::size_t>(job.nranks()));
  for (std::size_t node = 0; node < job.nodes.size(); ++node) {
    for (const int rank : job.nodes[node].ranks) {
      surround.node_of[static_cast<std::size_t>(rank)] = static_cast<std::int32_t>(node);
    }
  }
  surround.ways =
      std::make_shared<const Machine>(Machine::make(job, study::network_of(plan, call), replay));
}

}  // namespace

Surround surround_of(const study::SimPlan& plan, const study::SimRow& row, const Replay& replay) {
  Surround surround;
  surround.machine = std::filesystem::path(plan.question.job.on).filename().string();
  add_nodes(plan, row.call, replay, surround);
  surround.tables.push_back(tuner_table(plan, row.call.bytes));
  Table result{.title = "The simulation", .head = {"", ""}, .rows = {}};
  const auto line = [&](const char* name, std::string text) {
    result.rows.push_back({{{name}, {std::move(text)}}});
  };
  line("time, with the launch", format_time(row.result.time));
  if (!row.is_alone) line("busbw", format_bandwidth(row.busbw));
  if (row.busiest) {
    line("busiest link", fmt::format("{}, {} of the time", row.busiest->name,
                                     fmt::format("{:.0f} %", 100 * row.busy_share())));
  }
  line("limited by", study::limit_of(row));
  surround.tables.push_back(std::move(result));
  return surround;
}

std::optional<Surround> surround_of(const Document& document) {
  const TraceFile& file = document.replay->file();
  if (document.calls.empty() || file.processes().empty()) return std::nullopt;
  const TraceInfo& info = file.processes().front();
  const auto said = [&](std::string_view key) {
    const auto found =
        std::ranges::find(info.values, key, [](const auto& one) { return one.first; });
    return found == info.values.end() ? std::string() : found->second;
  };
  const std::string cluster = said("cluster");
  // A preset's name, not a path from a foreign file.
  const bool is_ours =
      std::ranges::find(kHostPresets, cluster, &Preset::name) != kHostPresets.end();
  const auto ranks = parse_int(said("nranks"));
  const auto channels = parse_int(said("nchannels"));
  if (info.clock != TraceClock::Simulated || !is_ours || !ranks || !channels) return std::nullopt;
  const CallFacts& call = document.calls.front();
  study::SimQuestion question;
  question.calls.collective = said("collective");
  question.calls.sizes = fmt::format("{}", call.bytes.value);
  question.job = {.on = cluster};
  // As many hosts as the ranks fill.
  const auto one_host = study::plan_simulation(question);
  if (!one_host || *ranks % one_host->job.asked.job.nranks() != 0) return std::nullopt;
  question.job.nodes = static_cast<int>(*ranks / one_host->job.asked.job.nranks());
  const auto free = study::plan_simulation(question);
  if (!free) return std::nullopt;
  question.algorithm = to_string(call.algorithm);
  question.protocol = to_string(call.protocol);
  question.channels = static_cast<int>(*channels);
  auto plan = study::plan_simulation(question);
  if (!plan) return std::nullopt;
  auto tuned = study::tune_call(*plan, plan->calls.sizes.front());
  if (!tuned) return std::nullopt;
  Surround surround;
  surround.machine = cluster + " as it is built";
  add_nodes(*plan, *tuned, *document.replay, surround);
  surround.tables.push_back(tuner_table(*free, call.bytes));
  return surround;
}

}  // namespace ringside::gui
