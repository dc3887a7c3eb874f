#pragma once

#include <string>
#include <vector>

#include "study/sweep/sweep_report.h"

/// Draws a sweep as SVG for a page that defines the colours --ink, --soft, --line, --compute,
/// --exposed, --idle.
///
/// shape  `rows` are indexes of report.rows, of finished rows only (SweepRow::is_finished())
namespace ringside::cli {

/// Draws a bar for each row in the given order: compute, exposed calls and the rest, with its error
/// bar.
std::string step_bars(const study::SweepReport& report, const std::vector<std::size_t>& rows);

/// Draws time against cost of each row, both axes from 0, and joins the Pareto-optimal rows. Empty:
/// fewer than two rows have costs.
std::string money_plot(const study::SweepReport& report, const std::vector<std::size_t>& rows);

/// Draws time over the numeric values of a setting, one line per combination of the other settings.
/// Empty: fewer than three values, or too many lines to distinguish.
std::string setting_plot(const study::SweepReport& report, std::size_t axis,
                         const std::vector<std::size_t>& rows);

}  // namespace ringside::cli
