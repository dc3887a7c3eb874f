#include "harness/scenario/inference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/scenario/step_writer.h"
#include "harness/scenario/training.h"

namespace ringside::workload {
namespace {

using hangs::Op;
using hangs::Outline;
using hangs::OutlineStep;

constexpr std::array<std::string_view, 8> kInferenceKeys{
    "tensor", "pipeline",     "prompt",     "tokens",
    "batch",  "microbatches", "gpu_memory", "memory_efficiency"};
constexpr double kBytes = 2;  ///< bytes of a weight, an activation or a cached value: bfloat16

struct Serving {
  TransformerShape model;
  Gpu gpu;
  double bytes_per_second = 0;  ///< memory bandwidth that the GPU reaches
  int tensor = 1, pipeline = 1;
  int prompt = 0, tokens = 0;  ///< tokens of each request
  int batch = 0;               ///< requests that a stage processes together
  int microbatches = 1;        ///< such batches in progress
};

/// Writes the steps of inference. Prefill is limited by computing, decode by reading: each token reads every weight,
/// and the keys and values of all tokens before it.
/// source  Pope et al. 2022, Efficiently Scaling Transformer Inference, 2.1 and 3.2; Shoeybi et al. 2019, 3, for the
///         two all-reduces per layer, the one of the embedding, and the split vocabulary
class Inference {
 public:
  explicit Inference(const Serving& serving)
      : serving_(serving),
        model_(serving.model),
        writer_(serving.tensor * serving.pipeline,
                std::vector<ParallelDimension>{{"tensor", serving.tensor},
                                               {"pipeline", serving.pipeline}}),
        tensor_(writer_.family("tensor")),
        pipeline_(writer_.family("pipeline")),
        back_(writer_.copy_family(pipeline_, "next_token")) {}

  Outline run() {
    writer_.takes(static_cast<double>(serving_.batch) * serving_.microbatches * serving_.tokens);
    for (int stage = 0; stage < serving_.pipeline; ++stage) {
      writer_.only(OutlineStep::Place{pipeline_, stage});
      for (int token = 0; token < serving_.tokens; ++token) {
        for (int i = 0; i < serving_.microbatches; ++i) pass(stage, token);
      }
    }
    writer_.only(std::nullopt);
    writer_.join();
    writer_.synchronize();
    return writer_.take();
  }

 private:
  /// Writes the pass of one output token; the pass of the first token processes the whole prompt.
  void pass(int stage, int token) {
    const double fed = serving_.batch * (token == 0 ? serving_.prompt : 1.0);
    const double before = token == 0 ? 0 : serving_.prompt + token - 1.0;
    const auto activations = static_cast<std::int64_t>(fed) * model_.hidden;
    const int last = serving_.pipeline - 1;
    if (stage > 0) {
      writer_.transfer(pipeline_, stage - 1, stage, activations);
    } else {
      if (token > 0 && last > 0) {
        writer_.transfer(back_, last, 0, serving_.batch, DataType::Int64);
      }
      reduce(activations);  // for the embedding, whose vocabulary is split
    }
    const int layers =
        model_.layers / serving_.pipeline + (stage < model_.layers % serving_.pipeline ? 1 : 0);
    for (int layer = 0; layer < layers; ++layer) {
      attention(fed, before);
      reduce(activations);
      work(2 * fed * model_.feed_forward_weights(), kBytes * model_.feed_forward_weights());
      reduce(activations);
    }
    if (stage < last) {
      writer_.transfer(pipeline_, stage, stage + 1, activations);
      return;
    }
    // Only the last tokens need logits.
    const double head = static_cast<double>(model_.vocabulary) * model_.hidden;
    work(2.0 * serving_.batch * head, kBytes * head);
    if (serving_.tensor > 1) {
      const auto part = static_cast<std::int64_t>(serving_.batch) *
                        ((model_.vocabulary + serving_.tensor - 1) / serving_.tensor);
      writer_.call(Op::AllGather, tensor_, part, DataType::Bfloat16);
    }
    if (last > 0 && token + 1 < serving_.tokens) {
      writer_.transfer(back_, last, 0, serving_.batch, DataType::Int64);
    }
  }

