#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "diag/audit/finding.h"
#include "harness/probe/compare.h"
#include "harness/probe/judge.h"
#include "harness/probe/machine.h"
#include "harness/probe/pairs.h"

/// Prints the results of `ringside probe`. Nothing here decides.
namespace ringside::cli {

struct ProbeStyle {
  int width = 100;
  bool has_colour = false;
};

std::string probe_text(const probe::Machine& machine, const probe::Plan& plan,
                       const ProbeStyle& style);
/// The hosts of a job: their ranks, and how they differ.
std::string hosts_text(const std::vector<probe::HostReport>& ranks, const ProbeStyle& style);
/// Bandwidth, and below or next to it latency: a row for each sender, shaded from slow to fast.
std::string pairs_text(const probe::PairMatrix& matrix, const ProbeStyle& style);
std::string probe_findings_text(const std::vector<audit::Finding>& findings,
                                const ProbeStyle& style);

/// schema  ringside.probe/1
Json probe_json(const probe::Machine& machine, const probe::Plan& plan,
                const std::vector<audit::Finding>& findings);
Json hosts_json(const std::vector<probe::HostReport>& ranks);
Json pairs_json(const probe::PairMatrix& matrix);
/// The core that each rank was bound to, or null.
Json cores_json(const probe::PairMatrix& matrix);

/// The matrix as a drawing: bandwidth left, latency right.
std::string pairs_svg(const probe::PairMatrix& matrix);

}  // namespace ringside::cli
