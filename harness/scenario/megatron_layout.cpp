#include "harness/scenario/megatron_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ringside::workload {
namespace {

/// returns  whether keys and values are passed around a ring
Result<bool> read_exchange(const Keys& keys, int context) {
  const std::string* const word = keys.find("context_exchange");
  if (word == nullptr) return false;
  if (*word != "gather" && *word != "ring") {
    return keys.bad_value("context_exchange", "gather or ring");
  }
  if (context == 1) return keys.bad_value("context_exchange", "it is for several ranks of context");
  return *word == "ring";
}

Result<MegatronLayout> read_dense_layout(const Keys& keys, const Training& training) {
  MegatronLayout sizes;
  RINGSIDE_TRY(sizes.tensor, keys.whole("tensor", 1, 1, 1024));
  RINGSIDE_TRY(sizes.context, keys.whole("context", 1, 1, 1024));
  RINGSIDE_TRY(sizes.pipeline, keys.whole("pipeline", 1, 1, training.model.layers));
  RINGSIDE_TRY(sizes.chunks, keys.whole("chunks", 1, 1, training.model.layers));
  RINGSIDE_TRY(sizes.data, keys.whole("data", 1, 1, 65536));
  RINGSIDE_TRY(sizes.microbatches, keys.whole("microbatches", sizes.pipeline, 1, 4096));
  RINGSIDE_TRY(sizes.has_sequence_parallel, keys.yes("sequence_parallel", false));
  RINGSIDE_TRY(sizes.has_zero, keys.yes("zero", false));
  RINGSIDE_TRY(sizes.has_ring, read_exchange(keys, sizes.context));
  RINGSIDE_TRY(sizes.is_scattered, keys.yes("scatter_gather", false));
  if (sizes.is_scattered &&
      (sizes.has_sequence_parallel || sizes.tensor == 1 || sizes.pipeline == 1)) {
    return keys.bad_value("scatter_gather",
                          "it is for stages of several tensor ranks that have all activations: "
                          "leave it out, or sequence_parallel");
  }
  // source  Megatron-LM, megatron/training/arguments.py
  if (training.model.heads % sizes.tensor != 0) {
    return keys.bad_value("tensor",
                          fmt::format("it must divide the {} heads", training.model.heads));
  }
  const std::int64_t ranks =
      std::int64_t{sizes.tensor} * sizes.context * sizes.pipeline * sizes.data;
  if (ranks > 65536 || ranks < 2) {
    return keys.bad("", fmt::format("{} ranks", ranks),
                    "tensor x context x pipeline x data must be 2 to 65536");
  }
  // source  Megatron-LM: an interleaved schedule groups as many microbatches as there are stages
  if (sizes.chunks > 1 &&
      (sizes.pipeline == 1 || sizes.chunks > training.model.layers / sizes.pipeline ||
       sizes.microbatches % sizes.pipeline != 0)) {
    return keys.bad(
        "chunks",
        fmt::format("{} chunks of {} layers on each of {} stages, {} microbatches", sizes.chunks,
                    training.model.layers, sizes.pipeline, sizes.microbatches),
        "each chunk needs a layer, chunks need stages, and those divide the microbatches");
  }
  if (training.sequence % sizes.context != 0) {
    return keys.bad_value("context", "it must divide the sequence");
  }
  constexpr std::int64_t kMostParts = 1 << 18;  // each is about ten steps
  if (std::int64_t{training.model.layers} * sizes.microbatches > kMostParts) {
    return keys.bad(
        "microbatches",
        fmt::format("{} layers x {} microbatches", training.model.layers, sizes.microbatches),
        fmt::format("give {} of both together at most", kMostParts));
  }
  return sizes;
}

}  // namespace

bool layer_has_experts(const TransformerShape& model, int layer) {
  return model.experts > 0 && layer >= model.dense_layers;
}

int MegatronLayout::layers_of(LayerPart part, int layers) const {
  return layers / parts() + (place_of(part) < layers % parts() ? 1 : 0);
}

int MegatronLayout::first_layer_of(LayerPart part, int layers) const {
  return place_of(part) * (layers / parts()) + std::min(place_of(part), layers % parts());
}

double MegatronLayout::routed_tokens(const Training& training) const {
  const TransformerShape& model = training.model;
  const double tokens = training.tokens() / context / tensor * model.top_k;
  if (capacity == 0) return tokens;
  return model.experts * std::ceil(tokens / model.experts * capacity);
}

StageWeights MegatronLayout::weights_of(int stage, const TransformerShape& model) const {
  int all = 0;
  int with_experts = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const LayerPart part{stage, chunk};
    all += layers_of(part, model.layers);
    for (int i = 0; i < layers_of(part, model.layers); ++i) {
      with_experts += layer_has_experts(model, first_layer_of(part, model.layers) + i);
    }
  }
  double common = (all - with_experts) * model.layer_weights();
  if (with_experts > 0) common += with_experts * model.common_weights();
  const double embedding = static_cast<double>(model.vocabulary) * model.hidden;
  if (stage == 0) common += embedding;
  if (stage + 1 == pipeline) common += embedding;
  return {.common = common / tensor,
          .experts = with_experts > 0
                         ? with_experts * model.expert_weights() * model.experts / expert
                         : 0};
}

Result<MegatronLayout> read_megatron_layout(const Keys& keys, const Training& training) {
  RINGSIDE_TRY(MegatronLayout sizes, read_dense_layout(keys, training));
  if (training.model.experts == 0) return sizes;
  const int ranks = sizes.stage_ranks();
  RINGSIDE_TRY(sizes.expert, keys.whole("expert", std::nullopt, 1, training.model.experts));
  if (ranks % sizes.expert != 0 || training.model.experts % sizes.expert != 0) {
    return keys.bad("expert",
                    fmt::format("{} experts of a layer over {} of {} ranks", training.model.experts,
                                sizes.expert, ranks),
                    "expert must divide the experts, and tensor x context x data");
  }
  if (sizes.tensor > 1 && !sizes.has_sequence_parallel) {
    // source  Megatron-LM, megatron/training/arguments.py
    return keys.bad("tensor", "experts together with tensor parallelism",
                    "each rank sends its own tokens: sequence_parallel: yes");
  }
  if (keys.has("capacity")) {
    RINGSIDE_TRY(sizes.capacity, keys.number("capacity", std::nullopt, 0.01, 1000));
  }
  RINGSIDE_TRY(sizes.dispatched, keys.type("dispatch", DataType::Bfloat16));
  return sizes;
}

}  // namespace ringside::workload
