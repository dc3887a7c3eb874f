#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "diag/audit/finding.h"
#include "harness/probe/machine.h"

namespace ringside::probe {

/// Properties that all hosts of a job should share, as (name, value) in a fixed order.
using Traits = std::vector<std::pair<std::string, std::string>>;

/// Returns the traits of a machine.
Traits traits_of(const Machine& machine);

/// One rank's report about its host.
struct HostReport {
  std::string host;
  std::string identity;  ///< equal for ranks of one host
  Traits traits = {};
  std::vector<audit::Finding> findings = {};
};

/// Encodes a report as one line of JSON, which parse_report() decodes.
std::string to_message(const HostReport& report);

/// Decodes a report of to_message().
/// errors  Corrupt: not a report, or one of another version
Result<HostReport> parse_report(const std::string& text);

/// Keeps one report per host: that of its first rank.
std::vector<HostReport> one_a_host(const std::vector<HostReport>& ranks);

/// A property in which hosts differ.
struct Difference {
  std::string trait;
  std::string usual = {};                                     ///< value of most hosts
  std::vector<std::pair<std::string, std::string>> odd = {};  ///< other hosts, with their values
  /// No value has more hosts than each other one, so no host is the odd one.
  bool is_split = false;
};

/// Returns the traits in which the hosts differ.
std::vector<Difference> compare(const std::vector<HostReport>& hosts);

/// Returns the differences as findings (asymmetric_config, version_mismatch).
std::vector<audit::Finding> judge_hosts(const std::vector<HostReport>& hosts);

}  // namespace ringside::probe
