#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

bool is_of_net(const KeptMessage& message) {
  const std::string_view text = message.text();
  return !contains_any(text, {"TUNER/", "PROFILER/", "GIN/", "RMA/", "ENV/"});
}

bool is_not_found(std::string_view error) {
  return contains_any(error, {"No such file", "cannot open shared object file: No"});
}

/// Returns whether the plugin exists but a library that it needs does not: `libfabric.so.1: cannot open shared object
/// file`.
bool lacks_a_library(std::string_view error) {
  const std::size_t at = error.find(": cannot open shared object file");
  if (at == std::string_view::npos) return false;
  const std::string_view before = error.substr(0, at);
  const std::size_t begin = before.find_last_of(" :=");
  return !contains(before.substr(begin + 1), "nccl");
}

/// Returns whether the process loaded a network plugin.
bool has_loaded(const JobFacts& facts, std::uint32_t process) {
  const MessageLines& lines = facts.messages[MessageId::PluginLoaded];
  return std::any_of(lines.kept.begin(), lines.kept.end(), [&](const KeptMessage& message) {
    return message.process() == process && is_of_net(message) &&
           contains(lower_case(message.text()), "loaded");
  });
}

/// Returns whether a message is about the network plugin of a process that has none.
bool lacks_plugin(const JobFacts& facts, const KeptMessage& message) {
  return is_of_net(message) && !has_loaded(facts, message.process());
}

/// Reports that libfabric offers no provider of the fabric.
void report_no_provider(const JobFacts& facts, Findings& findings) {
  const bool matters = socket_use(facts).is_used || facts.nodes() > 1;
  const Severity otherwise = is_size_unknown(facts) ? Severity::Warning : Severity::Info;
  Finding& finding = findings.add("plugin_missing", matters ? Severity::Error : otherwise,
                                  "the libfabric plugin finds no provider of the fabric",
                                  facts.messages[MessageId::OfiNoProvider]);
  finding.cause =
      "aws-ofi-nccl is loaded, but libfabric offers no provider such as efa or cxi: the device is "
      "not in the container, its driver or libfabric's provider is not installed";
  finding.fix =
      "fi_info -p efa   # must list the device; install the provider, pass /dev/infiniband";
}

/// Reports that libfabric moves data by TCP between hosts.
/// returns  whether it does
bool find_tcp_provider(const JobFacts& facts, Findings& findings) {
  const MessageLines& providers = facts.messages[MessageId::OfiProvider];
  const auto is_tcp = [](const KeptMessage& message) {
    const std::string provider = lower_case(message.argument("provider"));
    return provider.starts_with("tcp") || provider.starts_with("sockets") ||
           provider.starts_with("udp");
  };
  if (facts.nodes() < 2 || std::none_of(providers.kept.begin(), providers.kept.end(), is_tcp))
    return false;
  Finding& finding =
      findings.add("plugin_missing", Severity::Error, "libfabric fell back to its TCP provider");
  findings.quote(finding, providers, is_tcp);
  finding.cause = "the fabric's own provider is not usable, so that the plugin took TCP";
  finding.fix =
      "FI_PROVIDER=efa (or cxi)   # fails loudly when the device is missing; check it with "
      "fi_info";
  return true;
}

/// Reports that no network plugin was found, where the fabric needs one or gains by one.
void find_absent_plugin(const JobFacts& facts, Findings& findings) {
  Finding draft;
  findings.quote(draft, facts.messages[MessageId::PluginNotFound], [&](const KeptMessage& message) {
    const std::string_view error = message.argument("error");
    return lacks_plugin(facts, message) && (error.empty() || is_not_found(error));
  });
  findings.quote(draft, facts.messages[MessageId::PluginLoadFailed],
                 [&](const KeptMessage& message) {
                   return lacks_plugin(facts, message) && is_not_found(message.argument("error"));
                 });
  if (draft.evidence.empty()) return;
  if (socket_use(facts).is_used && wants_plugin(facts)) {
    Finding& finding = findings.add("plugin_missing", Severity::Error,
                                    "the plugin of this fabric is not on the library path", draft);
    finding.cause =
        "NCCL looked for libnccl-net.so and did not find it; its built-in networks do not know "
        "this fabric";
    finding.fix =
        "export LD_LIBRARY_PATH=/path/of/the/plugin/lib:$LD_LIBRARY_PATH   # and NCCL_NET=\"AWS "
        "Libfabric\", which fails loudly";
    return;
  }
  const bool is_omni_path =
      std::any_of(facts.net_devices.begin(), facts.net_devices.end(),
                  [](const auto& entry) { return contains(entry.first.second, "hfi1_"); });
  if (!is_omni_path) return;
  Finding& finding =
      findings.add("plugin_missing", Severity::Info,
                   "Omni-Path without its network plugin: verbs carry the data", draft);
  finding.cause = "no network plugin is installed; on Omni-Path the vendor's brings GPUDirect";
  finding.fix = "install the PSM2 plugin (libnccl-net.so)";
}

