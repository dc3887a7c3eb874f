#pragma once

#include "gui/model/state.h"

namespace ringside::gui {

/// Two runs, call by call: the nth call of a communicator beside the nth of the other's, the largest differences first.
void prepare_compare(const Document& document, const Document* other, const State& state,
                     Panel& into);

/// What was found: who waits for whom, and a table of each finding, tied to the ranks that it speaks of.
void prepare_findings(const Document& document, const Canvas& canvas, Panel& into);

}  // namespace ringside::gui
