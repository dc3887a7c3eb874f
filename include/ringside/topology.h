#pragma once

#include <ringside/export.h>
#include <ringside/job.h>
#include <ringside/result.h>

#include <string>
#include <vector>

namespace RINGSIDE_API ringside {

/// Returns the names of the built-in host descriptions, in alphabetical order, for JobRequest::on.
std::vector<std::string> preset_names();

/// The place of a rank in a tree.
struct TreePlace {
  int parent = -1;                 ///< -1: the rank is the root, or is not in the tree
  std::vector<int> children = {};  ///< the next rank of the chain within the node first
};

/// The structures that NCCL builds on a job's hardware.
struct JobTopology {
  int nodes = 0;
  int ranks = 0;
  int channels = 0;
  int nvls_channels = 0;                ///< 0: no NVSwitch that reduces
  std::vector<std::vector<int>> rings;  ///< [channel][position] = rank; each begins with rank 0
  std::vector<std::vector<TreePlace>> trees;  ///< [channel][rank]
};

/// errors  InvalidArgument, NotFound, Corrupt: the job's hosts or settings cannot be used
Result<JobTopology> load_topology(const JobRequest& job);

}  // namespace ringside
