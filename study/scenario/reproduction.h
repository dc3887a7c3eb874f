#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/examine.h"
#include "harness/scenario/scenario.h"

/// From what a job that hung has left, a scenario that hangs in the same place.
namespace ringside::study {

struct Reproduction {
  Scenario scenario;  ///< expects the verdict on the evidence
  hang::Explanation original;
  bool has_ncclras =
      false;  ///< a report of it is among the evidence: a replay that asks for one knows more
  std::vector<std::string>
      unknown;  ///< what the evidence does not say, and was made up or left out
};

/// The last calls that all members made, then what each rank made of its own, and faults where ranks stopped, at the call
/// that others wait in: one that left nothing is stopped, or killed if the verdict says that it died; one that computed
/// stalls, one that is elsewhere throws.
///
/// keep    calls of each rank before the first that differs or does not end, at most
/// errors  InvalidArgument: no dumps, so no sequences of calls; nobody waits; what differed (peers of transfers, roots) is
///         not recorded
Result<Reproduction> reproduction_of(const hang::Examination& evidence, int keep = 24);

}  // namespace ringside::study
