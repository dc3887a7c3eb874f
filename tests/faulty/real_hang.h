#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/faults/fault.h"
#include "harness/hangs/program.h"

namespace ringside {

/// A healthy program, its fault on real ranks, and the culprits.
struct RealHang {
  std::uint64_t seed = 0;
  std::string workload;
  hangs::Program program;
  FaultPlan plan;
  std::vector<int> culprits;  ///< empty: no culprit
};

/// Draws a hang from the seed: kinds of faults alternate; workloads, ranks, calls and the like are drawn.
RealHang draw_real_hang(std::uint64_t seed, int nranks = 8);

/// The answer of `ringside hang` to the dumps of one run.
struct RealVerdict {
  std::string kind;
  std::vector<int> culprits;
  double confidence = 0;
  std::string why;
  std::string error;  ///< the error that the run ended with; empty: it succeeded
  double run_s = 0;   ///< of the run, and of looking at its dumps
  double examine_s = 0;
  [[nodiscard]] bool names_healthy(const RealHang& hang) const;
};

/// Runs it with real processes, which write their dumps into `folder` (created and emptied first), and examines the
/// dumps.
///
/// errors  as hang::examine()
Result<RealVerdict> run_and_examine(const RealHang& hang, const std::string& folder,
                                    double timeout_s);

}  // namespace ringside
