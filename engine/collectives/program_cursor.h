#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/collectives/record.h"

namespace ringside {

/// A strand's place in its program: which step is due, loop after loop. All that takes recorded steps walks by it.
///
/// Ownership  the program is the caller's, and the same at each call
class ProgramCursor {
 public:
  explicit ProgramCursor(int strand = 0) : strand_(strand) {}

  /// Makes step() the one that is due. Loops in which the strand has none are passed over.
  /// turned   as SharedProgram has it
  /// returns  false: `loops` loops are through
  bool load(const Program& program, std::int32_t turned, std::int64_t loops) {
    while (run_ == end_run_) {
      if (loop_ >= loops) return false;
      find_runs(program);
      if (run_ == end_run_) ++loop_;
    }
    if (repeated_ == 0) {
      const StepRun& run = program.steps[run_];
      step_ = {run.primitive, (run.first_chunk + turned) % program.chunks, run.from, run.to};
    }
    return true;
  }

  /// Goes on behind step().
  void pass(const Program& program) {
    const StepRun& run = program.steps[run_];
    ++number_;
    if (++repeated_ < run.repeat) return advance(step_, program, run);
    repeated_ = 0;
    if (++run_ < end_run_) return;
    number_ = 0;
    ++loop_;
  }

  [[nodiscard]] const Step& step() const { return step_; }
  [[nodiscard]] std::int64_t loop() const { return loop_; }
  /// Of step(), among the strand's of its loop.
  [[nodiscard]] std::int32_t number() const { return number_; }

 private:
  /// Those of the loop's turn.
  void find_runs(const Program& program);

  std::int32_t strand_;
  std::int32_t number_ = 0;
  std::int64_t loop_ = 0;
  std::size_t run_ = 0, end_run_ = 0;  ///< of Program::steps
  std::int32_t repeated_ = 0;
  Step step_;
};

}  // namespace ringside
