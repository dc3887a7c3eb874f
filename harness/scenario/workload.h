#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "harness/hangs/outline.h"

/// What a training step is made of, by formulas: groups, kernels, calls.
namespace ringside {

/// One dimension of parallelism; ranks next to each other differ in the first.
struct ParallelDimension {
  std::string
      name;  ///< of its groups: tensor, pipeline, data; empty: it only counts, and makes none
  int size = 1;
};

/// Adds the groups of each dimension: ranks that differ in it alone.
/// shape  the sizes' product is the outline's ranks
void add_parallel_groups(std::span<const ParallelDimension> dimensions, hangs::Outline& outline);

/// A transformer, with the properties that its steps depend on.
struct TransformerShape {
  std::string_view name;
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int ffn = 0;       ///< width of one of the feed-forward matrices
  int matrices = 3;  ///< of the feed-forward: 3 where it is gated (SwiGLU), else 2
  int vocabulary = 0;
  int experts = 0;  ///< of a layer, that tokens are routed to; 0: none
  int top_k = 0;    ///< of them, that one token goes to
  int expert_ffn = 0;
  int shared_experts = 0;  ///< that every token goes to
  int dense_layers = 0;    ///< the first ones, which have no experts
  double attention = 0;    ///< weights of a layer's; 0: four matrices, two of them of kv_heads
  int scores = 0;          ///< half of the channels of queries and of values; 0: as many as hidden
  std::string_view source = {};

  [[nodiscard]] double attention_weights() const;  ///< of one layer
  [[nodiscard]] double feed_forward_weights() const;
  [[nodiscard]] double layer_weights() const;   ///< of one without experts
  [[nodiscard]] double expert_weights() const;  ///< of one expert
  /// What of a layer with experts every rank has: attention, router, shared experts.
  [[nodiscard]] double common_weights() const;
  [[nodiscard]] double weights() const { return weights_with(experts); }  ///< and both embeddings
  /// That one token meets.
  [[nodiscard]] double active_weights() const { return weights_with(top_k); }
  [[nodiscard]] int score_width() const { return scores > 0 ? scores : hidden; }
  /// Channels of a token's keys and values together, as attention reads them.
  [[nodiscard]] double key_value_width() const;

 private:
  [[nodiscard]] double weights_with(int experts_of_layer) const;
};
std::span<const TransformerShape> known_transformers();
/// errors  InvalidArgument: unknown; the nearest is named
Result<TransformerShape> find_transformer(std::string_view name);

using WorkloadKeys = std::map<std::string, std::string, std::less<>>;

/// Makes the Error for an invalid key of a workload, or for all of it (an empty key). The reader of the workload adds
/// the place.
using BadKey =
    std::function<Error(std::string_view key, const std::string& what, const std::string& help)>;
/// `what` alone.
Error bad_key(std::string_view key, const std::string& what, const std::string& help);

/// One row of the table of workloads.
struct WorkloadKind {
  std::string_view name;
  std::string_view what;
  std::vector<std::string_view> keys;  ///< all, its own first
};
std::span<const WorkloadKind> workload_kinds();

/// Bytes that one GPU needs in a training step.
struct MemoryNeed {
  int stage = 0;  ///< of the pipeline
  double weights = 0, gradients = 0, optimizer = 0, activations = 0;

  [[nodiscard]] double total() const { return weights + gradients + optimizer + activations; }
};

/// The GPU of a PCI device id (vendor 10de), as the key `gpu` names it; empty: its rates are not known.
std::string_view training_gpu_name(std::uint16_t device_id);

/// What a training workload asks of its GPUs.
struct TrainingFacts {
  MemoryNeed memory;      ///< of the rank that needs most
  std::string gpu;        ///< by its name; empty: given by numbers
  double gpu_memory = 0;  ///< bytes of one GPU; 0: unknown
  double gpu_flops = 0;   ///< peak of one GPU, in a second
  /// Of one step on all ranks, forward and backward. Recomputation does not count, and attention's causal mask leaves
  /// half of the pairs of tokens.
  double model_flops = 0;
  std::vector<std::string> notes = {};  ///< on how the layout divides the model
};

/// returns  none: of inference
/// errors   as make_workload(); InvalidArgument: a step needs more memory than its GPU has, unless the workload says
///          `check_memory: no`
Result<std::optional<TrainingFacts>> training_facts(std::string_view kind, const WorkloadKeys& keys,
                                                    const BadKey& bad = bad_key);

/// A training step, or a batch of inference, as a program.
/// errors  InvalidArgument, by `bad`: an unknown workload or key (the nearest is named), a value that cannot be meant
Result<hangs::Outline> make_workload(std::string_view kind, const WorkloadKeys& keys,
                                     const BadKey& bad = bad_key);

}  // namespace ringside
