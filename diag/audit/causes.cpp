#include "diag/audit/causes.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "diag/audit/finding_types.h"

namespace ringside::audit {
namespace {

/// What may follow from what, the likeliest cause first.
struct Arrow {
  std::string_view effect, cause;
  Forced forces = Forced::Nothing;  ///< of a cause that is a variable: what it decides
};
constexpr std::array kArrows{
    Arrow{"socket_fallback", "plugin_missing"},
    Arrow{"socket_fallback", "plugin_incompatible"},
    Arrow{"socket_fallback", "net_init_error"},
    Arrow{"socket_fallback", "no_rdma_device"},
    Arrow{"socket_fallback", "ib_device_unusable"},
    Arrow{"socket_fallback", "env_override", Forced::NoRdma},
    Arrow{"no_rdma_device", "ib_device_unusable"},
    Arrow{"plugin_missing", "plugin_incompatible"},
    Arrow{"gdr_missing", "env_override", Forced::GdrReach},
    Arrow{"no_rdma_device", "plugin_missing"},
    Arrow{"no_rdma_device", "plugin_incompatible"},
    Arrow{"shm_fallback", "p2p_disabled"},
    Arrow{"few_channels", "p2p_disabled"},
    Arrow{"few_channels", "env_override", Forced::Channels},
    Arrow{"few_channels", "socket_fallback"},
    Arrow{"asymmetric_config", "no_rdma_device"},
    Arrow{"asymmetric_config", "version_mismatch"},
    Arrow{"gdr_missing", "topology_file"},
    Arrow{"few_channels", "topology_file"},
    Arrow{"low_bandwidth", "topology_file"},
    Arrow{"low_bandwidth", "socket_fallback"},
    Arrow{"low_bandwidth", "gdr_missing"},
    Arrow{"low_bandwidth", "p2p_disabled"},
    Arrow{"low_bandwidth", "nvlink_missing"},
    Arrow{"low_bandwidth", "few_channels"},
    Arrow{"low_bandwidth", "single_nic"},
    Arrow{"truncated_table", "pcie_acs"},
    Arrow{"truncated_table", "plugin_crash"},
    Arrow{"truncated_table", "net_init_error"},
    Arrow{"truncated_table", "benchmark_without_mpi"},
    Arrow{"truncated_table", "rccl_system_setting"},
    Arrow{"cuda_error", "nvls_unavailable"},
    Arrow{"cuda_error", "mnnvl_unavailable"},
    Arrow{"cuda_error", "xid_error"},
    Arrow{"cuda_error", "ipc_failed"},
    Arrow{"bootstrap_failure", "version_mismatch"},
    Arrow{"net_unreachable", "wrong_interface"},
    Arrow{"bootstrap_failure", "wrong_interface"},
    Arrow{"bootstrap_failure", "net_unreachable"},
    Arrow{"bootstrap_failure", "fd_limit"},
    Arrow{"bootstrap_failure", "process_limit"},
    Arrow{"system_error", "process_limit"},
    Arrow{"remote_closed", "process_limit"},
    Arrow{"gid_index", "ib_error"},
    Arrow{"ib_error", "link_flap"},
    Arrow{"ib_error", "nic_failover"},
    Arrow{"ib_error", "hang_dead_rank"},
    Arrow{"ib_error", "pcie_acs"},
    Arrow{"hang_dead_rank", "xid_error"},
    Arrow{"hang_dead_rank", "cuda_error"},
    Arrow{"hang_dead_rank", "shm_exhausted"},
    Arrow{"collective_timeout", "version_mismatch"},
    Arrow{"collective_timeout", "xid_error"},
    Arrow{"collective_timeout", "hang_dead_rank"},
    Arrow{"collective_timeout", "hang_shape_mismatch"},
    Arrow{"collective_timeout", "hang_op_mismatch"},
    Arrow{"collective_timeout", "hang_diverged_rank"},
    Arrow{"collective_timeout", "hang_slow_rank"},
    Arrow{"collective_timeout", "mismatched_collective"},
    Arrow{"collective_timeout", "link_flap"},
    Arrow{"collective_timeout", "ib_error"},
    Arrow{"collective_timeout", "pcie_acs"},
    Arrow{"collective_timeout", "cuda_error"},
    Arrow{"collective_timeout", "hang_network_stall"},
    Arrow{"collective_timeout", "bootstrap_failure"},
    Arrow{"store_timeout", "hang_dead_rank"},
    Arrow{"remote_closed", "hang_dead_rank"},
    Arrow{"remote_closed", "xid_error"},
    Arrow{"remote_closed", "link_flap"},
    Arrow{"remote_closed", "ib_error"},
    Arrow{"remote_closed", "cuda_error"},
    Arrow{"remote_closed", "collective_timeout"},
    Arrow{"remote_closed", "bootstrap_failure"},
    Arrow{"remote_closed", "memlock_limit"},
    Arrow{"net_init_error", "plugin_missing"},
    Arrow{"net_init_error", "verbs_provider_missing"},
    Arrow{"plugin_missing", "verbs_provider_missing"},
    Arrow{"system_error", "net_init_error"},
    Arrow{"system_error", "ib_device_unusable"},
    Arrow{"socket_fallback", "verbs_provider_missing"},
    Arrow{"no_rdma_device", "verbs_provider_missing"},
    // What a host lacks stands above the connections that fail for want of it.
    Arrow{"remote_closed", "shm_exhausted"},
    Arrow{"remote_closed", "fd_limit"},
    Arrow{"remote_closed", "gid_index"},
    Arrow{"remote_closed", "duplicate_gpu"},
    Arrow{"remote_closed", "efa_rails_differ"},
    Arrow{"net_unreachable", "fd_limit"},
    Arrow{"net_unreachable", "memlock_limit"},
    Arrow{"ib_error", "memlock_limit"},
    Arrow{"bootstrap_failure", "shm_exhausted"},
    Arrow{"bootstrap_failure", "cuda_error"},
    Arrow{"bootstrap_failure", "duplicate_gpu"},
    Arrow{"net_unreachable", "cuda_error"},
    Arrow{"net_unreachable", "shm_exhausted"},
    Arrow{"store_timeout", "cuda_error"},
    Arrow{"store_timeout", "shm_exhausted"},
    Arrow{"store_timeout", "duplicate_gpu"},
    Arrow{"collective_timeout", "shm_exhausted"},
    Arrow{"collective_timeout", "memlock_limit"},
    Arrow{"collective_timeout", "gid_index"},
    Arrow{"collective_timeout", "efa_rails_differ"},
};

bool stops_the_job(const Finding& finding) {
  const FindingType* type = finding_type(finding.id);
  return finding.severity == Severity::Error && type != nullptr && type->effect == Effect::Stops;
}

constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

/// Results that do not come are the end of whatever else stops the job.
bool is_outcome(std::string_view id) { return id == "truncated_table"; }

/// The finding that `effect` follows from: the first arrow whose cause was found, and matters as much.
std::size_t cause_of(const std::vector<Finding>& findings, std::size_t effect) {
  for (const Arrow& arrow : kArrows) {
    if (!is_a(findings[effect].id, arrow.effect)) continue;
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (!is_a(findings[i].id, arrow.cause) || i == effect) continue;
      if (findings[i].severity == Severity::Info) continue;
      if (findings[i].forces != arrow.forces) continue;
      return i;
    }
  }
  if (!is_outcome(findings[effect].id)) return kNobody;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (i != effect && stops_the_job(findings[i]) && !is_outcome(findings[i].id)) return i;
  }
  return kNobody;
}

}  // namespace

