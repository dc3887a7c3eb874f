#include "engine/collectives/record.h"

namespace ringside {

void RecordPrimitives::add(Primitive primitive, int chunk) {
  const std::int32_t n = program_->chunks;
  if (!program_->steps.empty() && program_->steps.back().primitive == primitive) {
    StepRun& run = program_->steps.back();
    const std::int64_t last = (run.first_chunk + std::int64_t{run.stride} * (run.repeat - 1)) % n;
    const auto stride = static_cast<std::int32_t>((chunk - last + n) % n);
    if (run.repeat == 1) run.stride = stride;
    if (run.stride == stride) {
      ++run.repeat;
      return;
    }
  }
  program_->steps.push_back({primitive, chunk, 0, 1});
}

Program record(const ChannelTask& task) {
  Program program{task.map.loops(), task.map.chunks(), {}};
  RecordPrimitives primitives(program);
  run_loop(primitives, task);
  return program;
}

}  // namespace ringside
