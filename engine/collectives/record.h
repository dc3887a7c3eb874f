#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "engine/collectives/run.h"
#include "engine/collectives/task.h"

namespace ringside {

/// One step of a strand.
struct Step {
  Primitive primitive = Primitive::Copy;
  std::int32_t chunk = 0;
  Ports from = kNoPorts;
  Ports to = kNoPorts;
  friend bool operator==(const Step&, const Step&) = default;
};

/// A run of `repeat` similar steps: the same primitive on chunks first, first + stride, ... modulo the chunk count,
/// with ports that advance by their strides.
struct StepRun {
  Primitive primitive = Primitive::Copy;
  std::uint8_t strand = 0;
  std::uint16_t turn = 0;
  std::int32_t first_chunk = 0;
  std::int32_t stride = 0;
  std::int32_t repeat = 1;
  Ports from = kNoPorts;
  Ports to = kNoPorts;
  std::int16_t from_stride = 0;
  std::int16_t to_stride = 0;
  friend bool operator==(const StepRun&, const StepRun&) = default;
};

/// The steps of one rank on one channel, without data. Loop number `loop` runs the steps of turn `loop` modulo `turns`.
/// A ring all-reduce takes 5 runs (140 bytes) whatever the number of ranks and the size.
struct Program {
  std::int64_t loops = 0;
  std::int32_t chunks = 1;  ///< modulus of chunk numbers
  std::int32_t turns = 1;
  Strands strands;
  std::vector<StepRun> steps;  ///< ordered by turn, then by strand
};

/// The Primitives model that records the steps of an algorithm as StepRuns.
class RecordPrimitives : public NamedPrimitives<RecordPrimitives> {
 public:
  explicit RecordPrimitives(Program& program) : program_(&program) {}

  /// Sets the turn and strand of the steps that follow.
  void begin(int turn, int strand);

  template <Primitive kPrimitive>
  void step(int chunk, Ports from, Ports to) {
    add({kPrimitive, chunk, from, to});
  }

 private:
  void add(const Step& step);
  Program* program_;
  StepRun current_;  ///< turn and strand; no step yet while repeat is 0
};

/// Records the program of a task.
Program record(const ChannelTask& task);

/// The program of a task, shared with other tasks.
struct SharedProgram {
  std::shared_ptr<const Program> program;
  std::int32_t turned = 0;  ///< offset to add to its chunk numbers, modulo their count
};

/// Records the programs of many tasks, and stores programs that differ only by an offset of the chunk numbers once:
/// recording the rings of n ranks takes n steps, not n x n.
class ProgramBook {
 public:
  SharedProgram of(const ChannelTask& task);

 private:
  /// The values on which the steps of an algorithm depend if all ranks do the same.
  using Kind = std::tuple<Collective, Algorithm, int, int, int, std::int64_t, int>;
  std::map<Kind, std::shared_ptr<const Program>> known_;
};

/// Returns the number of steps of all loops.
std::int64_t count_steps(const Program& program);

/// Changes `step` to the next step of the run.
inline void advance(Step& step, const Program& program, const StepRun& run) {
  step.chunk = (step.chunk + run.stride) % program.chunks;
  step.from.first = static_cast<std::uint16_t>(step.from.first + run.from_stride);
  step.to.first = static_cast<std::uint16_t>(step.to.first + run.to_stride);
}

/// Calls visit(step) for each step of one run, in order.
template <typename Visit>
void for_each_step(const Program& program, const StepRun& run, Visit&& visit) {
  Step step{run.primitive, run.first_chunk, run.from, run.to};
  for (std::int32_t i = 0; i < run.repeat; ++i) {
    visit(step);
    advance(step, program, run);
  }
}

/// Calls visit(step) for each step of one loop of a turn and a strand, in order.
template <typename Visit>
void for_each_step(const Program& program, int turn, int strand, Visit&& visit) {
  for (const StepRun& run : program.steps) {
    if (run.turn == turn && run.strand == strand) for_each_step(program, run, visit);
  }
}

}  // namespace ringside
