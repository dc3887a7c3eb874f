#pragma once

#include "gui/model/state.h"

namespace ringside::gui {

/// Prepares the comparison of two runs: the nth call of a communicator with the nth call of the
/// same communicator in the other run, the largest differences first.
void prepare_compare(const Document& document, const Document* other, const State& state,
                     Panel& into);

/// Prepares the view of findings: which rank waits for which, and a table of each finding with
/// links to its ranks.
void prepare_findings(const Document& document, const Canvas& canvas, Panel& into);

}  // namespace ringside::gui
