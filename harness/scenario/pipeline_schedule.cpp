#include "harness/scenario/pipeline_schedule.h"

#include <algorithm>

namespace ringside::workload {

std::vector<PipelinePass> pipeline_schedule(int stage, const PipelineShape& shape) {
  const auto [stages, chunks, microbatches] = shape;
  const int passes = microbatches * chunks;
  const auto forward = [&](int i) { return PipelinePass{false, i % (stages * chunks) / stages}; };
  const auto backward = [&](int i) { return PipelinePass{true, chunks - 1 - forward(i).chunk}; };
  // A microbatch returns to this stage for its next chunk after `stages` passes; the gradients of the last chunk
  // travel to the last stage and back.
  const int behind = stages - stage - 1;
  const int ahead = chunks == 1 ? behind : 2 * behind + (chunks - 1) * stages;
  const int filling = std::min(ahead, passes);
  std::vector<PipelinePass> all;
  for (int i = 0; i < filling; ++i) all.push_back(forward(i));
  for (int i = filling; i < passes; ++i) {
    all.push_back(forward(i));
    all.push_back(backward(i - filling));
  }
  for (int i = passes - filling; i < passes; ++i) all.push_back(backward(i));
  return all;
}

}  // namespace ringside::workload
