#pragma once

#include <cstdint>
#include <string_view>

namespace ringside::facts {

/// The step that a line of a training loop reports.
struct StepLine {
  std::int64_t step = -1;   ///< -1: the line has no step number
  std::int64_t steps = -1;  ///< total number of steps; -1: not in the line
};

/// Returns the step in a lower-case line: `step 1/10`, `iteration   42780/ 115311`, `Step: 300, loss`, `[step=12]`,
/// `epoch 3: `, ` 45%|###  | 450/1000 [00:45<00:55, 10.0it/s]`. All fields are -1 for another line.
StepLine read_step(std::string_view text);

}  // namespace ringside::facts
