#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "diag/audit/finding.h"
#include "harness/probe/compare.h"
#include "harness/probe/judge.h"
#include "harness/probe/machine.h"
#include "harness/probe/pairs.h"

/// Formats the results of `ringside probe`.
namespace ringside::cli {

/// The layout of the text.
struct ProbeStyle {
  int width = 100;
  bool has_colour = false;
};

std::string probe_text(const probe::Machine& machine, const probe::Plan& plan,
                       const ProbeStyle& style);
/// Returns the hosts of a job: their ranks, and their differences.
std::string hosts_text(const std::vector<probe::HostReport>& ranks, const ProbeStyle& style);
/// Returns tables of bandwidth and latency: one row per sender, shaded from slow to fast.
std::string pairs_text(const probe::PairMatrix& matrix, const ProbeStyle& style);
std::string probe_findings_text(const std::vector<audit::Finding>& findings,
                                const ProbeStyle& style);

/// schema  ringside.probe/1
Json probe_json(const probe::Machine& machine, const probe::Plan& plan,
                const std::vector<audit::Finding>& findings);
Json hosts_json(const std::vector<probe::HostReport>& ranks);
Json pairs_json(const probe::PairMatrix& matrix);
/// Returns for each rank the core that it was bound to, or null.
Json cores_json(const probe::PairMatrix& matrix);

/// Draws the matrix: bandwidth left, latency right.
std::string pairs_svg(const probe::PairMatrix& matrix);

}  // namespace ringside::cli
