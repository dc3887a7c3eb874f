#include "harness/scenario/megatron.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/scenario/step_writer.h"
#include "harness/scenario/training.h"

namespace ringside::workload {
namespace {

using hangs::Op;
using hangs::Outline;
using hangs::OutlineStep;

struct Sizes {
  int tensor = 1, pipeline = 1, data = 1, microbatches = 1;
  bool has_sequence_parallel = false, has_zero = false;
  int expert = 1;       ///< ranks that share the experts of a layer out
  double capacity = 0;  ///< of an expert, in shares of an even split of the tokens; 0: what comes
  DataType dispatched = DataType::Bfloat16;
};

class Megatron {
 public:
  Megatron(const Training& training, const Sizes& sizes)
      : training_(training),
        model_(training.model),
        sizes_(sizes),
        writer_(sizes.tensor * sizes.data * sizes.pipeline,
                std::vector<ParallelDimension>{
                    {"tensor", sizes.tensor}, {"data", sizes.data}, {"pipeline", sizes.pipeline}}) {
    if (model_.experts > 0) {
      // Experts divide the ranks of a stage in their own way.
      // source  Liu et al. 2025, MoE Parallel Folding
      writer_.add_groups(std::vector<ParallelDimension>{
          {"expert", sizes.expert}, {"expert_data", sizes.tensor * sizes.data / sizes.expert}});
    }
    tensor_ = writer_.family("tensor");
    data_ = writer_.family("data");
    pipeline_ = writer_.family("pipeline");
    expert_ = writer_.family("expert");
    expert_data_ = writer_.family("expert_data");
    backward_ = writer_.copy_family(pipeline_, "pipeline_backward");
  }

  /// One forward and one backward in turn, once the pipeline is full.
  /// source  Narayanan et al. 2021, 2.2: PipeDream-Flush (1F1B)
  Outline run() {
    writer_.takes(training_.tokens() * sizes_.data * sizes_.microbatches);
    for (int stage = 0; stage < sizes_.pipeline; ++stage) {
      writer_.only(OutlineStep::Place{pipeline_, stage});
      const int ahead = std::min(sizes_.pipeline - stage - 1, sizes_.microbatches);
      for (int i = 0; i < ahead; ++i) forward(stage);
      for (int i = ahead; i < sizes_.microbatches; ++i) {
        forward(stage);
        backward(stage);
      }
      for (int i = 0; i < ahead; ++i) backward(stage);
      reduce_gradients(stage);
    }
    writer_.only(std::nullopt);
    writer_.join();
    writer_.synchronize();
    return writer_.take();
  }

 private:
  [[nodiscard]] int layers_of(int stage) const {
    return model_.layers / sizes_.pipeline + (stage < model_.layers % sizes_.pipeline ? 1 : 0);
  }
  [[nodiscard]] int first_layer_of(int stage) const {
    return stage * (model_.layers / sizes_.pipeline) +
           std::min(stage, model_.layers % sizes_.pipeline);
  }
  [[nodiscard]] bool has_experts(int layer) const {
    return model_.experts > 0 && layer >= model_.dense_layers;
  }
  /// Layers with experts among a stage's.
  [[nodiscard]] int expert_layers_of(int stage) const {
    int count = 0;
    for (int i = 0; i < layers_of(stage); ++i) count += has_experts(first_layer_of(stage) + i);
    return count;
  }

  /// What crosses between stages.
  [[nodiscard]] std::int64_t passed() const {
    return training_.activations() / (sizes_.has_sequence_parallel ? sizes_.tensor : 1);
  }

  /// Behind attention and behind the feed-forward, forward and backward alike. With sequence parallelism the same bytes
  /// in two halves.
  /// source  Shoeybi et al., Megatron-LM, 2019, 3; Korthikanti et al., Reducing Activation Recomputation, 2022, 4.2
  void reduce_activations() {
    if (sizes_.tensor == 1) return;
    const std::int64_t all = training_.activations();
    if (!sizes_.has_sequence_parallel) {
      writer_.call(Op::AllReduce, tensor_, all, DataType::Bfloat16);
      return;
    }
    writer_.call(Op::ReduceScatter, tensor_, all / sizes_.tensor, DataType::Bfloat16);
    writer_.call(Op::AllGather, tensor_, all / sizes_.tensor, DataType::Bfloat16);
  }

