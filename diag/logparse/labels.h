#pragma once

#include <vector>

#include "diag/logparse/undress.h"

/// Removes what collectors and viewers put before each line of a text: names of pods and containers, numbers of
/// lines.
namespace ringside::logs {

/// Takes off the label that most lines have one shape of: `train-worker-0 `, `trainer_1  | `, `ip-10-0-0-1: `.
/// returns  whether there were some
bool take_labels(std::vector<UndressedLine>& lines);

/// Takes off a viewer's numbers: lines numbered one after the other, which begin at one or within a file.
void take_viewer_numbers(std::vector<UndressedLine>& lines);

}  // namespace ringside::logs
