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

/// Builds training steps and inference from formulas: groups, kernels, calls.
namespace ringside {

/// One dimension of parallelism. Adjacent ranks differ in the first dimension.
/// Name of its groups: tensor, pipeline, data; empty: the dimension has no groups.
struct ParallelDimension {
  std::string name;
  int size = 1;
};

/// Adds the groups of each dimension: each group holds the ranks that differ only in it.
/// shape  the product of the sizes is the outline's number of ranks
void add_parallel_groups(std::span<const ParallelDimension> dimensions, hangs::Outline& outline);

/// The properties of a transformer that its steps depend on.
struct TransformerShape {
  std::string_view name;
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int ffn = 0;       ///< width of a feed-forward matrix
  int matrices = 3;  ///< feed-forward matrices: 3 if gated (SwiGLU), else 2
  int vocabulary = 0;
  int experts = 0;  ///< routed experts per layer; 0: none
  int top_k = 0;    ///< routed experts per token
  int expert_ffn = 0;
  int shared_experts = 0;  ///< experts that every token uses
  int dense_layers = 0;    ///< number of first layers without experts
  /// Attention weights per layer; 0: four matrices, two of them of kv_heads.
  double attention = 0;
  int scores = 0;  ///< half of the channels of queries and values; 0: `hidden`
  std::string_view source = {};

  [[nodiscard]] double attention_weights() const;  ///< per layer
  [[nodiscard]] double feed_forward_weights() const;
  [[nodiscard]] double layer_weights() const;   ///< weights of a layer without experts
  [[nodiscard]] double expert_weights() const;  ///< weights of one expert
  /// Returns the weights of an expert layer that every rank holds: attention, router, shared
  /// experts.
  [[nodiscard]] double common_weights() const;
  /// Includes both embeddings.
  [[nodiscard]] double weights() const { return weights_with(experts); }
  /// Returns the weights that one token uses.
  [[nodiscard]] double active_weights() const { return weights_with(top_k); }
  [[nodiscard]] int score_width() const { return scores > 0 ? scores : hidden; }
  /// Returns the channels of a token's keys and values together, as attention reads them.
  [[nodiscard]] double key_value_width() const;

 private:
  [[nodiscard]] double weights_with(int experts_of_layer) const;
};
std::span<const TransformerShape> known_transformers();
/// errors  InvalidArgument: unknown name; the message suggests the nearest one
Result<TransformerShape> find_transformer(std::string_view name);

using WorkloadKeys = std::map<std::string, std::string, std::less<>>;

/// Makes the Error about an invalid key of a workload, or about the whole workload (empty key). The
/// parser adds the file:line.
using BadKey =
    std::function<Error(std::string_view key, const std::string& what, const std::string& help)>;
/// Returns an error with `what` and `help`, without a place.
Error bad_key(std::string_view key, const std::string& what, const std::string& help);

/// One row of the table of workloads.
struct WorkloadKind {
  std::string_view name;
  std::string_view what;
  std::vector<std::string_view> keys;  ///< all keys, its own first
};
std::span<const WorkloadKind> workload_kinds();

/// The memory that one GPU needs for a training step, in bytes.
struct MemoryNeed {
  int stage = 0;  ///< pipeline stage
  double weights = 0, gradients = 0, optimizer = 0, activations = 0;

  [[nodiscard]] double total() const { return weights + gradients + optimizer + activations; }
};

/// The GPU of a PCI device id (vendor 10de), as the key `gpu` names it; empty: its rates are not known.
std::string_view training_gpu_name(std::uint16_t device_id);

/// The requirements of a training workload.
struct TrainingFacts {
  MemoryNeed memory;      ///< need of the rank that needs most
  std::string gpu;        ///< name; empty: given by numbers
  double gpu_memory = 0;  ///< bytes of one GPU; 0: unknown
  double gpu_flops = 0;   ///< peak FLOP/s of one GPU
  /// FLOPs of one step on all ranks, forward and backward. Recomputation is not counted. The causal
  /// mask halves the token pairs of attention.
  double model_flops = 0;
  std::vector<std::string> notes = {};  ///< texts about the division of the model
};

/// Computes the demands of a training workload.
/// returns  none for inference
/// errors   as make_workload(); InvalidArgument: a step needs more memory than its GPU has, unless
///          the workload sets `check_memory: no`
Result<std::optional<TrainingFacts>> training_facts(std::string_view kind, const WorkloadKeys& keys,
                                                    const BadKey& bad = bad_key);

/// Makes the program of a training step or of a batch of inference.
/// errors  InvalidArgument, made by `bad`: an unknown workload or key (with the nearest known one),
///         an invalid value
Result<hangs::Outline> make_workload(std::string_view kind, const WorkloadKeys& keys,
                                     const BadKey& bad = bad_key);

}  // namespace ringside