  void kernel(double work) { writer_.kernel(training_.time_of(work)); }

  void dense_layer(double times) {
    for (int part = 0; part < 2; ++part) {
      kernel(times * training_.layer_flops() / sizes_.tensor / 2);
      reduce_activations();
    }
  }

  /// Tokens of this rank, each once for every expert that it goes to. With a capacity every expert takes that many,
  /// padded; without, tokens are taken to be spread evenly.
  /// source  Lepikhin et al. 2020, GShard, 2.2; Fedus et al. 2021, Switch Transformers, (3): expert capacity =
  ///         tokens per batch / number of experts x capacity factor, here for top_k experts a token
  [[nodiscard]] double routed_tokens() const {
    const double tokens = training_.tokens() / sizes_.tensor * model_.top_k;
    if (sizes_.capacity == 0) return tokens;
    return model_.experts * std::ceil(tokens / model_.experts * sizes_.capacity);
  }

  /// To the experts, or back.
  void exchange(DataType type) {
    if (sizes_.expert == 1) return;
    // Each member gives each other one as much.
    const auto each =
        static_cast<std::int64_t>(std::ceil(routed_tokens() * model_.hidden / sizes_.expert));
    writer_.call(Op::AllToAll, expert_, each * sizes_.expert, type);
  }

  void attention(double times) {
    kernel(times * training_.attention_flops() / sizes_.tensor);
    reduce_activations();
  }

  /// What goes to the experts may be narrower than what comes back: forward the tokens, backward their gradients.
  /// source  DeepSeek-AI 2024, DeepSeek-V3 Technical Report, 3.3.3
  void experts(double times) {
    const double common = model_.hidden * static_cast<double>(model_.experts) +
                          model_.shared_experts * model_.expert_weights();
    kernel(times * training_.tokens() * 2 * common / sizes_.tensor);
    if (model_.shared_experts > 0) reduce_activations();
    exchange(sizes_.dispatched);
    kernel(times * routed_tokens() * 2 * model_.expert_weights());
    exchange(DataType::Bfloat16);
  }

  void layers(int stage, double times, bool is_backward) {
    const int first = first_layer_of(stage);
    for (int i = 0; i < layers_of(stage); ++i) {
      const int layer = is_backward ? first + layers_of(stage) - 1 - i : first + i;
      if (!has_experts(layer)) {
        dense_layer(times);
      } else if (is_backward) {
        experts(times);
        attention(times);
      } else {
        attention(times);
        experts(times);
      }
    }
  }

  void forward(int stage) {
    if (stage > 0) writer_.transfer(pipeline_, stage - 1, stage, passed());
    layers(stage, 1, false);
    if (stage + 1 == sizes_.pipeline) {
      kernel(training_.head_flops() / sizes_.tensor);
    } else {
      writer_.transfer(pipeline_, stage, stage + 1, passed());
    }
  }

  /// What goes back has a stream of its own: Megatron-LM posts both directions as one batch.
  void backward(int stage) {
    if (stage + 1 == sizes_.pipeline) {
      kernel(2 * training_.head_flops() / sizes_.tensor);
    } else {
      writer_.transfer(backward_, stage + 1, stage, passed());
    }
    if (training_.recomputes) layers(stage, 1, false);
    layers(stage, 2, true);
    if (stage > 0) writer_.transfer(backward_, stage, stage - 1, passed());
  }

  void reduce(int group, int members, double weights) {
    if (members == 1 || weights == 0) return;
    const auto own = std::llround(weights);
    if (!sizes_.has_zero) {
      writer_.call(Op::AllReduce, group, own, training_.gradients);
      return;
    }
    writer_.call(Op::ReduceScatter, group, own / members, training_.gradients);
    writer_.call(Op::AllGather, group, own / members, DataType::Bfloat16);
  }

