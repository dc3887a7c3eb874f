#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "harness/scenario/workload.h"

/// How the ranks of a workload can be split over tensor, pipeline and data parallelism.
///
/// A split keeps the number of ranks, the ranks of `context` and `expert`, and the sequences of a step (data x microbatches x
/// batch); the number of microbatches follows from it.
namespace ringside {

/// A split as text: `t8 p4 d16`. The workload's keys with it in their place.
/// errors  InvalidArgument: another text, a workload without tensor and pipeline, a split that changes the number of ranks or
///         does not divide the sequences of a step
Result<WorkloadKeys> with_layout(std::string_view kind, const WorkloadKeys& keys,
                                 const std::string& layout, const BadKey& bad = bad_key);

/// What a search found.
struct LayoutSearch {
  std::vector<std::string> fitting;  ///< splits, as with_layout() takes them
  int too_large = 0;                 ///< splits that divide, and do not fit into a GPU's memory
  std::string refusal = {};          ///< of the split that needs least memory, if none fits
};

/// All splits that divide and fit into the memory of a GPU: `tensor` divides the heads of keys and values and lies within
/// an NVLink domain, `pipeline` divides the layers.
/// gpus_per_domain  of an NVLink domain
/// errors           InvalidArgument: as with_layout(); the keys make no workload whatever the split is
Result<LayoutSearch> find_layouts(std::string_view kind, const WorkloadKeys& keys,
                                  int gpus_per_domain, const BadKey& bad = bad_key);

}  // namespace ringside
