#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "base/text.h"
#include "base/wording.h"
#include "cli/sim/sim_notes.h"
#include "cli/sim/sim_report.h"
#include "engine/tuning/choice.h"
#include "study/explain/fabric_rounding.h"
#include "study/release_spread.h"

namespace ringside::cli {
namespace {

using study::SimPlan;
using study::SimRow;

/// Returns the reason that limits the call, as a clause.
std::string limit_sentence(const SimRow& row) {
  const std::string limit = study::limit_of(row);
  if (!row.path_limit.empty()) {
    return fmt::format("{:.0f} % of its critical path is {}", 100 * row.path_part, limit);
  }
  if (limit == "bandwidth") return "the bandwidth of a link limits it";
  if (limit == "latency") return "latency limits it: steps take far longer than their bytes";
  if (limit == "steps") return "no link limits it, but steps that wait for one another";
  return limit + " limits it";
}

/// Returns how much of the links the best row uses, and what limits it.
std::string perspective(const std::vector<SimRow>& rows) {
  const SimRow& best = study::best_of(rows);
  if (best.is_alone) {
    return "# one rank: in place NCCL does nothing, out of place it copies within the GPU's "
           "memory, which is not "
           "simulated: the time is a launch's";
  }
  if (best.fidelity == "model") {
    return fmt::format("# best: {} at {} B, as NCCL's tuner estimates; no link was simulated",
                       format_bandwidth(best.busbw), best.call.bytes.value);
  }
  if (!best.busiest) return "# no bytes crossed a link";
  return fmt::format(
      "# best: {} at {} B; {}; the busiest link, {} with {}, is busy for {:.0f} % of the time",
      format_bandwidth(best.busbw), best.call.bytes.value, limit_sentence(best), best.busiest->name,
      format_bandwidth(best.busiest->rate), 100 * best.busy_share());
}

/// Returns the link of a cluster's fabric with the most load, in the best row.
std::string fabric_line(const std::vector<SimRow>& rows) {
  const SimRow& best = study::best_of(rows);
  if (!best.busiest_fabric) return {};
  const study::BusyFabricLink& busy = *best.busiest_fabric;
  return fmt::format(
      "# fabric: the busiest link, {} ({}) with {}, carries for {:.0f} % of the time\n",
      busy.link.name, busy.tier, format_bandwidth(busy.link.rate),
      100 * (busy.needs / best.result.time));
}

/// Returns the fidelity that `auto` chose, and why, at each change.
std::string picked_lines(const std::vector<SimRow>& rows) {
  std::string lines;
  std::string before;
  for (const SimRow& row : rows) {
    if (row.why.empty() || row.fidelity == before) continue;
    before = row.fidelity;
    lines += fmt::format("# from {} B fidelity {} (chosen automatically: {})\n",
                         row.call.bytes.value, row.fidelity, row.why);
  }
  return lines;
}

}  // namespace

std::string bandwidth_text(const SimRow& row, BytesPerSecond bandwidth) {
  return row.is_alone ? "-" : fmt::format("{:.2f}", in_gbs(bandwidth));
}

std::string fabric_note_of(const SimPlan& plan) {
  const auto& fabric = plan.job.asked.fabric;
  if (!fabric) return {};
  std::string note = study::fabric_note(*fabric->fabric, fabric->nodes);
  const System& system = plan.job.asked.job.systems.front();
  const std::string leaves =
      fabric->is_by_word ? study::leaf_note(*fabric->fabric, system.nets.size(), system.gpus.size())
                         : std::string();
  if (!note.empty() && !leaves.empty()) note += "; ";
  return note + leaves;
}

void print_head(const SimPlan& plan) {
  const CommShape& shape = plan.job.shape();
  fmt::print("# {} simulated on {}: {}, {}\n", to_string(plan.calls.collective),
             plan.question.job.on, plural(static_cast<std::size_t>(shape.nranks), "rank", "ranks"),
             plural(static_cast<std::size_t>(shape.nnodes), "node", "nodes"));
  constexpr std::string_view kHead =
      "#{:>12} {:>12} {:>9} {:>14} {:>8} {:>8} {:>12} {:>12} {:>8} {:>8} {:>8} {:>11} {:>7}\n";
  fmt::print(kHead, "size", "count", "type", "algorithm", "protocol", "channels", "time", "NCCL's",
             "algbw", "busbw", "busiest", "transfers", "wall");
  fmt::print(kHead, "(B)", "(elements)", "", "", "", "", "(us)", "model (us)", "(GB/s)", "(GB/s)",
             "link (%)", "", "(s)");
}

void print_row(const SimPlan& plan, const SimRow& row) {
  const SimTuned& tuned = row.call.tuned;
  const Choice& choice = tuned.choice;
  const std::string predicted = tuned.prediction
                                    ? fmt::format("{:.2f}{}", tuned.prediction->time_us,
                                                  study::has_fallback_search(plan, row) ? "*" : "")
                                    : "-";
  fmt::print(
      " {:>12} {:>12} {:>9} {:>14} {:>8} {:>8} {:>12.2f} {:>12} {:>8} {:>8} {:>8.0f} {:>11} "
      "{:>7.2f}\n",
      row.call.bytes.value, row.call.shape.count, to_string(row.call.shape.type),
      to_string(choice.algorithm), to_string(choice.protocol), choice.nchannels,
      in_us(row.result.time), predicted, bandwidth_text(row, row.algbw),
      bandwidth_text(row, row.busbw), 100 * row.busy_share(), row.result.transfers,
      row.result.wall.count());
  std::fflush(stdout);
}

std::string closing_lines(const SimPlan& plan, const std::vector<SimRow>& rows) {
  const std::string fabric_note = fabric_note_of(plan);
  return fmt::format("{}\n{}{}{}{}{}{}{}", perspective(rows), fabric_line(rows),
                     fabric_note.empty() ? "" : fmt::format("# fabric: {}\n", fabric_note),
                     picked_lines(rows), loop_line(rows), nearer_line(rows),
                     fallback_line(plan, rows), error_bars(rows, plan));
}

}  // namespace ringside::cli
