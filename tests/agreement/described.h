#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "engine/channels/job.h"
#include "tests/agreement/digest.h"
#include "tests/support/answer.h"

/// Jobs on nodes that this tree describes (presets, and tests/agreement/nodes/), each with a digest of NCCL's
/// decisions about it: one line of digests.txt. A clone has these lines but not the complete answers.
namespace ringside::oracle {

struct DescribedJob {
  std::string name = {};     ///< of the golden file
  std::string on = {};       ///< nodes and their numbers: `dgx-h100:2`, `dgx-h100:1,dgx-b200:1`
  int hosts_per_domain = 1;  ///< so many consecutive hosts share one NVLink domain
  bool collnet = false;      ///< NCCL_COLLNET_ENABLE=1
  std::string summary = {};  ///< explains the job to people
  std::array<Digest, kParts.size()> nccl = {};
};

/// Returns every line of digests.txt.
std::vector<DescribedJob> described_jobs();

/// Returns the job as a line of digests.txt.
std::string to_text(const DescribedJob& job);

/// Returns a golden file's job and NCCL's answer as one line, or nullopt if the tree does not describe its nodes.
std::optional<DescribedJob> describe(const std::string& name, const Json& golden);

/// Computes our own answer; throws where there is none.
Job solve(const DescribedJob& job);

/// Returns the part without the values that a description leaves open: the GUIDs of cards.
Json without_guids(Json part);

}  // namespace ringside::oracle
