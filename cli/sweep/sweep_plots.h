#pragma once

#include <string>
#include <vector>

#include "study/sweep/sweep_report.h"

/// Pictures of a sweep, as SVG within a page that has the colours --ink, --soft, --line, --compute, --exposed, --idle.
namespace ringside::cli {

/// A bar for each row, of compute, exposed calls and the rest, with its error bar; the given order.
std::string step_bars(const study::SweepReport& report, const std::vector<std::size_t>& rows);

/// Time against money of each row, both from 0; rows that no other beats in both are joined. Empty: no two have money.
std::string money_plot(const study::SweepReport& report, const std::vector<std::size_t>& rows);

/// Time over the values of a setting that are numbers, a line for each combination of the rest. Empty: it has fewer
/// than three values, or more lines than can be distinguished.
std::string setting_plot(const study::SweepReport& report, std::size_t axis,
                         const std::vector<std::size_t>& rows);

}  // namespace ringside::cli
