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

/// Returns the workload's keys with the layout `t8 p4 d16`, given as text.
/// errors  InvalidArgument: another text, a workload without tensor and pipeline, a layout that changes the number of
///         ranks or does not divide the sequences of a step
Result<WorkloadKeys> with_layout(std::string_view kind, const WorkloadKeys& keys,
                                 const std::string& layout, const BadKey& bad = bad_key);

/// The result of a search.
struct LayoutSearch {
  std::vector<std::string> fitting;  ///< layouts that fit, in the form that with_layout() takes
  int too_large = 0;                 ///< splits that divide, and do not fit into a GPU's memory
  std::string refusal = {};          ///< error for the layout that needs least memory, if none fits
};

/// Returns all layouts that divide the workload and fit into the memory of a GPU: `tensor` divides the key-value heads
/// and stays within an NVLink domain, `pipeline` divides the layers.
/// gpus_per_domain  GPUs of an NVLink domain
/// errors           InvalidArgument: as with_layout(); no layout makes the keys a valid workload
Result<LayoutSearch> find_layouts(std::string_view kind, const WorkloadKeys& keys,
                                  int gpus_per_domain, const BadKey& bad = bad_key);

}  // namespace ringside
