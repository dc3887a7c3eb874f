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
  Scenario scenario;  ///< expects the verdict on the evidence, or that the job finishes
  hang::Explanation original;
  /// The evidence includes an ncclras report, which a replay may lack.
  bool has_ncclras = false;
  /// Texts about information missing in the evidence that was assumed or omitted.
  std::vector<std::string> unknown;
};

/// What to reproduce.
struct ReproductionRequest {
  int keep =
      24;  ///< maximum number of calls per rank before the first that differs or does not end
  bool is_healthy = false;  ///< only the calls that all members made: the job without its hang
};

/// Builds the scenario from the last calls that all members made, each rank's own calls after them,
/// and a fault for each rank that stopped, at the call that others wait in. A rank without evidence
/// is stopped, or killed if the verdict says that it died; a rank that was computing stalls; a rank
/// that was elsewhere throws.
///
/// errors  InvalidArgument: no dumps with sequences of calls; no rank waits; the difference (peers
///         of transfers, roots) is not recorded; is_healthy, and the first calls differ
Result<Reproduction> reproduction_of(const hang::Examination& evidence,
                                     const ReproductionRequest& request = {});

}  // namespace ringside::study
