#pragma once

#include <map>
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
  std::string name;  ///< of its groups: tensor, pipeline, data
  int size = 1;
};

/// Adds the groups of each dimension: ranks that differ in it alone.
/// shape  the sizes' product is the outline's ranks
void add_parallel_groups(std::span<const ParallelDimension> dimensions, hangs::Outline& outline);

/// A transformer, as far as its steps depend on it.
struct TransformerShape {
  std::string_view name;
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  int ffn = 0;       ///< width of one of the feed-forward matrices
  int matrices = 3;  ///< of the feed-forward: 3 where it is gated (SwiGLU), else 2
  int vocabulary = 0;
  std::string_view source = {};

  /// Of one layer: weights of attention and feed-forward.
  [[nodiscard]] double layer_weights() const;
  [[nodiscard]] double weights() const;  ///< all, with both embeddings
};
std::span<const TransformerShape> known_transformers();
/// errors  InvalidArgument: unknown; the nearest is named
Result<TransformerShape> find_transformer(std::string_view name);

using WorkloadKeys = std::map<std::string, std::string, std::less<>>;

/// One row of the table of workloads.
struct TrainingKind {
  std::string_view name;
  std::string_view what;
  std::vector<std::string_view> keys;
};
std::span<const TrainingKind> training_kinds();

/// A training step as a program.
/// errors  InvalidArgument: an unknown workload or key (the nearest is named), a value that cannot be meant
Result<hangs::Outline> make_training(std::string_view kind, const WorkloadKeys& keys);

}  // namespace ringside
