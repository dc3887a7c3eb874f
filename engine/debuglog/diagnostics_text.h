#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// What the diagnostics of NCCL 2.31 print, whatever NCCL_DEBUG is: messages without prefix.
/// source  docs/formats D.6, ecosystem-facts 2.6
namespace ringside {

/// What the RAS network gathers of each rank of a communicator.
struct RankDiagnosis {
  std::string gpu = {};                               ///< its model
  int gpus = 0;                                       ///< of its host
  int driver = 0;                                     ///< version of CUDA that it supports: 13010
  int nvlinks = 0;                                    ///< of its GPU
  std::map<std::string, std::string> variables = {};  ///< NCCL_*
};

/// NCCL_RUN_RAS_DIAGNOSTICS=1: every check, as the first rank prints it at the end of the initialisation.
/// ranks  by rank, at least one
/// unit   time_ms: ms
std::vector<std::string> ras_diagnostics_text(std::uint64_t comm_id,
                                              const std::vector<RankDiagnosis>& ranks,
                                              double time_ms);

/// Of these checks, the one of the variables alone: of ranks without a GPU.
/// ranks   that answered
/// nranks  of the communicator
std::vector<std::string> environment_diagnostics_text(std::uint64_t comm_id,
                                                      const std::vector<RankDiagnosis>& ranks,
                                                      int nranks);

/// NCCL_RUN_DIAGNOSTICS=1: GPUs that copy to each other, each pair in both directions.
/// verified  edges that were tested
/// indirect  edges that lead through another GPU, which are not tested
std::vector<std::string> diagnostics_text(int verified, int indirect, int nranks, double time_ms);

}  // namespace ringside
