#include "diag/audit/rules/hca_filter.h"

#include <fmt/format.h>

#include <algorithm>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

void find_empty_filter(const JobFacts& facts, Findings& findings) {
  const Setting* filter = facts.setting("NCCL_IB_HCA");
  const auto none = facts.net_devices.find({"IB", std::string()});
  if (filter == nullptr || none == facts.net_devices.end()) return;
  const bool is_some_found = std::any_of(
      facts.net_devices.begin(), facts.net_devices.end(),
      [](const auto& entry) { return entry.first.first == "IB" && !entry.first.second.empty(); });
  if (is_some_found) return;
  Finding& finding =
      findings.add("no_rdma_device", is_size_unknown(facts) ? Severity::Warning : Severity::Info,
                   fmt::format("NCCL_IB_HCA={} lets no RDMA device through", filter->value));
  findings.quote(finding, none->second);
  finding.evidence.mix(filter->evidence);
  finding.confidence = Confidence::Medium;
  finding.cause =
      "no device of this host has a name that the variable lists, or it has none at all: NCCL then "
      "takes TCP between hosts";
  finding.fix =
      "ibdev2netdev; ibv_devinfo -l   # the names that are there; NCCL_IB_HCA takes prefixes, "
      "`=name` for a whole name, `^` to leave out; or unset it";
}

}  // namespace ringside::audit
