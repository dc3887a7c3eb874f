#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "diag/audit/finding_types.h"
#include "diag/audit/rules/rule.h"

namespace ringside::audit {
namespace {

/// The findings that may be the cause of a finding, the likeliest first.
struct Follows {
  std::string_view effect, causes;
  Forced forces = Forced::Nothing;  ///< if the cause is a variable: the choice that it forces
};

constexpr Follows kFollows[] = {
    {"socket_fallback",
     "plugin_missing plugin_incompatible net_init_error no_rdma_device ib_device_unusable"},
    {"socket_fallback", "env_override", Forced::NoRdma},
    {"no_rdma_device", "ib_device_unusable plugin_missing plugin_incompatible"},
    {"no_rdma_device", "env_override", Forced::NoRdma},
    {"plugin_missing", "plugin_incompatible verbs_provider_missing"},
    {"gdr_missing", "env_override", Forced::GdrReach},
    {"gdr_missing", "topology_file"},
    {"shm_fallback", "p2p_disabled"},
    {"few_channels", "p2p_disabled"},
    {"few_channels", "env_override", Forced::Channels},
    {"few_channels", "socket_fallback topology_file"},
    {"asymmetric_config", "no_rdma_device version_mismatch"},
    {"low_bandwidth",
     "topology_file socket_fallback gdr_missing p2p_disabled nvlink_missing few_channels "
     "single_nic"},
    {"truncated_table",
     "pcie_acs plugin_crash net_init_error benchmark_without_mpi rccl_system_setting"},
    {"cuda_error", "nvls_unavailable mnnvl_unavailable xid_error ipc_failed"},
    {"bootstrap_failure",
     "version_mismatch wrong_interface net_unreachable fd_limit process_limit shm_exhausted "
     "cuda_error duplicate_gpu"},
    {"net_unreachable", "wrong_interface fd_limit memlock_limit cuda_error shm_exhausted"},
    {"system_error", "process_limit net_init_error ib_device_unusable"},
    {"remote_closed",
     "process_limit hang_dead_rank xid_error link_flap ib_error cuda_error "
     "collective_timeout bootstrap_failure memlock_limit shm_exhausted fd_limit gid_index "
     "duplicate_gpu efa_rails_differ"},
    {"gid_index", "ib_error"},
    {"ib_error", "link_flap nic_failover hang_dead_rank pcie_acs memlock_limit"},
    {"hang_dead_rank", "xid_error cuda_error shm_exhausted"},
    {"collective_timeout",
     "version_mismatch xid_error hang_dead_rank hang_shape_mismatch hang_op_mismatch "
     "hang_diverged_rank hang_slow_rank mismatched_collective link_flap ib_error pcie_acs "
     "cuda_error hang_network_stall bootstrap_failure shm_exhausted memlock_limit gid_index "
     "efa_rails_differ"},
    {"store_timeout", "hang_dead_rank cuda_error shm_exhausted duplicate_gpu"},
    {"net_init_error", "plugin_missing verbs_provider_missing"},
};

bool stops_the_job(const Finding& finding) {
  const FindingType* type = finding_type(finding.id);
  return finding.severity == Severity::Error && type != nullptr && type->effect == Effect::Stops;
}

constexpr std::size_t kNoCause = static_cast<std::size_t>(-1);

/// Returns whether the finding is the outcome of whatever stopped the job, such as missing results.
bool is_outcome(std::string_view id) { return id == "truncated_table"; }

/// Returns the cause of `effect`: the first of its possible causes that was found as more than a note.
std::size_t cause_of(const std::vector<Finding>& findings, std::size_t effect) {
  for (const Follows& row : kFollows) {
    if (!is_a(findings[effect].id, row.effect)) continue;
    for (std::string_view rest = row.causes; !rest.empty();) {
      const std::string_view cause = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(cause.size() + 1, rest.size()));
      for (std::size_t i = 0; i < findings.size(); ++i) {
        const Finding& one = findings[i];
        if (i != effect && is_a(one.id, cause) && one.severity != Severity::Info &&
            one.forces == row.forces)
          return i;
      }
    }
  }
  if (!is_outcome(findings[effect].id)) return kNoCause;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (i != effect && stops_the_job(findings[i]) && !is_outcome(findings[i].id)) return i;
  }
  return kNoCause;
}

}  // namespace

std::vector<Finding> order_by_cause(std::vector<Finding> findings) {
  std::vector<std::size_t> parent(findings.size(), kNoCause);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const std::size_t cause = cause_of(findings, i);
    // The table has no cycles, but an id that is found twice could make one.
    std::size_t at = cause;
    while (at != kNoCause && at != i) at = parent[at];
    if (at != i) parent[i] = cause;
  }
  // A cause is as severe as its worst consequence.
  using Weight = std::pair<Severity, bool>;  // and whether it stops the job
  std::vector<Weight> weight;
  for (const Finding& finding : findings)
    weight.emplace_back(finding.severity, stops_the_job(finding));
  for (std::size_t i = 0; i < findings.size(); ++i) {
    for (std::size_t at = parent[i]; at != kNoCause; at = parent[at])
      weight[at] = std::max(weight[at], Weight(findings[i].severity, stops_the_job(findings[i])));
  }
  std::vector<std::size_t> roots;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (parent[i] == kNoCause) roots.push_back(i);
  }
  std::stable_sort(roots.begin(), roots.end(),
                   [&](std::size_t a, std::size_t b) { return weight[a] > weight[b]; });

  std::vector<Finding> ordered;
  std::vector<std::size_t> place(findings.size(), kNoCause);
  const auto put = [&](const auto& self, std::size_t index) -> void {
    place[index] = ordered.size();
    ordered.push_back(findings[index]);
    ordered.back().caused_by.reset();
    if (parent[index] != kNoCause) ordered.back().caused_by = place[parent[index]];
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (parent[i] == index) self(self, i);
    }
  };
  for (const std::size_t root : roots) put(put, root);
  return ordered;
}

}  // namespace ringside::audit
