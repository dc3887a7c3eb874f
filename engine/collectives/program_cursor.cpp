#include "engine/collectives/program_cursor.h"

#include <algorithm>

namespace ringside {

void ProgramCursor::find_runs(const Program& program) {
  const auto turn = static_cast<int>(loop_ % program.turns);
  const auto is_its = [&](const StepRun& run) { return run.turn == turn && run.strand == strand_; };
  const auto first = std::ranges::find_if(program.steps, is_its);
  const auto last = std::find_if_not(first, program.steps.end(), is_its);
  run_ = static_cast<std::size_t>(first - program.steps.begin());
  end_run_ = static_cast<std::size_t>(last - program.steps.begin());
}

}  // namespace ringside
