#pragma once

#include <cstdint>
#include <vector>

#include "engine/collectives/run.h"

namespace ringside {

/// A run of like steps: the same primitive on chunks first, first + stride, ... modulo the chunk
/// count.
struct StepRun {
  Primitive primitive = Primitive::Copy;
  std::int32_t first_chunk = 0;
  std::int32_t stride = 0;
  std::int32_t repeat = 1;
  friend bool operator==(const StepRun&, const StepRun&) = default;
};

/// What one rank does on one channel, without the data: `loops` times the same steps.
/// A ring all-reduce takes 5 runs (80 bytes) whatever the number of ranks and the size.
struct Program {
  std::int64_t loops = 0;
  std::int32_t chunks = 1;  ///< modulus of chunk numbers
  std::vector<StepRun> steps;
};

/// The model that only writes down. Shape of what it writes: see StepRun.
class RecordPrimitives : public NamedPrimitives<RecordPrimitives> {
 public:
  explicit RecordPrimitives(Program& program) : program_(&program) {}

  template <Primitive kPrimitive>
  void step(int chunk) {
    add(kPrimitive, chunk);
  }

 private:
  void add(Primitive primitive, int chunk);
  Program* program_;
};

/// The task's program.
Program record(const ChannelTask& task);

/// Calls visit(primitive, chunk) for each step of one loop, in order.
template <typename Visit>
void for_each_step(const Program& program, Visit&& visit) {
  for (const StepRun& run : program.steps) {
    std::int32_t chunk = run.first_chunk;
    for (std::int32_t i = 0; i < run.repeat; ++i) {
      visit(run.primitive, chunk);
      chunk = (chunk + run.stride) % program.chunks;
    }
  }
}

}  // namespace ringside
