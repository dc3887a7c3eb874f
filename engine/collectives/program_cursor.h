#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/collectives/record.h"

namespace ringside {

/// A strand's position in its program, used by all code that runs recorded steps. Call load(), run step(), call pass(),
/// and repeat.
///
/// Ownership  the caller owns the program, and passes the same one in each call
class ProgramCursor {
 public:
  explicit ProgramCursor(int strand = 0) : strand_(strand) {}

  /// Sets step() to the next step. Skips loops in which the strand has no steps.
  /// turned   SharedProgram::turned
  /// returns  false: all `loops` loops are done
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

  /// Advances past step().
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
  /// Returns the number of step() among the strand's steps of the current loop.
  [[nodiscard]] std::int32_t number() const { return number_; }

 private:
  /// Sets run_ and end_run_ to the runs of the loop's turn.
  void find_runs(const Program& program);

  std::int32_t strand_;
  std::int32_t number_ = 0;
  std::int64_t loop_ = 0;
  std::size_t run_ = 0, end_run_ = 0;  ///< indices in Program::steps
  std::int32_t repeated_ = 0;
  Step step_;
};

}  // namespace ringside
