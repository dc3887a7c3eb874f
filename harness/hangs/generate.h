#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/hangs/hang_case.h"

namespace ringside::hangs {

/// Writes the files of one case into `folder`, which is made: the dumps that are left, the logs, and
/// truth.json.
///
/// errors  as make_empty_folder(): one that holds anything is refused.  System: it cannot be written
Status write_case(const HangCase& hang, const std::string& folder);

/// The same without the truth: what a job leaves.
/// errors  as write_case()
Status write_evidence(const HangCase& hang, const std::string& folder);

/// What a job leaves when some ranks never begin to start: the others' NCCL lines of a communicator whose creation
/// never completes.
/// errors  as write_case()
Status write_start_evidence(std::string name, Program program, const std::vector<int>& absent,
                            const std::string& folder);

struct GenerateOptions {
  CaseOptions each;
  int cases = 1;
  std::uint64_t seed = 1;
};

struct Generated {
  int cases = 0;
  std::int64_t files = 0;  ///< dumps and logs
  std::uint64_t bytes = 0;
  std::vector<std::string> truths;  ///< the truth.json of each case
};

/// Writes `cases` cases. One goes into `folder` itself, several into case-0000, case-0001, ... below it;
/// without a class in the options the classes alternate. Case i of seed s is the same whatever else
/// is made.
///
/// errors  as make_case and write_case; InvalidArgument: `folder` holds anything
Result<Generated> generate(const GenerateOptions& options, const std::string& folder);

/// The options of case `index`: its class, where none was asked for.
CaseOptions options_of(const GenerateOptions& options, int index);

}  // namespace ringside::hangs
