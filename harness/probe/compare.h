#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "diag/audit/finding.h"
#include "harness/probe/machine.h"

namespace ringside::probe {

/// What hosts of one job should have alike: a name and a value each, in a fixed order.
using Traits = std::vector<std::pair<std::string, std::string>>;
Traits traits_of(const Machine& machine);

/// What one rank reports of its host.
struct HostReport {
  std::string host;
  std::string identity;  ///< equal for ranks of one host
  Traits traits = {};
  std::vector<audit::Finding> findings = {};
};

/// One line of JSON for rank 0, and back.
std::string to_message(const HostReport& report);
/// errors  Corrupt
Result<HostReport> parse_report(const std::string& text);

/// One report a host: of several ranks on one, the first's.
std::vector<HostReport> one_a_host(const std::vector<HostReport>& ranks);

/// A trait in which hosts differ.
struct Difference {
  std::string trait;
  std::string usual = {};                                     ///< what most have
  std::vector<std::pair<std::string, std::string>> odd = {};  ///< host and its value
  bool is_split = false;  ///< no value has more hosts than each other one: no host is the odd one
};
std::vector<Difference> compare(const std::vector<HostReport>& hosts);

/// The same as findings (asymmetric_config, version_mismatch).
std::vector<audit::Finding> judge_hosts(const std::vector<HostReport>& hosts);

}  // namespace ringside::probe
