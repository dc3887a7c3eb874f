#include "api/job.h"

#include "engine/releases/releases.h"

namespace ringside {

study::JobOptions options_of(const JobRequest& job) {
  return {.on = job.on, .nodes = job.nodes, .set = job.set};
}

std::string release_of(const JobRequest& job) {
  return job.nccl.empty() ? std::string(kDefaultRelease) : job.nccl;
}

}  // namespace ringside
