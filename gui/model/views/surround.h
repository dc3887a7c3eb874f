#pragma once

#include <optional>

#include "gui/model/document.h"
#include "study/simulation.h"

namespace ringside::gui {

/// What stands around a simulated call: its machine, what the tuner reckoned, what came of it.
Surround surround_of(const study::SimPlan& plan, const study::SimRow& row, const Replay& replay);

/// Likewise of a trace that `ringside sim` has written, where it says so and its hosts are of those that come with ringside:
/// as they are built, since a trace does not say what was changed about them. None: nobody knows, or its ranks do not fit.
/// takes  as planning its call
std::optional<Surround> surround_of(const Document& document);

}  // namespace ringside::gui
