#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "harness/hangs/outline.h"
#include "harness/scenario/workload.h"

namespace ringside::workload {

/// Builds the outline of a workload step by step.
class StepWriter {
 public:
  StepWriter(int ranks, std::span<const ParallelDimension> dimensions);

  /// Sets the tokens that all ranks train on or generate per iteration.
  void takes(double tokens) { outline_.tokens = tokens; }

  /// Adds the groups of a second division of the same ranks.
  void add_groups(std::span<const ParallelDimension> dimensions) {
    add_parallel_groups(dimensions, outline_);
  }

  /// Returns the index of a family.  shape  the outline has it
  [[nodiscard]] int family(std::string_view name) const;
  /// Adds a copy of a family's groups, so that their calls do not wait for the original's calls.
  int copy_family(int family, const char* name);

  /// Restricts later steps to one rank of each group of a family; none: all ranks.
  void only(std::optional<hangs::OutlineStep::Place> at) { at_ = at; }

  void kernel(Nanoseconds time);
  void call(hangs::Op op, int family, std::int64_t count, DataType type, bool is_async = false);
  /// Adds one end of a transfer, for the place of only(). Later GPU work waits for the received
  /// data.
  void transfer(int family, int from, int to, std::int64_t count,
                DataType type = DataType::Bfloat16);
  /// Adds a send of each rank to the next one of its group.
  void shift(int family, std::int64_t count, DataType type, bool is_async = false);
  void join();
  /// Waits only for the calls of that family.
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