std::vector<Finding> order_by_cause(std::vector<Finding> findings) {
  std::vector<std::size_t> parent(findings.size(), kNobody);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const std::size_t cause = cause_of(findings, i);
    // The table has no circles; the same id twice could make one.
    std::size_t at = cause;
    while (at != kNobody && at != i) at = parent[at];
    if (at != i) parent[i] = cause;
  }
  // A cause matters as much as the worst that follows from it.
  using Weight = std::pair<Severity, bool>;  // and whether it stops the job
  std::vector<Weight> weight;
  for (const Finding& finding : findings)
    weight.emplace_back(finding.severity, stops_the_job(finding));
  for (std::size_t i = 0; i < findings.size(); ++i) {
    for (std::size_t at = parent[i]; at != kNobody; at = parent[at])
      weight[at] = std::max(weight[at], Weight(findings[i].severity, stops_the_job(findings[i])));
  }
  std::vector<std::size_t> roots;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (parent[i] == kNobody) roots.push_back(i);
  }
  std::stable_sort(roots.begin(), roots.end(),
                   [&](std::size_t a, std::size_t b) { return weight[a] > weight[b]; });

  std::vector<Finding> ordered;
  std::vector<std::size_t> place(findings.size(), kNobody);
  const auto put = [&](const auto& self, std::size_t index) -> void {
    place[index] = ordered.size();
    ordered.push_back(findings[index]);
    if (parent[index] != kNobody) ordered.back().caused_by = place[parent[index]];
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (parent[i] == index) self(self, i);
    }
  };
  for (const std::size_t root : roots) put(put, root);
  return ordered;
}

}  // namespace ringside::audit
