#pragma once

#include <cstdint>
#include <string_view>

namespace ringside::facts {

/// The progress of a training loop, as its line states it.
struct StepLine {
  std::int64_t step = -1;   ///< -1: the line states none
  std::int64_t steps = -1;  ///< in all
};

/// `step 1/10`, `iteration   42780/ 115311`, `Step: 300, loss`, `[step=12]`, `epoch 3: `, ` 45%|###  | 450/1000 [00:45<00:55,
/// 10.0it/s]`, `{'loss': 2.3, ..}` without its number.
/// shape  text: in small letters
StepLine read_step(std::string_view text);

}  // namespace ringside::facts
