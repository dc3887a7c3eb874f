#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/vocabulary.h"
#include "harness/scenario/pipeline_schedule.h"
#include "harness/scenario/training.h"
#include "harness/scenario/workload_keys.h"

namespace ringside::workload {

/// The layers of one chunk on one pipeline stage.
struct LayerPart {
  int stage = 0;
  int chunk = 0;
};

/// The weights on one rank.
struct StageWeights {
  double common = 0;  ///< attention, feed-forwards, embeddings: replicated over data x context
  double experts = 0;
};

bool layer_has_experts(const TransformerShape& model, int layer);

/// The division of a model over ranks by Megatron.
struct MegatronLayout {
  int tensor = 1, context = 1, pipeline = 1, data = 1, microbatches = 1;
  int chunks = 1;  ///< chunks of layers per stage; part c x pipeline + s is chunk c of stage s
  bool has_sequence_parallel = false, has_zero = false;
  bool has_ring = false;      ///< keys and values are sent around `context` in a ring, not gathered
  bool is_scattered = false;  ///< activations between stages are divided over the ranks of `tensor`
  int expert = 1;             ///< number of ranks that share the experts of a layer
  double capacity = 0;  ///< capacity of an expert relative to an even split of tokens; 0: no limit
  DataType dispatched = DataType::Bfloat16;

  /// Returns the number of ranks of one stage.
  [[nodiscard]] int stage_ranks() const { return tensor * context * data; }
  /// Returns the number of ranks with the same weights.
  [[nodiscard]] int replicas() const { return context * data; }
  [[nodiscard]] PipelineShape schedule() const {
    return {.stages = pipeline, .chunks = chunks, .microbatches = microbatches};
  }

  /// Returns the index of a part in the order of the layers.
  [[nodiscard]] int place_of(LayerPart part) const { return part.chunk * pipeline + part.stage; }
  [[nodiscard]] int parts() const { return pipeline * chunks; }
  /// layers  number of layers of the whole model
  [[nodiscard]] int layers_of(LayerPart part, int layers) const;
  [[nodiscard]] int first_layer_of(LayerPart part, int layers) const;

  /// Returns the tokens of one rank, each counted once per expert that it is sent to. With a
  /// capacity, every expert receives that many tokens, padded; without one, tokens are assumed to
  /// be spread evenly.
  /// source  Lepikhin et al. 2020, GShard, 2.2; Fedus et al. 2021, Switch Transformers, (3): expert capacity =
  ///         tokens per batch / number of experts x capacity factor, here for top_k experts a token
  [[nodiscard]] double routed_tokens(const Training& training) const;

  [[nodiscard]] StageWeights weights_of(int stage, const TransformerShape& model) const;
};

/// Reads the layout of workload megatron, or of moe if the model has experts.
/// errors  InvalidArgument: a value out of range, or sizes that do not fit each other
Result<MegatronLayout> read_megatron_layout(const Keys& keys, const Training& training);

}  // namespace ringside::workload