  /// Of an expert over those ranks alone that have it, too.
  void reduce_gradients(int stage) {
    const int with_experts = expert_layers_of(stage);
    double weights = (layers_of(stage) - with_experts) * model_.layer_weights();
    if (with_experts > 0) weights += with_experts * model_.common_weights();
    const double embedding = static_cast<double>(model_.vocabulary) * model_.hidden;
    if (stage == 0) weights += embedding;
    if (stage + 1 == sizes_.pipeline) weights += embedding;
    reduce(data_, sizes_.data, weights / sizes_.tensor);
    if (with_experts == 0) return;
    reduce(expert_data_, sizes_.tensor * sizes_.data / sizes_.expert,
           with_experts * model_.expert_weights() * model_.experts / sizes_.expert);
  }

  const Training& training_;
  const TransformerShape& model_;
  const Sizes sizes_;
  StepWriter writer_;
  int tensor_ = 0, data_ = 0, pipeline_ = 0, expert_ = 0, expert_data_ = 0, backward_ = 0;
};

Result<Sizes> read_sizes(const Keys& keys, const Training& training) {
  Sizes sizes;
  RINGSIDE_TRY(sizes.tensor, keys.whole("tensor", 1, 1, 1024));
  RINGSIDE_TRY(sizes.pipeline, keys.whole("pipeline", 1, 1, training.model.layers));
  RINGSIDE_TRY(sizes.data, keys.whole("data", 1, 1, 65536));
  RINGSIDE_TRY(sizes.microbatches, keys.whole("microbatches", sizes.pipeline, 1, 4096));
  RINGSIDE_TRY(sizes.has_sequence_parallel, keys.yes("sequence_parallel", false));
  RINGSIDE_TRY(sizes.has_zero, keys.yes("zero", false));
  const std::int64_t ranks = std::int64_t{sizes.tensor} * sizes.pipeline * sizes.data;
  if (ranks > 65536 || ranks < 2) {
    return keys.bad("", fmt::format("{} ranks", ranks),
                    "tensor x pipeline x data must be 2 to 65536");
  }
  constexpr std::int64_t kMostParts = 1 << 18;  // each is some ten steps
  if (std::int64_t{training.model.layers} * sizes.microbatches > kMostParts) {
    return keys.bad(
        "microbatches",
        fmt::format("{} layers x {} microbatches", training.model.layers, sizes.microbatches),
        fmt::format("give {} of both together at most", kMostParts));
  }
  return sizes;
}

}  // namespace

Result<Outline> make_megatron(const Keys& keys) {
  RINGSIDE_TRY(const Training training, read_training(keys));
  RINGSIDE_TRY(const Sizes sizes, read_sizes(keys, training));
  return Megatron(training, sizes).run();
}

Result<Outline> make_moe(const Keys& keys) {
  RINGSIDE_TRY(const Training training, read_training(keys, true));
  RINGSIDE_TRY(Sizes sizes, read_sizes(keys, training));
  const int ranks = sizes.tensor * sizes.data;
  RINGSIDE_TRY(sizes.expert, keys.whole("expert", std::nullopt, 1, training.model.experts));
  if (ranks % sizes.expert != 0 || training.model.experts % sizes.expert != 0) {
    return keys.bad("expert",
                    fmt::format("{} experts of a layer over {} of {} ranks", training.model.experts,
                                sizes.expert, ranks),
                    "expert must divide the experts, and tensor x data");
  }
  if (sizes.tensor > 1 && !sizes.has_sequence_parallel) {
    // source  Megatron-LM, megatron/training/arguments.py
    return keys.bad("tensor", "experts beside tensor parallelism",
                    "each rank sends its own tokens: sequence_parallel: yes");
  }
  if (keys.has("capacity")) {
    RINGSIDE_TRY(sizes.capacity, keys.number("capacity", std::nullopt, 0.01, 1000));
  }
  RINGSIDE_TRY(sizes.dispatched, keys.type("dispatch", DataType::Bfloat16));
  return Megatron(training, sizes).run();
}

}  // namespace ringside::workload
