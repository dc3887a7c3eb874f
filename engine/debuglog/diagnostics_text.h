#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// The messages of NCCL 2.31's diagnostics, which NCCL_DEBUG does not affect, without prefix.
/// source  docs/formats D.6, ecosystem-facts 2.6
namespace ringside {

/// The data that the RAS network collects about each rank of a communicator.
struct RankDiagnosis {
  std::string gpu = {};  ///< the GPU's model
  int gpus = 0;          ///< number of GPUs of its host
  int driver = 0;        ///< CUDA version that the driver supports, such as 13010
  int nvlinks = 0;       ///< number of NVLinks of its GPU
  std::map<std::string, std::string> variables = {};  ///< NCCL_*
};

/// NCCL_RUN_RAS_DIAGNOSTICS=1: returns the lines of all checks, which the first rank prints at the end of the
/// initialisation.
/// ranks  [rank], at least one
/// unit   time_ms: ms
std::vector<std::string> ras_diagnostics_text(std::uint64_t comm_id,
                                              const std::vector<RankDiagnosis>& ranks,
                                              double time_ms);

/// Returns the lines of the check of variables only, for ranks without a GPU.
/// ranks   ranks that answered
/// nranks  size of the communicator
std::vector<std::string> environment_diagnostics_text(std::uint64_t comm_id,
                                                      const std::vector<RankDiagnosis>& ranks,
                                                      int nranks);

/// NCCL_RUN_DIAGNOSTICS=1: GPUs that copy to each other, each pair in both directions.
/// verified  edges that were tested
/// indirect  edges that lead through another GPU, which are not tested
std::vector<std::string> diagnostics_text(int verified, int indirect, int nranks, double time_ms);

}  // namespace ringside
