#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "harness/hangs/outline.h"
#include "harness/scenario/workload.h"

namespace ringside::workload {

/// Puts a workload's outline together, step by step.
class StepWriter {
 public:
  StepWriter(int ranks, std::span<const ParallelDimension> dimensions);

  /// So many tokens in an iteration, of all ranks: trained on, or written.
  void takes(double tokens) { outline_.tokens = tokens; }

  /// A second division of the same ranks.
  void add_groups(std::span<const ParallelDimension> dimensions) {
    add_parallel_groups(dimensions, outline_);
  }

  [[nodiscard]] int family(std::string_view name) const;
  /// The same groups once more, so that their calls do not wait for the others'.
  int copy_family(int family, const char* name);

  /// From here on steps are those of one rank of each group of the family; none: of all.
  void only(std::optional<hangs::OutlineStep::Place> at) { at_ = at; }

  void kernel(Nanoseconds time);
  void call(hangs::Op op, int family, std::int64_t count, DataType type, bool is_async = false);
  /// The one end of a transfer that the place of only() has. What follows on the GPU waits for what it receives.
  void transfer(int family, int from, int to, std::int64_t count,
                DataType type = DataType::Bfloat16);
  /// Each rank to the next one of its group.
  void shift(int family, std::int64_t count, DataType type, bool is_async = false);
  void join();
  /// For the calls of those groups alone.
  void join(int family);
  void synchronize();

  hangs::Outline take() { return std::move(outline_); }

 private:
  void add(hangs::OutlineStep step);

  hangs::Outline outline_;
  std::optional<hangs::OutlineStep::Place> at_;
  int bundles_ = 0;
};

}  // namespace ringside::workload
