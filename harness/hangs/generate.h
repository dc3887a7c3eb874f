#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/hangs/hang_case.h"

namespace ringside::hangs {

/// Writes the files of one case: the dumps and logs that are not lost, and truth.json. Creates the
/// folder.
///
/// errors  as make_empty_folder(): the folder is not empty.  System: write error
Status write_case(const HangCase& hang, const std::string& folder);

/// Writes the dumps and logs without truth.json.
/// errors  as write_case()
Status write_evidence(const HangCase& hang, const std::string& folder);

/// Writes the evidence of a job in which some ranks never start: the other ranks' NCCL lines of a
/// communicator whose creation never completes.
/// errors  as write_case()
Status write_start_evidence(std::string name, Program program, const std::vector<int>& absent,
                            const std::string& folder);

/// What generate() writes.
struct GenerateOptions {
  CaseOptions each;        ///< options of every case
  int cases = 1;           ///< >= 1
  std::uint64_t seed = 1;  ///< of the set: case i has case_seed(seed, i)
};

/// Counts of what generate() has written.
struct Generated {
  int cases = 0;
  std::int64_t files = 0;  ///< dumps and logs
  std::uint64_t bytes = 0;
  std::vector<std::string> truths;  ///< the truth.json of each case
};

/// Writes `cases` cases: one case into `folder`, several into case-0000, case-0001, ... below it.
/// Without a class in the options, the classes alternate. Case i of a seed does not depend on the
/// other cases.
///
/// errors  as make_case and write_case; InvalidArgument: the folder is not empty
Result<Generated> generate(const GenerateOptions& options, const std::string& folder);

/// Returns the options of case `index`. If several cases are requested without a class, case i gets class i,
/// cyclically.
CaseOptions options_of(const GenerateOptions& options, int index);

}  // namespace ringside::hangs
