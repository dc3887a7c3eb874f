#pragma once

#include <vector>

namespace ringside::workload {

/// One microbatch through one chunk of a stage's layers.
struct PipelinePass {
  bool is_backward = false;
  int chunk = 0;

  friend bool operator==(const PipelinePass&, const PipelinePass&) = default;
};

struct PipelineShape {
  int stages = 1;
  int chunks =
      1;  ///< of layers on each stage: chunk c of stage s is part c x stages + s of the model
  int microbatches = 1;  ///< a multiple of the stages, where there are several chunks
};

/// What a stage does in one step, in order: first as many forwards as fill the pipeline, then one forward and one backward
/// alternately, at last the backwards that are left. With several chunks a group of as many microbatches as there are stages goes
/// through the first chunk, then through the next; backward from the last chunk on.
/// source  Narayanan et al. 2021, Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, 2.2:
///         1F1B, and its interleaved form
std::vector<PipelinePass> pipeline_schedule(int stage, const PipelineShape& shape);

}  // namespace ringside::workload
