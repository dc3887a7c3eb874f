#pragma once

#include "gui/model/state.h"

namespace ringside::gui {

/// Two runs, call by call: the nth call of a communicator and the nth of the other's, the largest differences first.
void prepare_compare(const Document& document, const Document* other, const State& state,
                     Panel& into);

/// The findings: which rank waits for which, and a table of each finding, linked to its ranks.
void prepare_findings(const Document& document, const Canvas& canvas, Panel& into);

}  // namespace ringside::gui
