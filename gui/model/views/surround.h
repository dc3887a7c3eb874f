#pragma once

#include <optional>

#include "gui/model/document.h"
#include "study/simulation.h"

namespace ringside::gui {

/// The context of a simulated call: its machine, the tuner's estimates, its result.
Surround surround_of(const study::SimPlan& plan, const study::SimRow& row, const Replay& replay);

/// The same for a trace that `ringside sim` has written, if it names a preset as its hosts: without changes to them,
/// since a trace does not record these. None: the hosts are unknown, or its ranks do not fit.
/// takes  as long as planning its call
std::optional<Surround> surround_of(const Document& document);

}  // namespace ringside::gui
