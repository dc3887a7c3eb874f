#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

using What = CapabilityFact::What;

bool has_unlimited_memlock(const JobFacts& facts) {
  return std::any_of(facts.capabilities.begin(), facts.capabilities.end(),
                     [](const CapabilityFact& fact) {
                       return fact.what == What::Memlock && fact.value == "unlimited";
                     });
}

bool has_no_nic_resources(const JobFacts& facts) {
  return !facts.plain_of(PlainLine::NicResources).evidence.empty();
}

/// Returns whether a port is active, and no line failed or names a port that is down.
bool has_ports_enough(const JobFacts& facts) {
  bool is_active = false, is_needed = false;
  for (const CapabilityFact& port : facts.capabilities) {
    if (port.what != What::Port) continue;
    is_active = is_active || port.value == "active";
    if (port.value == "active" || port.device.empty()) continue;
    for (const auto& [key, said] : facts.net_devices)
      is_needed = is_needed || contains(key.second, port.device);
    const Setting* filter = facts.setting("NCCL_IB_HCA");
    is_needed = is_needed || (filter != nullptr && contains(filter->value, port.device));
  }
  return is_active && !is_needed && !facts.has_failure();
}

/// Evidence in the text that contradicts a finding.
struct Refutation {
  std::string_view id;
  bool (*is_refuted)(const JobFacts& facts);
  /// The finding that replaces it: another finding, a note, or none (empty title).
  std::string_view new_id;
  Severity severity;
  std::string_view title, cause, fix;
};

constexpr Refutation kRefutations[] = {
    {"memlock_limit", has_no_nic_resources, "", Severity::Info, "", "", ""},
    {"memlock_limit", has_unlimited_memlock, "ib_error", Severity::Error,
     "memory cannot be registered with the NIC, and not because of the limit of locked memory: "
     "it is unlimited",
     "the adapter or its driver has no resources for it: its table of memory keys is full, a "
     "virtual function's share or an RDMA cgroup is used up, or an IOMMU prevents it; or the "
     "limit is another one inside the job (Slurm, systemd and containers set their own)",
     "dmesg for mlx5 lines on that host; cat /proc/PID/limits of a rank; cat "
     "/sys/fs/cgroup/rdma.max; fewer or smaller registered buffers (NCCL_BUFFSIZE)"},
    {"rdma_port_down", has_ports_enough, "rdma_port_down", Severity::Info,
     "some RDMA ports have no link, others are active",
     "ports without a cable are down; that matters only where a job is to use them",
     "nothing, unless the job counts on these ports"},
};

/// The output of a command that would confirm or refute a finding.
struct Decider {
  std::string_view id, command, what;
};
constexpr Decider kDeciders[] = {
    {"memlock_limit", "ulimit -l", "the limit of locked memory inside the job (ulimit -l)"},
    {"gid_index", "show_gids", "the GID tables of both hosts (show_gids)"},
    {"shm_exhausted", "df -h /dev/shm", "the size of /dev/shm there (df -h /dev/shm)"},
    {"no_rdma_device", "ibv_devinfo", "which RDMA devices the container has (ibv_devinfo)"},
    {"shm_fallback", "nvidia-smi topo", "how the GPUs are connected (nvidia-smi topo -m)"},
    {"gdr_missing", "nvidia-smi topo", "how far GPUs and NICs are apart (nvidia-smi topo -m)"},
};

/// Returns whether the fact is from one of the hosts, as a prompt may name it.
bool is_of_host(const CapabilityFact& fact, const std::vector<std::string>& hosts) {
  return fact.host.empty() || hosts.empty() ||
         std::any_of(hosts.begin(), hosts.end(), [&](const std::string& host) {
           return host == fact.host || host.starts_with(fact.host) || fact.host.starts_with(host);
         });
}

/// Checks the index that a variable names with the GID tables in the text.
void judge_gid_index(const JobFacts& facts, Finding& finding) {
  const Setting* variable = facts.setting("NCCL_IB_GID_INDEX");
  if (variable == nullptr || finding.id != "gid_index") return;
  const int index = std::atoi(variable->value.c_str());
  std::optional<int> routable;
  Evidence table;
  bool has_entry = false;
  std::string version;
  for (const CapabilityFact& gid : facts.capabilities) {
    if (gid.what != What::Gid || !is_of_host(gid, finding.hosts)) continue;
    table.add(gid.quoted);
    if (gid.index == index) {
      has_entry = true;
      version = gid.value;
    }
    if (gid.value.starts_with("v2") && gid.value.size() > 2 && !routable) routable = gid.index;
  }
  if (table.empty() || !routable || index == *routable) return;
  const std::string where = finding.hosts.empty() ? "that host" : list_of(finding.hosts);
  finding.title =
      fmt::format("NCCL_IB_GID_INDEX={} is {} on {}: its RoCE v2 GID is at index {}", index,
                  has_entry ? "a GID of another kind" : "empty", where, *routable);
  finding.evidence.mix(table);
  finding.confidence = Confidence::High;
  finding.cause =
      "GID tables differ between hosts and containers, in the order in which their addresses came: "
      "one index for all does not fit";
  finding.fix = fmt::format(
      "unset NCCL_IB_GID_INDEX (NCCL finds the entry itself from 2.21 on), or NCCL_IB_GID_INDEX={} "
      "on {}",
      *routable, where);
}

