#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/examine.h"
#include "harness/scenario/scenario.h"

/// From the evidence of a hung job, makes a scenario that hangs in the same place.
namespace ringside::study {

struct Reproduction {
  Scenario scenario;  ///< expects the verdict on the evidence
  hang::Explanation original;
  bool has_ncclras =
      false;  ///< the evidence has an ncclras report: a replay with one has more evidence
  std::vector<std::string>
      unknown;  ///< information missing in the evidence, which was invented or omitted
};

/// The last calls that all members made, then each rank's own calls, and faults where ranks stopped, at the call that
/// others wait in. A rank without evidence is stopped, or killed if the verdict is that it died; a rank that computed
/// stalls, a rank that is elsewhere throws.
///
/// keep    calls of each rank before the first that differs or does not end, at most
/// errors  InvalidArgument: no dumps, so no sequences of calls; no rank waits; the difference (peers of transfers,
///         roots) is not recorded
Result<Reproduction> reproduction_of(const hang::Examination& evidence, int keep = 24);

}  // namespace ringside::study