void find_incompatible_plugin(const JobFacts& facts, Findings& findings) {
  // The name of the plugin in use shows that one of the tried versions worked.
  const bool has_served =
      std::any_of(facts.networks.begin(), facts.networks.end(),
                  [](const auto& entry) { return entry.first != "IB" && !is_socket(entry.first); });
  if (has_served) return;
  Finding draft;
  findings.quote(draft, facts.messages[MessageId::PluginSymbolMissing],
                 [&](const KeptMessage& message) {
                   return lacks_plugin(facts, message) && contains(message.text(), "ncclNetPlugin");
                 });
  for (const MessageId id : {MessageId::PluginLoadFailed, MessageId::PluginOther}) {
    findings.quote(draft, facts.messages[id], [&](const KeptMessage& message) {
      return lacks_plugin(facts, message) &&
             (lacks_a_library(message.text()) ||
              contains_any(message.text(), {"is unsupported", "undefined symbol", "wrong ELF class",
                                            "version `", "invalid ELF"}));
    });
  }
  if (draft.evidence.empty()) return;
  const bool is_slow = socket_use(facts).is_used;
  // An excerpt without communicators does not show on how many hosts the job ran.
  const bool is_excerpt = facts.comms.empty() && !facts.networks.empty();
  const Severity severity = is_slow                           ? Severity::Error
                            : facts.nodes() > 1 || is_excerpt ? Severity::Warning
                                                              : Severity::Info;
  Finding& finding = findings.add("plugin_incompatible", severity,
                                  "a network plugin is there and this NCCL cannot use it", draft);
  finding.cause =
      "the plugin offers another version of the interface than this NCCL asks for, or was built "
      "against libraries that are not here";
  finding.fix =
      "install the plugin's release that belongs to this NCCL; ldd libnccl-net.so shows what is "
      "missing";
}

/// Reports that the network that NCCL_NET names did not load or start.
void find_unavailable_network(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  if (!messages.has(MessageId::NoNetPlugin)) return;
  const bool is_start =
      messages.has(MessageId::NetPluginInitFailed) || messages.has(MessageId::OfiEndpointFailed);
  Finding& finding = findings.add(is_start ? "net_init_error" : "plugin_missing", Severity::Error,
                                  "the network that NCCL_NET demands is not available",
                                  messages[MessageId::NoNetPlugin]);
  for (const KeptMessage& message : messages[MessageId::NoNetPlugin].kept) {
    const std::string_view name = message.argument("name");
    if (name.empty()) continue;
    finding.title = fmt::format("the network {} that NCCL_NET demands is not available", name);
    break;
  }
  finding.cause = "NCCL_NET names a network whose plugin did not load or start; NCCL then gives up";
  finding.fix = "make the plugin loadable (LD_LIBRARY_PATH, NCCL_NET_PLUGIN), or unset NCCL_NET";
}

/// Reports that the plugin loaded and could not open its endpoints.
void find_failed_endpoints(const JobFacts& facts, Findings& findings) {
  Finding opening;
  for (const MessageId id : {MessageId::OfiEndpointFailed, MessageId::OfiRequestFailed}) {
    findings.quote(opening, facts.messages[id], [&](const KeptMessage& message) {
      return is_warning(message) &&
             (id == MessageId::OfiEndpointFailed || fails_to_open(facts, message.text()));
    });
  }
  if (opening.evidence.empty()) return;
  Finding& finding = findings.add("net_init_error", Severity::Error,
                                  "the network plugin fails while it opens its endpoints", opening);
  finding.cause =
      "libfabric refused a domain, an endpoint or a queue: devices or credentials that the job was "
      "not given, or too many processes for the NIC's resources";
  finding.fix = "fi_info -v as the job's user on that host";
  const OfiFabric fabric = ofi_fabric(facts);
  if (fabric == OfiFabric::Slingshot)
    finding.fix += "; start with srun, which grants the VNI, and check SLINGSHOT_DEVICES";
  if (fabric == OfiFabric::Efa)
    finding.fix += "; fi_info -p efa must list the device; pass all of /dev/infiniband";
}

void find_plugin_crash(const JobFacts& facts, Findings& findings) {
  const PlainLines& crash = facts.plain_of(PlainLine::Crash);
  const PlainLines& frames = facts.plain_of(PlainLine::CrashFrameOfPlugin);
  if (crash.evidence.empty() || frames.evidence.empty()) return;
  Finding& finding =
      findings.add("plugin_crash", Severity::Error, "a process crashed inside the network plugin");
  finding.evidence.mix(crash.evidence);
  finding.evidence.mix(frames.evidence);
  finding.cause = "the stack of the crashed process ends in the plugin or its libraries";
  finding.fix =
      "use the plugin's and libfabric's newest releases together; NCCL_NET=Socket to confirm";
}

}  // namespace

void look_for_plugin_troubles(const JobFacts& facts, Findings& findings) {
  find_unavailable_network(facts, findings);
  find_failed_endpoints(facts, findings);
  find_plugin_crash(facts, findings);
  if (facts.messages.has(MessageId::OfiNoProvider)) {
    report_no_provider(facts, findings);
  } else if (!find_tcp_provider(facts, findings)) {
    find_absent_plugin(facts, findings);
  }
  find_incompatible_plugin(facts, findings);
}

}  // namespace ringside::audit