/// Handles a host with an active RDMA port whose job's container has no device.
void judge_container(const JobFacts& facts, Finding& finding) {
  if (finding.id != "no_rdma_device" && finding.id != "socket_fallback") return;
  const Setting* filter = facts.setting("NCCL_IB_HCA");
  if (filter != nullptr && has_quotes(*filter)) return;  // the cause is known
  Evidence host;
  for (const CapabilityFact& port : facts.capabilities) {
    const bool is_there = port.what == What::Port && port.value == "active";
    if (is_there || port.what == What::Device) host.add(port.quoted);
  }
  const bool is_none = lacks_rdma_device(facts) || facts.messages.has(MessageId::IbverbsNotFound);
  if (host.empty() || !is_none) return;
  finding.evidence.mix(host);
  finding.cause =
      "the host has an active RDMA port, and the container does not see it: /dev/infiniband is not "
      "passed to it";
  finding.fix =
      "docker run --device=/dev/infiniband --cap-add=IPC_LOCK --ulimit memlock=-1 --network=host "
      "(or --privileged); Kubernetes: the RDMA device plugin's resource in the limits";
}

/// Adds the limit that the text shows.
void name_memlock(const JobFacts& facts, Finding& finding) {
  if (finding.id != "memlock_limit") return;
  for (const CapabilityFact& limit : facts.capabilities) {
    if (limit.what != What::Memlock || limit.value == "unlimited") continue;
    finding.title += fmt::format(": {} KiB", limit.value);
    finding.evidence.add(limit.quoted);
    return;
  }
}

/// Returns whether the plugin sets the variable itself, so that unsetting it has no effect or causes harm.
bool is_set_by_plugin(const JobFacts& facts, std::string_view variable) {
  for (const MessageId id : {MessageId::OfiSetting, MessageId::OfiPlatform, MessageId::OfiOther}) {
    for (const KeptMessage& message : facts.messages[id].kept) {
      if (contains(message.text(), fmt::format("etting {}", variable))) return true;
    }
  }
  return false;
}

std::vector<std::string> clauses_of(std::string_view text) {
  std::vector<std::string> clauses;
  for (;;) {
    const std::size_t end = text.find("; ");
    clauses.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return clauses;
    text.remove_prefix(end + 2);
  }
}

/// Returns a clause of advice without the parts that the text already answers; empty: nothing is left.
std::string still_useful(const JobFacts& facts, const std::string& clause) {
  constexpr std::string_view kUnset = "unset ";
  if (clause.starts_with(kUnset)) {
    const std::string_view rest = std::string_view(clause).substr(kUnset.size());
    const std::string_view variable = rest.substr(0, rest.find_first_of(" ,;"));
    if (is_set_by_plugin(facts, variable)) return {};
  }
  for (const CapabilityFact& fact : facts.capabilities) {
    if (fact.what != What::Command || !clause.starts_with(fact.value)) continue;
    // `ulimit -l` prints, `ulimit -l unlimited` sets.
    const std::string rest = clause.substr(fact.value.size());
    const bool asks = rest.empty() || rest.starts_with("   #") || rest.starts_with(" on ") ||
                      rest.starts_with(" in ") || rest.starts_with(" of ");
    if (!asks) continue;
    constexpr std::string_view kThen = "# then ";
    const std::size_t then = clause.find(kThen);
    return then == std::string::npos ? std::string() : clause.substr(then + kThen.size());
  }
  return clause;
}

void drop_answered_advice(const JobFacts& facts, Finding& finding) {
  if (finding.fix.empty()) return;
  std::string kept;
  for (const std::string& clause : clauses_of(finding.fix)) {
    const std::string left = still_useful(facts, clause);
    if (left.empty()) continue;
    kept += (kept.empty() ? "" : "; ") + left;
  }
  if (!kept.empty()) finding.fix = kept;
}

void refute(const JobFacts& facts, std::vector<Finding>& findings) {
  std::erase_if(findings, [&](Finding& finding) {
    for (const Refutation& row : kRefutations) {
      if (finding.id != row.id || !row.is_refuted(facts)) continue;
      if (row.title.empty()) return true;
      finding.id = row.new_id;
      finding.severity = std::min(finding.severity, row.severity);
      finding.title = row.title;
      finding.cause = row.cause;
      finding.fix = row.fix;
    }
    return false;
  });
}

}  // namespace

void weigh_against_text(const JobFacts& facts, Findings& findings) {
  refute(facts, findings.all());
  for (Finding& finding : findings.all()) {
    name_memlock(facts, finding);
    judge_gid_index(facts, finding);
    judge_container(facts, finding);
    drop_answered_advice(facts, finding);
    for (const Decider& decider : kDeciders) {
      if (finding.id == decider.id && finding.severity >= Severity::Warning &&
          !facts.has_output_of(decider.command))
        finding.unseen.emplace_back(decider.what);
    }
  }
}

}  // namespace ringside::audit
