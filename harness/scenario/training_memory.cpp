#include "harness/scenario/training_memory.h"

#include <algorithm>

#include "harness/scenario/pipeline_schedule.h"

namespace ringside::workload {
namespace {

constexpr double kBfloat16 = 2;  ///< bytes

double gradient_bytes(const Training& training) {
  return static_cast<double>(size_of(training.gradients).value);
}

/// Bytes per token and layer that are stored until backward.
struct TokenBytes {
  double whole = 0;  ///< stored by every tensor-parallel rank, unless sequence_parallel splits them
  double split = 0;  ///< always split among the tensor-parallel ranks
};

/// Whole: the inputs of two norms, of the matrices of queries, keys and values, and of the feed-forward network.
/// Split: queries, keys, values, the input of attention's output matrix; outputs of the first feed-forward matrices
/// and the input of the last one.
TokenBytes layer_bytes(const TransformerShape& model, double ffn) {
  return {.whole = kBfloat16 * 4 * model.hidden,
          .split = kBfloat16 *
                   (2.0 * model.score_width() + model.key_value_width() + model.matrices * ffn)};
}

/// Returns the bytes of one layer and one microbatch on one rank.
double layer_activations(const Training& training, const MegatronLayout& layout, bool has_experts) {
  const TransformerShape& model = training.model;
  const double tokens = training.tokens() / layout.context;
  const double norms_split = layout.has_sequence_parallel ? layout.tensor : 1;
  const double ffn = has_experts ? static_cast<double>(model.shared_experts) * model.expert_ffn
                                 : static_cast<double>(model.ffn);
  const TokenBytes bytes = layer_bytes(model, ffn);
  double sum = tokens * (bytes.whole / norms_split + bytes.split / layout.tensor);
  if (has_experts) {
    // An expert's input and output, and the data within it as in a feed-forward network.
    sum += layout.routed_tokens(training) * kBfloat16 *
           (2.0 * model.hidden + model.matrices * static_cast<double>(model.expert_ffn));
  }
  return sum;
}

/// Returns the bytes of a layer's input, which is all that full recomputation stores.
double layer_input(const Training& training, const MegatronLayout& layout) {
  const double split = layout.has_sequence_parallel ? layout.tensor : 1;
  return kBfloat16 * static_cast<double>(training.activations()) / layout.context / split;
}

/// Returns the bytes of the final norm, the input of the output matrix, and the logits as float.
double head_activations(const Training& training, const MegatronLayout& layout) {
  const double split = layout.has_sequence_parallel ? layout.tensor : 1;
  const double tokens = training.tokens() / layout.context;
  return tokens * (2 * kBfloat16 * training.model.hidden / split +
                   4.0 * training.model.vocabulary / layout.tensor);
}

/// Returns the largest amount that the stage's schedule stores at any time.
double peak_activations(const Training& training, const MegatronLayout& layout, int stage) {
  const TransformerShape& model = training.model;
  std::vector<double> of_chunk;
  double largest = 0;
  for (int chunk = 0; chunk < layout.chunks; ++chunk) {
    const LayerPart part{stage, chunk};
    double sum = 0;
    for (int i = 0; i < layout.layers_of(part, model.layers); ++i) {
      const int layer = layout.first_layer_of(part, model.layers) + i;
      const double whole = layer_activations(training, layout, layer_has_experts(model, layer));
      largest = std::max(largest, whole);
      sum += training.recomputes ? layer_input(training, layout) : whole;
    }
    if (layout.place_of(part) + 1 == layout.parts()) sum += head_activations(training, layout);
    of_chunk.push_back(sum);
  }
  double now = 0;
  double peak = 0;
  for (const PipelinePass& pass : pipeline_schedule(stage, layout.schedule())) {
    const double change = of_chunk[static_cast<std::size_t>(pass.chunk)];
    now += pass.is_backward ? -change : change;
    peak = std::max(peak, now);
  }
  return peak + (training.recomputes ? largest : 0);  // the layer that is currently recomputed
}

}  // namespace

MemoryNeed memory_of(const Training& training, const MegatronLayout& layout) {
  MemoryNeed most;
  for (int stage = 0; stage < layout.pipeline; ++stage) {
    const StageWeights own = layout.weights_of(stage, training.model);
    const double replicas = layout.has_zero ? layout.replicas() : 1;
    const double expert_replicas =
        layout.has_zero ? static_cast<double>(layout.stage_ranks()) / layout.expert : 1;
    const double weights = own.common + own.experts;
    const MemoryNeed need{.stage = stage,
                          .weights = kBfloat16 * weights,
                          .gradients = gradient_bytes(training) * weights,
                          .optimizer = training.optimizer_bytes *
                                       (own.common / replicas + own.experts / expert_replicas),
                          .activations = peak_activations(training, layout, stage)};
    if (need.total() > most.total()) most = need;
  }
  return most;
}

MemoryNeed memory_of_ddp(const Training& training) { return memory_of(training, {}); }

MemoryNeed memory_of_fsdp(const Training& training, int data, bool reshards) {
  const TransformerShape& model = training.model;
  MemoryNeed need = memory_of_ddp(training);
  const double embeddings = 2.0 * model.vocabulary * model.hidden;
  const int gathered = reshards ? std::min(2, model.layers) : model.layers;
  need.weights = need.weights / data + kBfloat16 * (embeddings + gathered * model.layer_weights());
  // One layer's gradients are complete until they are scattered.
  need.gradients = need.gradients / data + gradient_bytes(training) * model.layer_weights();
  need.optimizer /= data;
  return need;
}

}  // namespace ringside::workload
