#include "cli/sim/sim_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/wording.h"
#include "study/release_spread.h"
#include "study/validate/measured_reach.h"

namespace ringside::cli {

using study::SimPlan;
using study::SimRow;

std::string loop_line(std::span<const SimRow> rows) {
  const bool overlap =
      std::ranges::any_of(rows, [](const SimRow& row) { return row.overlap > Seconds{}; });
  return overlap ? "# times are those of one call in a loop, as nccl-tests measures: a call begins "
                   "before the one before has left the chain; --isolated: of one call alone\n"
                 : "";
}

std::string fallback_line(const SimPlan& plan, std::span<const SimRow> rows) {
  const bool has_one = std::ranges::any_of(
      rows, [&](const SimRow& row) { return study::has_fallback_search(plan, row); });
  return has_one
             ? "# *: NCCL's search found no channels and fell back to 0.1 GB/s: its model's time "
               "is no prediction\n"
             : "";
}

std::string nearer_line(std::span<const SimRow> rows) {
  for (const SimRow& row : rows) {
    if (row.nearer_nccl_error == 0) continue;
    return fmt::format(
        "# at {} B NCCL's own model was nearer on comparable systems, off by {:.0f} % "
        "(docs/accuracy.md): read its column as well\n",
        row.call.bytes.value, row.nearer_nccl_error);
  }
  return "";
}

std::string error_bars(std::span<const SimRow> rows, const SimPlan& plan) {
  if (rows.front().is_alone) return "# no error is given: one rank was not measured";
  const auto text = [](const SimRow& row) {
    const std::string systems = row.error_systems > 0
                                    ? plural(static_cast<std::size_t>(row.error_systems),
                                             "comparable system", "comparable systems")
                                    : "all systems, of NCCL's own model";
    return fmt::format("{:.0f} % (median over {})", row.error_percent, systems);
  };
  const SimRow& first = rows.front();
  const SimRow& last = rows.back();
  std::string span = text(last);
  if (text(first) != span) {
    span = fmt::format("{} at {} B, {} at {} B", text(first), first.call.bytes.value, span,
                       last.call.bytes.value);
  }
  const std::string beyond = study::beyond_measured(plan);
  return fmt::format(
      "# typical error {}; see docs/accuracy.md{}", span,
      beyond.empty() ? "" : fmt::format("; this is beyond what was measured: {}", beyond));
}

std::string error_text(const SimRow& row, const SimPlan& plan) {
  if (row.is_alone) return "-";
  return fmt::format("{:.0f}{}", row.error_percent,
                     study::beyond_measured(plan).empty() ? "" : "*");
}

}  // namespace ringside::cli
