#pragma once

#include <span>
#include <string>
#include <string_view>

#include "study/simulation.h"

namespace ringside::cli {

/// Returns a note that times are those of a loop of calls, if the calls overlap; else an empty
/// text.
std::string loop_line(std::span<const study::SimRow> rows);

/// Returns a note on the first size for which NCCL's own model was nearer to measured times than the simulation; empty if
/// there is none.
std::string nearer_line(std::span<const study::SimRow> rows);

/// Returns the explanation of `*` behind a time of NCCL's model; empty if no time is marked.
std::string fallback_line(const study::SimPlan& plan, std::span<const study::SimRow> rows);

/// Returns the typical error of the smallest and the largest size, and the reason if a question
/// exceeds the measured systems.
/// shape  rows are not empty
std::string error_bars(std::span<const study::SimRow> rows, const study::SimPlan& plan);

/// Returns the typical error of one row, in %: "19"; "19*" if it exceeds the measured systems.
std::string error_text(const study::SimRow& row, const study::SimPlan& plan);

inline constexpr std::string_view kErrorsOfVariants =
    "# +-%: typical error, the median over comparable systems (docs/accuracy.md); *: beyond what "
    "was measured";

}  // namespace ringside::cli
