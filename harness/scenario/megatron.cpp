#include "harness/scenario/megatron.h"

#include <cmath>

#include "harness/scenario/megatron_layout.h"
#include "harness/scenario/pipeline_schedule.h"
#include "harness/scenario/step_writer.h"
#include "harness/scenario/training.h"

namespace ringside::workload {
namespace {

using hangs::Op;
using hangs::Outline;
using hangs::OutlineStep;

using Sizes = MegatronLayout;

/// Consecutive ranks share a layer, then a sequence.
/// source  Megatron Core, parallel_state: order tp-cp-ep-dp-pp
std::vector<ParallelDimension> dimensions_of(const Sizes& sizes) {
  std::vector<ParallelDimension> all{{"tensor", sizes.tensor}};
  if (sizes.context > 1) all.push_back({"context", sizes.context});
  all.push_back({"data", sizes.data});
  all.push_back({"pipeline", sizes.pipeline});
  return all;
}

class Megatron {
 public:
  Megatron(const Training& training, const Sizes& sizes)
      : training_(training),
        model_(training.model),
        sizes_(sizes),
        writer_(sizes.stage_ranks() * sizes.pipeline, dimensions_of(sizes)) {
    if (model_.experts > 0) {
      // Experts split the ranks of a stage in their own way.
      // source  Liu et al. 2025, MoE Parallel Folding
      writer_.add_groups(std::vector<ParallelDimension>{
          {"expert", sizes.expert}, {"expert_data", sizes.stage_ranks() / sizes.expert}});
    }
    if (sizes.context > 1) {
      writer_.add_groups(
          std::vector<ParallelDimension>{{"", sizes.tensor}, {"data_context", sizes.replicas()}});
      context_ = writer_.family("context");
    }
    tensor_ = writer_.family("tensor");
    replicas_ = writer_.family(sizes.context > 1 ? "data_context" : "data");
    pipeline_ = writer_.family("pipeline");
    expert_ = writer_.family("expert");
    expert_data_ = writer_.family("expert_data");
    backward_ = writer_.copy_family(pipeline_, "pipeline_backward");
    if (sizes.chunks > 1) {
      // A separate group from the last stage to the first, so that transfers that wait there delay no others.
      round_ = writer_.copy_family(pipeline_, "pipeline_round");
      round_backward_ = writer_.copy_family(pipeline_, "pipeline_round_backward");
    }
  }

  Outline run() {
    writer_.takes(training_.tokens() * sizes_.data * sizes_.microbatches);
    for (int stage = 0; stage < sizes_.pipeline; ++stage) {
      writer_.only(OutlineStep::Place{pipeline_, stage});
      for (const PipelinePass& pass : pipeline_schedule(stage, sizes_.schedule())) {
        const Part part{stage, pass.chunk};
        if (pass.is_backward) {
          backward(part);
        } else {
          forward(part);
        }
      }
      reduce_gradients(stage);
    }
    writer_.only(std::nullopt);
    writer_.join();
    writer_.synchronize();
    return writer_.take();
  }

 private:
  using Part = LayerPart;

  [[nodiscard]] bool is_first(Part part) const { return sizes_.place_of(part) == 0; }
  [[nodiscard]] bool is_last(Part part) const {
    return sizes_.place_of(part) + 1 == sizes_.parts();
  }
  [[nodiscard]] int layers_of(Part part) const { return sizes_.layers_of(part, model_.layers); }
  [[nodiscard]] int first_layer_of(Part part) const {
    return sizes_.first_layer_of(part, model_.layers);
  }
  [[nodiscard]] bool has_experts(int layer) const { return layer_has_experts(model_, layer); }

  /// Returns the elements between two layers, for one rank's part of a sequence.
  [[nodiscard]] std::int64_t activations() const {
    return training_.activations() / sizes_.context;
  }

  /// Returns the elements that are passed between stages.
  [[nodiscard]] std::int64_t passed() const {
    const bool is_part = sizes_.has_sequence_parallel || sizes_.is_scattered;
    return activations() / (is_part ? sizes_.tensor : 1);
  }

