#pragma once

#include <string>
#include <vector>

#include "diag/audit/finding.h"
#include "harness/probe/machine.h"

namespace ringside::probe {

/// Collects findings about one machine.
class Verdicts {
 public:
  explicit Verdicts(const Machine& machine) : host_(machine.host) {}

  /// Adds a finding about this machine.
  /// id  an id of diag/audit/finding_types.h
  void add(const char* id, audit::Severity severity, std::string title, std::string cause,
           std::string fix);

  /// Returns the findings, worst first; equally severe ones in the order of add().
  std::vector<audit::Finding> take();

 private:
  std::string host_;
  std::vector<audit::Finding> all_;
};

}  // namespace ringside::probe
