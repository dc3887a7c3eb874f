#pragma once

#include <string>
#include <vector>

#include "diag/audit/finding.h"
#include "harness/probe/machine.h"

namespace ringside::probe {

/// Findings about one machine, as they are collected.
class Verdicts {
 public:
  explicit Verdicts(const Machine& machine) : host_(machine.host) {}

  /// id  one of audit's
  void add(const char* id, audit::Severity severity, std::string title, std::string cause,
           std::string fix);

  /// Worst first, else as they came.
  std::vector<audit::Finding> take();

 private:
  std::string host_;
  std::vector<audit::Finding> all_;
};

}  // namespace ringside::probe