  /// Each tensor-parallel rank sends a part of the common data; the receivers gather the parts.
  /// source  Narayanan et al. 2021, Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM,
  ///         4.1
  void gather_passed() {
    if (sizes_.is_scattered) writer_.call(Op::AllGather, tensor_, passed(), DataType::Bfloat16);
  }

  /// Reduces after attention and after the feed-forward network, forward and backward alike. Sequence parallelism
  /// moves the same bytes in two halves.
  /// source  Shoeybi et al., Megatron-LM, 2019, 3; Korthikanti et al., Reducing Activation Recomputation, 2022, 4.2
  void reduce_activations() {
    if (sizes_.tensor == 1) return;
    const std::int64_t all = activations();
    if (!sizes_.has_sequence_parallel) {
      writer_.call(Op::AllReduce, tensor_, all, DataType::Bfloat16);
      return;
    }
    writer_.call(Op::ReduceScatter, tensor_, all / sizes_.tensor, DataType::Bfloat16);
    writer_.call(Op::AllGather, tensor_, all / sizes_.tensor, DataType::Bfloat16);
  }

  /// work  operations of all ranks that share the sequence
  void kernel(double work) { writer_.kernel(training_.time_of(work / sizes_.context)); }

  /// Returns the elements of keys and values of this rank's part of the sequence.
  [[nodiscard]] std::int64_t own_keys() const {
    const double own = training_.tokens() / sizes_.context * model_.key_value_width();
    return std::llround(own / sizes_.tensor);
  }

  /// Gathers or scatters this rank's part among all ranks that share the sequence.
  void exchange_keys(Op op) {
    if (sizes_.context > 1) writer_.call(op, context_, own_keys(), DataType::Bfloat16);
  }

  /// Every rank's queries use the keys of the whole sequence. Backward gathers the keys again, and scatters their
  /// gradients.
  /// source  Llama Team 2024, The Llama 3 Herd of Models, 3.3.2: context parallelism by all-gather
  void attend_to_all(double work, bool is_backward) {
    exchange_keys(Op::AllGather);
    kernel(work / sizes_.tensor);
    if (is_backward) exchange_keys(Op::ReduceScatter);
  }

  /// There are as many rounds as ranks that share the sequence. In each round a rank has the keys and values of
  /// another rank, and passes them on while it computes, except in the last round. Backward also passes their
  /// gradients on, one round later, and once more to their owner. Each round computes an equal part of the scores,
  /// because the sequence is distributed from both of its ends.
  /// source  Liu et al. 2023, Ring Attention with Blockwise Transformers for Near-Infinite Context, 3; Brandon et al.
  ///         2023, Striped Attention, 2
  void attend_round(double work, double scores, bool is_backward) {
    const int rounds = sizes_.context;
    kernel((work - scores) / sizes_.tensor);
    for (int round = 0; round < rounds; ++round) {
      const int keys = round + 1 < rounds ? 1 : 0;
      const int gradients = is_backward && round > 0 ? 1 : 0;
      if (keys + gradients > 0) {
        writer_.shift(context_, (keys + gradients) * own_keys(), DataType::Bfloat16, true);
      }
      kernel(scores / rounds / sizes_.tensor);
      writer_.join(context_);
    }
    if (is_backward) writer_.shift(context_, own_keys(), DataType::Bfloat16);
  }

  /// Each half of a layer is a kernel and the reduction after it.
  /// times  multiple of forward's operations
  void attention(double times, bool is_backward) {
    const double work = times * training_.attention_flops();
    if (sizes_.has_ring) {
      attend_round(work, times * training_.score_flops(), is_backward);
    } else {
      attend_to_all(work, is_backward);
    }
    reduce_activations();
  }

  void dense_layer(double times, bool is_backward) {
    if (!is_backward) attention(times, is_backward);
    kernel(times * (training_.layer_flops() - training_.attention_flops()) / sizes_.tensor);
    reduce_activations();
    if (is_backward) attention(times, is_backward);
  }

  [[nodiscard]] double routed_tokens() const { return sizes_.routed_tokens(training_); }

  /// Sends tokens to the experts, or back.
  void exchange(DataType type) {
    if (sizes_.expert == 1) return;
    // Each member sends the same amount to each other member.
    const auto each =
        static_cast<std::int64_t>(std::ceil(routed_tokens() * model_.hidden / sizes_.expert));
    writer_.call(Op::AllToAll, expert_, each * sizes_.expert, type);
  }

