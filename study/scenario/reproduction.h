#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/examine.h"
#include "harness/scenario/scenario.h"

/// Builds a scenario from the evidence of a hung job. The scenario hangs in the same place.
namespace ringside::study {

/// A scenario that reproduces a hang, made from its evidence.
struct Reproduction {
  Scenario scenario;  ///< expects the verdict on the evidence
  hang::Explanation original;
  /// The evidence includes an ncclras report, which a replay may lack.
  bool has_ncclras = false;
  /// Texts about information missing in the evidence that was assumed or omitted.
  std::vector<std::string> unknown;
};

/// Builds the scenario from the last calls that all members made, each rank's own calls after them,
/// and a fault for each rank that stopped, at the call that others wait in. A rank without evidence
/// is stopped, or killed if the verdict says that it died; a rank that was computing stalls; a rank
/// that was elsewhere throws.
///
/// keep    maximum number of calls per rank before the first that differs or does not end
/// errors  InvalidArgument: no dumps with sequences of calls; no rank waits; the difference (peers
///         of transfers, roots) is not recorded
Result<Reproduction> reproduction_of(const hang::Examination& evidence, int keep = 24);

}  // namespace ringside::study