  /// before  cached tokens of each request
  void attention(double fed, double before) {
    const double weights = model_.attention_weights();
    // A causal mask leaves half of the prompt's pairs.
    const double seen = before > 0 ? before + 1 : serving_.prompt / 2.0;
    const double head_width = static_cast<double>(model_.hidden) / model_.heads;
    // If there are fewer key-value heads than ranks, several ranks store the same heads.
    const double kv_heads = std::max(model_.kv_heads, serving_.tensor);
    const double cached = 2 * serving_.batch * before * kv_heads * head_width;
    work(2 * fed * weights + 4 * fed * seen * model_.hidden, kBytes * (weights + cached));
  }

  /// Takes the longer of computing and reading; the tensor-parallel ranks share both.
  void work(double flops, double bytes) {
    const double time =
        std::max(flops / serving_.gpu.flops, bytes / serving_.bytes_per_second) / serving_.tensor;
    writer_.kernel(std::chrono::round<Nanoseconds>(Seconds{time}));
  }

  void reduce(std::int64_t activations) {
    if (serving_.tensor > 1) writer_.call(Op::AllReduce, tensor_, activations, DataType::Bfloat16);
  }

  const Serving& serving_;
  const TransformerShape& model_;
  StepWriter writer_;
  const int tensor_, pipeline_, back_;
};

}  // namespace

std::span<const std::string_view> inference_keys() { return kInferenceKeys; }

Result<Outline> make_inference(const Keys& keys) {
  Serving serving;
  RINGSIDE_TRY(serving.model, read_model(keys, false));
  RINGSIDE_TRY(serving.gpu, read_gpu(keys));
  if (serving.gpu.bytes_per_second == 0) {
    RINGSIDE_TRY(const double gbs, keys.number("gpu_memory", std::nullopt, 0.001, 1e6));
    serving.gpu.bytes_per_second = gbs * 1e9;
  } else {
    RINGSIDE_TRY(keys.lacks(std::array<std::string_view, 1>{"gpu_memory"},
                            "the GPU's name defines it: remove one of them"));
  }
  RINGSIDE_TRY(const double reached, keys.number("memory_efficiency", std::nullopt, 0.001, 1));
  serving.bytes_per_second = serving.gpu.bytes_per_second * reached;
  RINGSIDE_TRY(serving.tensor, keys.whole("tensor", 1, 1, 1024));
  RINGSIDE_TRY(serving.pipeline, keys.whole("pipeline", 1, 1, serving.model.layers));
  RINGSIDE_TRY(serving.prompt, keys.whole("prompt", std::nullopt, 1, 1 << 24));
  RINGSIDE_TRY(serving.tokens, keys.whole("tokens", std::nullopt, 1, 1 << 16));
  RINGSIDE_TRY(serving.batch, keys.whole("batch", 1, 1, 1 << 16));
  RINGSIDE_TRY(serving.microbatches, keys.whole("microbatches", serving.pipeline, 1, 4096));
  const std::int64_t ranks = std::int64_t{serving.tensor} * serving.pipeline;
  if (ranks < 2 || ranks > 65536) {
    return keys.bad("", fmt::format("{} ranks", ranks), "tensor x pipeline must be 2 to 65536");
  }
  constexpr std::int64_t kMostParts = 1 << 18;  // each is about four steps
  const std::int64_t parts =
      std::int64_t{serving.model.layers} * serving.tokens * serving.microbatches;
  if (parts > kMostParts) {
    return keys.bad("tokens",
                    fmt::format("{} layers x {} tokens x {} microbatches", serving.model.layers,
                                serving.tokens, serving.microbatches),
                    fmt::format("give {} of them together at most", kMostParts));
  }
  return Inference(serving).run();
}

}  // namespace ringside::workload
