#pragma once

#include <vector>

#include "diag/logparse/undress.h"

/// Removes the labels that log collectors and viewers add before each line: names of pods and containers, line numbers.
namespace ringside::logs {

/// Removes labels if most lines have a label of the same shape: `train-worker-0 `, `trainer_1  | `, `ip-10-0-0-1: `.
/// returns  whether any label was removed
bool take_labels(std::vector<UndressedLine>& lines);

/// Removes a viewer's line numbers if at least 80 % of the lines continue the count. They may begin at any number but 0,
/// because ranks do.
void take_viewer_numbers(std::vector<UndressedLine>& lines);

}  // namespace ringside::logs