  /// Data to the experts may use a smaller type than data from them: tokens in forward, gradients in backward.
  /// source  DeepSeek-AI 2024, DeepSeek-V3 Technical Report, 3.3.3
  void experts(double times) {
    const double common = model_.hidden * static_cast<double>(model_.experts) +
                          model_.shared_experts * model_.expert_weights();
    kernel(times * training_.tokens() * 2 * common / sizes_.tensor);
    if (model_.shared_experts > 0) reduce_activations();
    exchange(sizes_.dispatched);
    writer_.kernel(training_.time_of(times * routed_tokens() * 2 * model_.expert_weights()));
    exchange(DataType::Bfloat16);
  }

  void layers(Part part, double times, bool is_backward) {
    const int first = first_layer_of(part);
    for (int i = 0; i < layers_of(part); ++i) {
      const int layer = is_backward ? first + layers_of(part) - 1 - i : first + i;
      if (!has_experts(layer)) {
        dense_layer(times, is_backward);
        continue;
      }
      if (is_backward) experts(times);
      attention(times, is_backward);
      if (!is_backward) experts(times);
    }
  }

  /// Backward transfers use their own streams: Megatron-LM posts both directions as one batch.
  enum class Way : std::uint8_t { Forward, Backward };

  /// Writes this part's end of a transfer from the previous part in the layers' order, or to it.
  void pass_before(Part part, Way way) {
    if (part.stage > 0) {
      transfer(way == Way::Forward ? pipeline_ : backward_, part.stage - 1, part.stage, way);
    } else if (part.chunk > 0) {
      transfer(way == Way::Forward ? round_ : round_backward_, sizes_.pipeline - 1, 0, way);
    }
  }
  /// Writes this part's end of a transfer with the next part.
  void pass_behind(Part part, Way way) {
    const bool goes_round = part.stage + 1 == sizes_.pipeline;
    if (!goes_round) {
      pass_before({part.stage + 1, part.chunk}, way);
    } else if (!is_last(part)) {
      pass_before({0, part.chunk + 1}, way);
    }
  }
  void transfer(int family, int before, int behind, Way way) {
    if (way == Way::Backward) std::swap(before, behind);
    writer_.transfer(family, before, behind, passed());
  }

  void forward(Part part) {
    pass_before(part, Way::Forward);
    if (!is_first(part)) gather_passed();
    layers(part, 1, false);
    if (is_last(part)) kernel(training_.head_flops() / sizes_.tensor);
    pass_behind(part, Way::Forward);
  }

  void backward(Part part) {
    pass_behind(part, Way::Backward);
    if (!is_last(part)) gather_passed();
    if (is_last(part)) kernel(2 * training_.head_flops() / sizes_.tensor);
    if (training_.recomputes) layers(part, 1, false);
    layers(part, 2, true);
    pass_before(part, Way::Backward);
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

  /// Gradients of an expert are reduced only among the ranks that have it too.
  void reduce_gradients(int stage) {
    const StageWeights weights = sizes_.weights_of(stage, model_);
    reduce(replicas_, sizes_.replicas(), weights.common);
    if (weights.experts == 0) return;
    reduce(expert_data_, sizes_.stage_ranks() / sizes_.expert, weights.experts);
  }

  const Training& training_;
  const TransformerShape& model_;
  const Sizes sizes_;
  StepWriter writer_;
  int tensor_ = 0, context_ = 0, replicas_ = 0, expert_ = 0, expert_data_ = 0;
  int pipeline_ = 0, backward_ = 0, round_ = 0, round_backward_ = 0;
};

}  // namespace

Result<Outline> make_megatron(const Keys& keys) {
  RINGSIDE_TRY(const Training training, read_training(keys));
  RINGSIDE_TRY(const Sizes sizes, read_megatron_layout(keys, training));
  return Megatron(training, sizes).run();
}

Result<Outline> make_moe(const Keys& keys) {
  RINGSIDE_TRY(const Training training, read_training(keys, true));
  RINGSIDE_TRY(const Sizes sizes, read_megatron_layout(keys, training));
  return Megatron(training, sizes).run();
}

}  // namespace ringside::workload
