#pragma once

#include <vector>

namespace ringside::workload {

/// One pass of a microbatch through one chunk of a stage's layers.
struct PipelinePass {
  bool is_backward = false;
  int chunk = 0;

  friend bool operator==(const PipelinePass&, const PipelinePass&) = default;
};

/// The size of a pipeline-parallel step.
struct PipelineShape {
  int stages = 1;
  /// Chunks of layers per stage: chunk c of stage s is part c x stages + s of the model.
  int chunks = 1;
  int microbatches = 1;  ///< if chunks > 1, a multiple of the stages
};

/// Returns the passes of a stage in one step: first enough forwards to fill the pipeline, then one
/// forward and one backward alternately, at last the remaining backwards. With several chunks,
/// groups of `stages` microbatches go through the first chunk, then through the next; backward
/// starts with the last chunk.
/// source  Narayanan et al. 2021, Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, 2.2:
///         1F1B, and its interleaved form
std::vector<PipelinePass> pipeline_schedule(int stage, const PipelineShape& shape);

}  // namespace ringside::workload
