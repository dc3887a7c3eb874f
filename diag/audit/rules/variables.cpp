#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {
namespace {

/// Returns whether the variable names places and files, and does not change how NCCL works.
bool is_harmless(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"NCCL_SOCKET_IFNAME", "NCCL_SOCKET_FAMILY", "NCCL_COMM_ID", "NCCL_HOSTID", "NCCL_DEBUG",
       "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS", "NCCL_OOB_NET_IFNAME", "NCCL_VERSION"});
  return std::ranges::find(kNames, name) != kNames.end();
}

/// Why a setting is harmful.
struct Harm {
  std::string_view why = {};  ///< empty: no known reason
  Forced forces = Forced::Nothing;
};

Harm harm_of(const Setting& setting, const JobFacts& facts) {
  const long value = std::strtol(setting.value.c_str(), nullptr, 0);
  const bool is_wide = ranks_of_a_host(facts) > 1;
  if (setting.name == "NCCL_SHM_DISABLE" && value != 0 && is_wide) {
    return {"without shared memory, pairs that lack peer-to-peer go over the network"};
  }
  const bool has_plugin =
      std::any_of(facts.networks.begin(), facts.networks.end(),
                  [](const auto& entry) { return entry.first != "IB" && !is_socket(entry.first); });
  if (setting.name == "NCCL_IB_DISABLE" && value != 0 && facts.nodes() > 1 && !has_plugin) {
    return {"the RDMA network is off: hosts use TCP", Forced::NoRdma};
  }
  if (setting.name == "NCCL_NET_GDR_LEVEL" && (setting.value == "LOC" || setting.value == "0") &&
      facts.nodes() > 1) {
    return {"GPUDirect RDMA is off", Forced::GdrReach};
  }
  constexpr long kFew = 2;
  if ((setting.name == "NCCL_MAX_NCHANNELS" || setting.name == "NCCL_MAX_CTAS") && value >= 1 &&
      value <= kFew && is_wide) {
    return {"so few channels do not fill NVLink or several NICs", Forced::Channels};
  }
  constexpr long kLeastBuffer = 1 << 20, kMostBuffer = 64 << 20;
  if (setting.name == "NCCL_BUFFSIZE" && value > 0 &&
      (value < kLeastBuffer || value > kMostBuffer)) {
    return {"buffers this far from 4 MiB cost latency or memory"};
  }
  if (setting.name == "CUDA_LAUNCH_BLOCKING" && value == 1)
    return {"every kernel waits for its end"};
  return {};
}

/// Returns whether the value of a variable of the stack is enclosed in quotation marks: no shell has interpreted it.
bool is_quoted(const Setting& setting) {
  return contains_any(setting.name, {"NCCL_", "UCX_", "GLOO_"}) && has_quotes(setting);
}

std::string name_of(const Setting& setting) {
  return fmt::format("{}={}", setting.name, setting.value);
}

}  // namespace

void look_for_overrides(const JobFacts& facts, Findings& findings) {
  Finding harmless;
  std::vector<std::string> names;
  for (const Setting& setting : facts.environment) {
    if (is_harmless(setting.name) && !is_quoted(setting)) continue;
    const bool is_reported = setting.name == "NCCL_P2P_DISABLE" || setting.name == "NCCL_P2P_LEVEL";
    if (is_reported && findings.has("p2p_disabled")) continue;
    const Harm harm = harm_of(setting, facts);
    if (is_quoted(setting)) {
      Finding& finding = findings.add(
          "env_override", Severity::Warning,
          fmt::format("{} holds its quotation marks: {}", setting.name, setting.value), setting);
      finding.cause = std::string(kQuotesCause);
      if (setting.name == "NCCL_IB_HCA") finding.forces = Forced::NoRdma;
      finding.fix = fmt::format("{}={} without quotation marks, where it is set", setting.name,
                                without_quotes(setting.value));
      continue;
    }
    if (harm.why.empty()) {
      names.push_back(name_of(setting));
      harmless.evidence.mix(setting.evidence);
      continue;
    }
    Finding& finding =
        findings.add("env_override", Severity::Warning, name_of(setting) + " is in force", setting);
    finding.cause = std::string(harm.why);
    finding.forces = harm.forces;
    finding.fix = "unset " + setting.name;
  }
  for (const auto& [key, said] : facts.exports) {
    const Setting setting{said, key.first, key.second};
    const bool is_ours = contains_any(key.first, {"NCCL_", "RCCL_", "FI_"});
    if (is_harmless(key.first) || (!is_ours && harm_of(setting, facts).why.empty())) continue;
    if (facts.setting(key.first) != nullptr) continue;  // the library has read it
    names.push_back(name_of(setting));
    harmless.evidence.mix(setting.evidence);
  }
  if (names.empty()) return;
  Finding& finding = findings.add(
      "env_override", Severity::Info,
      fmt::format("{} in force: {}", plural(names.size(), "variable is", "variables are"),
                  list_of(names)),
      harmless);
  finding.cause = "set for this job, its image or by the network plugin";
  finding.fix = "nothing, if each is there on purpose";
}

void look_for_debugging(const JobFacts& facts, Findings& findings) {
  for (const Setting& setting : facts.environment) {
    if (setting.name != "NCCL_DEBUG" || lower_case(setting.value) != "trace") continue;
    Finding& finding = findings.add("env_debug_in_production", Severity::Warning,
                                    "NCCL_DEBUG=" + setting.value + " is in force", setting);
    finding.cause = "every call is written down: that slows ranks and fills disks";
    finding.fix = "NCCL_DEBUG=WARN";
  }
}

}  // namespace ringside::audit
