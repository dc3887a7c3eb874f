#pragma once

#include <optional>

#include "gui/model/document.h"
#include "study/simulation.h"

namespace ringside::gui {

/// Returns data about a simulated call: its machine, the tuner's estimates, its result.
Surround surround_of(const study::SimPlan& plan, const study::SimRow& row, const Replay& replay);

/// Returns such data for a trace that `ringside sim` wrote, if the trace names a preset. It ignores
/// changes of hosts, which a trace does not record. None: the hosts are unknown, or the ranks do
/// not match.
/// takes  as long as planning the call
std::optional<Surround> surround_of(const Document& document);

}  // namespace ringside::gui
