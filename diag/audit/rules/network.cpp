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

void find_missing_plugin(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  const bool is_slow = socket_use(facts).is_used;
  if (messages.has(MessageId::OfiNoProvider)) {
    const bool matters = is_slow || facts.nodes() > 1;
    const Severity otherwise = is_size_unknown(facts) ? Severity::Warning : Severity::Info;
    Finding& finding = findings.add("plugin_missing", matters ? Severity::Error : otherwise,
                                    "the libfabric plugin finds no provider of the fabric",
                                    messages[MessageId::OfiNoProvider]);
    finding.cause =
        "aws-ofi-nccl is loaded, but libfabric offers no provider such as efa or cxi: the device "
        "is not in "
        "the container, its driver or libfabric's provider is not installed";
    finding.fix =
        "fi_info -p efa   # must list the device; install the provider, pass /dev/infiniband";
    return;
  }
  const MessageLines& providers = messages[MessageId::OfiProvider];
  const auto is_tcp = [](const KeptMessage& message) {
    const std::string provider = lower_case(message.argument("provider"));
    return provider.starts_with("tcp") || provider.starts_with("sockets") ||
           provider.starts_with("udp");
  };
  if (std::any_of(providers.kept.begin(), providers.kept.end(), is_tcp) && facts.nodes() > 1) {
    Finding& finding =
        findings.add("plugin_missing", Severity::Error, "libfabric fell back to its TCP provider");
    findings.quote(finding, providers, is_tcp);
    finding.cause = "the fabric's own provider is not usable, so that the plugin took TCP";
    finding.fix =
        "FI_PROVIDER=efa (or cxi)   # fails loudly when the device is missing; check it with "
        "fi_info";
    return;
  }
  const auto lacks = [&](const KeptMessage& message) {
    return is_of_net(message) && !has_loaded(facts, message.process());
  };
  Finding draft;
  findings.quote(draft, messages[MessageId::PluginNotFound], [&](const KeptMessage& message) {
    const std::string_view error = message.argument("error");
    return lacks(message) && (error.empty() || is_not_found(error));
  });
  findings.quote(draft, messages[MessageId::PluginLoadFailed], [&](const KeptMessage& message) {
    return lacks(message) && is_not_found(message.argument("error"));
  });
  if (draft.evidence.empty()) return;
  if (is_slow && wants_plugin(facts)) {
    Finding& finding = findings.add("plugin_missing", Severity::Error,
                                    "the plugin of this fabric is not on the library path", draft);
    finding.cause =
        "NCCL looked for libnccl-net.so and did not find it; its built-in networks do not know "
        "this fabric";
    finding.fix =
        "export LD_LIBRARY_PATH=/path/of/the/plugin/lib:$LD_LIBRARY_PATH   # and NCCL_NET=\"AWS "
        "Libfabric\", "
        "which fails loudly";
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
  const auto lacks = [&](const KeptMessage& message) {
    return is_of_net(message) && !has_loaded(facts, message.process());
  };
  Finding draft;
  findings.quote(draft, facts.messages[MessageId::PluginSymbolMissing],
                 [&](const KeptMessage& message) {
                   return lacks(message) && contains(message.text(), "ncclNetPlugin");
                 });
  for (const MessageId id : {MessageId::PluginLoadFailed, MessageId::PluginOther}) {
    findings.quote(draft, facts.messages[id], [&](const KeptMessage& message) {
      return lacks(message) &&
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
      "against "
      "libraries that are not here";
  finding.fix =
      "install the plugin's release that belongs to this NCCL; ldd libnccl-net.so shows what is "
      "missing";
}

/// Names the filter that excludes all devices, if its value shows why.
void name_quoted_filter(const JobFacts& facts, Finding& finding) {
  const Setting* filter = facts.setting("NCCL_IB_HCA");
  if (filter == nullptr || !has_quotes(*filter)) return;
  finding.title = fmt::format("NCCL_IB_HCA={} lets no RDMA device through", filter->value);
  finding.evidence.mix(filter->evidence);
  finding.cause = std::string(kQuotesCause);
  finding.fix = fmt::format("NCCL_IB_HCA={} without quotation marks, where it is set",
                            without_quotes(filter->value));
}

/// Reports a filter that excludes all devices: a user who names devices expects some, so this is a mistake on any
/// host.
void find_empty_filter(const JobFacts& facts, Findings& findings) {
  const Setting* filter = facts.setting("NCCL_IB_HCA");
  const auto none = facts.net_devices.find({"IB", std::string()});
  if (filter == nullptr || none == facts.net_devices.end()) return;
  if (lists_rdma_device(facts)) return;
  Finding& finding = findings.add(
      "no_rdma_device", is_size_unknown(facts) ? Severity::Warning : Severity::Info,
      fmt::format("NCCL_IB_HCA={} lets no RDMA device through", filter->value), none->second);
  finding.evidence.mix(filter->evidence);
  finding.confidence = Confidence::Medium;
  finding.cause =
      "no device of this host has a name that the variable lists, or it has none at all: NCCL then "
      "takes TCP between hosts";
  finding.fix =
      "ibdev2netdev; ibv_devinfo -l   # the names that are there; NCCL_IB_HCA takes prefixes, "
      "`=name` for a whole name, `^` to exclude; or unset it";
  name_quoted_filter(facts, finding);
}

/// Reports that libibverbs is not in the image, or has no driver for the devices; if no other device was found, RDMA
/// is lost for this reason.
void find_missing_provider(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  const bool has_device = lists_rdma_device(facts);
  const Evidence drivers = evidence_of(
      messages[MessageId::VerbsLibrary],
      [](const KeptMessage& message) { return contains(message.text(), "couldn't load driver"); });
  const bool has_found_none = lacks_rdma_device(facts) || messages.has(MessageId::OfiNoProvider) ||
                              facts.networks.contains("Socket");
  // Drivers of absent devices fail to load on healthy machines, and a job on one host does not need them.
  if (has_device || drivers.empty() || !has_found_none || facts.nodes() == 1) return;
  const bool is_reported = findings.has("verbs_provider_missing") ||
                           !facts.plain_of(PlainLine::NoVerbsDriver).evidence.empty();
  if (is_reported) return;
  Finding& finding = findings.add("verbs_provider_missing", Severity::Warning,
                                  "libibverbs cannot load the driver of a device", drivers);
  finding.confidence = Confidence::Medium;
  finding.cause =
      "the image lacks the provider library that the line names, or has one of another version "
      "than its libibverbs: the device is there and is not found";
  const bool is_efa =
      std::any_of(drivers.lines().begin(), drivers.lines().end(),
                  [](const QuotedLine& line) { return contains(line.text, "efa"); });
  finding.fix = fmt::format(
      "{} in the image; ibv_devinfo in it must list the devices",
      is_efa ? "the EFA installer" : "apt-get install --reinstall libibverbs1 ibverbs-providers");
}

}  // namespace

void look_for_plugin_troubles(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  if (messages.has(MessageId::NoNetPlugin)) {
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
    finding.cause =
        "NCCL_NET names a network whose plugin did not load or start; NCCL then gives up";
    finding.fix = "make the plugin loadable (LD_LIBRARY_PATH, NCCL_NET_PLUGIN), or unset NCCL_NET";
  }
  Finding opening;
  for (const MessageId id : {MessageId::OfiEndpointFailed, MessageId::OfiRequestFailed}) {
    findings.quote(opening, messages[id], [&](const KeptMessage& message) {
      return is_warning(message) &&
             (id == MessageId::OfiEndpointFailed || fails_to_open(facts, message.text()));
    });
  }
  if (!opening.evidence.empty()) {
    Finding& finding =
        findings.add("net_init_error", Severity::Error,
                     "the network plugin fails while it opens its endpoints", opening);
    finding.cause =
        "libfabric refused a domain, an endpoint or a queue: devices or credentials that the job "
        "was not "
        "given, or too many processes for the NIC's resources";
    finding.fix = "fi_info -v as the job's user on that host";
    const OfiFabric fabric = ofi_fabric(facts);
    if (fabric == OfiFabric::Slingshot)
      finding.fix += "; start with srun, which grants the VNI, and check SLINGSHOT_DEVICES";
    if (fabric == OfiFabric::Efa)
      finding.fix += "; fi_info -p efa must list the device; pass all of /dev/infiniband";
  }
  const PlainLines& crash = facts.plain_of(PlainLine::Crash);
  const PlainLines& frames = facts.plain_of(PlainLine::CrashFrameOfPlugin);
  if (!crash.evidence.empty() && !frames.evidence.empty()) {
    Finding& finding = findings.add("plugin_crash", Severity::Error,
                                    "a process crashed inside the network plugin");
    finding.evidence.mix(crash.evidence);
    finding.evidence.mix(frames.evidence);
    finding.cause = "the stack of the crashed process ends in the plugin or its libraries";
    finding.fix =
        "use the plugin's and libfabric's newest releases together; NCCL_NET=Socket to confirm";
  }
  find_missing_plugin(facts, findings);
  find_incompatible_plugin(facts, findings);
}

void look_for_missing_devices(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  find_missing_provider(facts, findings);
  const bool is_multinode = facts.nodes() > 1;
  const bool is_slow = socket_use(facts).is_used;
  const auto open_fails = [](const KeptMessage& message) {
    return contains(message.text(), "open_device");
  };
  const bool has_failed =
      !facts.results.empty() || !facts.plain_of(PlainLine::SystemError).evidence.empty();
  const Evidence unopened = evidence_of(messages[MessageId::IbCallFailed], open_fails);
  if (!messages.has(MessageId::IbDeviceUnusable) && has_failed && !unopened.empty()) {
    Finding& finding = findings.add("ib_device_unusable", Severity::Error,
                                    "RDMA devices are visible but cannot be opened", unopened);
    finding.cause =
        "the device nodes /dev/infiniband/uverbsN are not in the container, or the user may not "
        "open them";
    finding.fix = "docker run --device=/dev/infiniband ... (Kubernetes: the RDMA device plugin)";
  }
  if (messages.has(MessageId::IbDeviceUnusable)) {
    Finding& finding = findings.add(
        "ib_device_unusable", is_slow || has_failed ? Severity::Error : Severity::Warning,
        "RDMA devices are visible but cannot be opened", messages[MessageId::IbDeviceUnusable]);
    finding.evidence.mix(evidence_of(messages[MessageId::IbCallFailed], open_fails));
    finding.cause =
        "the device nodes /dev/infiniband/uverbsN are not in the container, or the user may not "
        "open them";
    finding.fix = "docker run --device=/dev/infiniband ... (Kubernetes: the RDMA device plugin)";
    if (!is_multinode) finding.cause += "; harmless on one node, on several it forces TCP";
  }

  const PlainLines& driver = facts.plain_of(PlainLine::NoVerbsDriver);
  if (!driver.evidence.empty() && is_slow) {
    Finding& finding = findings.add("verbs_provider_missing", Severity::Error,
                                    "RDMA devices are there and libibverbs has no driver for them",
                                    driver.evidence);
    finding.evidence.mix(evidence_of(messages[MessageId::VerbsLibrary], [](const auto& message) {
      return contains(message.text(), "couldn't load driver");
    }));
    finding.cause = "the image lacks the provider library of the device, or has another version";
    finding.fix = "apt-get install ibverbs-providers   # in the image; then ibv_devinfo in it";
  }

  const auto none = facts.net_devices.find({"IB", std::string()});
  const MessageLines& no_library = messages[MessageId::IbverbsNotFound];
  if (none == facts.net_devices.end() && no_library.evidence.empty()) return;
  if (!is_multinode) return find_empty_filter(facts, findings);
  const bool others_have = lists_rdma_device(facts);
  const bool is_plugins_task = wants_plugin(facts) ||
                               findings.has("plugin_missing", Severity::Warning) ||
                               messages.has(MessageId::PluginLoaded);
  Severity severity = Severity::Info;
  if (is_slow && !is_plugins_task && !faster_fabric(facts).empty()) severity = Severity::Error;
  if (others_have) severity = Severity::Error;
  Finding& finding = findings.add(
      "no_rdma_device", severity,
      others_have ? "some ranks see no RDMA device, others do" : "no RDMA device is visible");
  if (none != facts.net_devices.end()) findings.quote(finding, none->second);
  if (!no_library.evidence.empty()) findings.quote(finding, no_library);
  finding.confidence = others_have ? Confidence::High : Confidence::Medium;
  finding.cause =
      no_library.evidence.empty()
          ? "no verbs device in the container, its ports are down, or NCCL_IB_HCA filters all"
          : "libibverbs is not installed in the container";
  finding.fix = no_library.evidence.empty()
                    ? "ibv_devinfo in the container; docker run --device=/dev/infiniband ..."
                    : "apt-get install libibverbs1 ibverbs-providers (rdma-core) in the image";
  if (no_library.evidence.empty()) name_quoted_filter(facts, finding);
}

void look_for_socket_fallback(const JobFacts& facts, Findings& findings) {
  const SocketUse use = socket_use(facts);
  if (!use.is_used) return;
  const std::string fabric = faster_fabric(facts);
  const Setting* disable = facts.setting("NCCL_IB_DISABLE");
  const Setting* net = facts.setting("NCCL_NET");
  // Desktops on Ethernet have no faster network.
  const Severity severity = !fabric.empty()            ? Severity::Error
                            : has_consumer_gpus(facts) ? Severity::Info
                                                       : Severity::Warning;
  Finding& finding =
      findings.add("socket_fallback", severity,
                   fmt::format("{} over TCP between {} hosts",
                               plural(use.processes.size(), "rank moves data", "ranks move data"),
                               facts.nodes()));
  for (const EdgeFacts& edge : facts.edges) {
    if (edge.via == Via::Net && is_socket(edge.net)) finding.evidence.mix(edge.said.evidence);
  }
  const auto chosen = facts.networks.find("Socket");
  if (chosen != facts.networks.end()) {
    finding.evidence.mix(chosen->second.evidence);
  } else {
    for (const auto& [key, said] : facts.net_devices) {
      if (key.first == "Socket") finding.evidence.mix(said.evidence);
    }
  }
  findings.say_who(finding, use.processes);
  finding.confidence = fabric.empty() ? Confidence::Low : Confidence::High;
  finding.cause = fabric.empty() ? "NCCL found nothing faster than TCP"
                                 : "NCCL took TCP although a faster network is expected: " + fabric;
  finding.fix = "NCCL_NET=IB (or the plugin's name)   # fails loudly instead of falling back";
  if (facts.messages.has(MessageId::IbverbsNotFound)) {
    finding.evidence.mix(facts.messages[MessageId::IbverbsNotFound].evidence);
    finding.cause += "; libibverbs is not in the image, without which no RDMA device can be used";
    finding.fix = "apt-get install libibverbs1 ibverbs-providers (rdma-core) in the image";
  }
  if (disable != nullptr && disable->value != "0") {
    finding.evidence.mix(disable->evidence);
    finding.cause = "NCCL_IB_DISABLE=" + disable->value + " switches the RDMA network off";
    finding.fix = "unset NCCL_IB_DISABLE";
  } else if (findings.has("plugin_missing", Severity::Error) ||
             findings.has("plugin_incompatible", Severity::Error)) {
    finding.fix = "make the plugin load";
  } else if (net != nullptr && is_socket(net->value)) {
    finding.evidence.mix(net->evidence);
    finding.cause = "NCCL_NET=Socket demands it";
    finding.fix = "unset NCCL_NET";
  }
}

namespace {

constexpr std::size_t kMostOfAHost = 8;  // GPUs; few hosts have sixteen

/// Returns whether an excerpt may be of a job on several hosts: it shows at most one host, and does not show that
/// there are no others.
bool may_span_hosts(const JobFacts& facts) {
  const std::size_t ranks = facts.longest_ring;
  const bool is_large = ranks > kMostOfAHost;
  const bool is_small = (ranks > 0 && !is_large) || (facts.hosts.size() == 1 && !is_large);
  return is_size_unknown(facts) && !is_small;
}

}  // namespace

void look_for_sockets_in_an_excerpt(const JobFacts& facts, Findings& findings) {
  const auto chosen = facts.networks.find("Socket");
  if (chosen == facts.networks.end() || facts.networks.size() > 1) return;
  // If the job failed, using TCP is not the problem.
  const bool is_other =
      !facts.results.empty() || !facts.python_errors.empty() || findings.has_any(Severity::Error);
  if (is_other) return;
  if (!may_span_hosts(facts) || has_consumer_gpus(facts)) return;
  const std::size_t ranks = facts.longest_ring;
  const bool has_no_device =
      lacks_rdma_device(facts) || facts.messages.has(MessageId::IbverbsNotFound);
  Finding& finding =
      findings.add("socket_fallback", Severity::Warning,
                   has_no_device ? "NCCL found no RDMA device and takes TCP between hosts"
                                 : "NCCL takes TCP between hosts",
                   chosen->second);
  finding.evidence.mix(facts.messages[MessageId::IbverbsNotFound].evidence);
  for (const auto& [key, said] : facts.net_devices) {
    const bool is_none = key.first == "IB" && key.second.empty();
    if (key.first == "Socket" || is_none) finding.evidence.mix(said.evidence);
  }
  finding.confidence = ranks > kMostOfAHost ? Confidence::Medium : Confidence::Low;
  finding.cause =
      ranks > kMostOfAHost
          ? fmt::format("{} ranks are more than one host has: what they exchange goes over TCP",
                        ranks)
          : "if this job has more than one host, what they exchange goes over TCP; on one host "
            "nothing is lost";
  finding.fix =
      "ibv_devinfo in the container; docker run --device=/dev/infiniband ...; NCCL_NET=IB (or the "
      "plugin's name) fails loudly instead of falling back";
  if (facts.messages.has(MessageId::IbverbsNotFound)) {
    finding.title = "libibverbs is not in the image, and NCCL takes TCP between hosts";
    finding.cause = "NCCL cannot open libibverbs.so: no RDMA device can be used. " + finding.cause;
    finding.fix = "apt-get install libibverbs1 ibverbs-providers (rdma-core) in the image";
  }
}

void look_for_unused_nics(const JobFacts& facts, Findings& findings) {
  if (const Setting* filter = facts.setting("NCCL_IB_HCA");
      filter != nullptr && facts.nodes() > 1) {
    constexpr int kBoard = 4;  // boards with this many GPUs come with several NICs
    const bool is_one =
        std::all_of(facts.hosts.begin(), facts.hosts.end(), [](const HostFacts& host) {
          const auto devices = host.devices.find("IB");
          return devices != host.devices.end() && devices->second.size() == 1;
        });
    if (is_one && ranks_of_a_host(facts) >= kBoard) {
      Finding& finding =
          findings.add("single_nic", Severity::Info,
                       fmt::format("NCCL_IB_HCA={} leaves one NIC a host", filter->value), *filter);
      finding.confidence = Confidence::Low;
      finding.cause = "hosts with this many GPUs mostly have several NICs";
      finding.fix = "ibv_devices   # if there are more: unset NCCL_IB_HCA";
    }
  }
  // [host]: the NICs that its ranks send on.
  std::map<std::int32_t, std::set<std::pair<std::uint16_t, std::int32_t>>> used;  // net and device
  std::map<std::int32_t, std::set<std::uint32_t>> processes;
  std::uint64_t channels = 0;
  std::map<std::int32_t, std::set<std::int32_t>> ranks;
  for (const CommFacts& comm : facts.comms) {
    if (comm.nodes() < 2) continue;
    for (const Link& link : comm.links) {
      if (link.via != Via::Net || is_socket(facts.nets[link.net]) || link.connection > 0) continue;
      const Member* member = comm.member(link.rank);
      if (member == nullptr || member->host < 0) continue;
      used[member->host].emplace(link.net, link.net_device);
      processes[member->host].insert(member->process);
      channels |= link.channels;
    }
    for (const Member& member : comm.members) {
      ranks[member.host].insert(member.rank);
    }
  }
  const int several = ranks_of_a_host(facts);
  std::vector<std::uint32_t> who;
  std::size_t most = 0;
  for (const auto& [host, names] : used) {
    const HostFacts& facts_of_host = facts.hosts[static_cast<std::size_t>(host)];
    const auto listed = facts_of_host.devices.find("IB");
    const std::size_t there = listed == facts_of_host.devices.end() ? 0 : listed->second.size();
    constexpr std::size_t kSeveral = 4;  // a second NIC may be for storage
    // A single rank may only use the NIC closest to it.
    const bool are_enough_seen = 2 * ranks[host].size() >= static_cast<std::size_t>(several);
    if (names.size() != 1 || there < kSeveral || several < 4 || !are_enough_seen) return;
    most = std::max(most, there);
    who.insert(who.end(), processes[host].begin(), processes[host].end());
  }
  if (who.empty() || (channels & (channels - 1)) == 0) return;
  Finding& finding =
      findings.add("single_nic", Severity::Warning,
                   fmt::format("{} NICs are there and one carries all channels of a host", most));
  for (const auto& [key, said] : facts.net_devices) {
    if (key.first == "IB" && !key.second.empty()) finding.evidence.mix(said.evidence);
  }
  for (const EdgeFacts& edge : facts.edges) {
    if (edge.via == Via::Net && !is_socket(edge.net)) finding.evidence.mix(edge.said.evidence);
  }
  std::sort(who.begin(), who.end());
  findings.say_who(finding, who);
  finding.confidence = Confidence::Medium;
  finding.cause =
      "GPUs and NICs are far apart in the topology that NCCL sees, or a variable chose one";
  finding.fix =
      "NCCL_DEBUG_SUBSYS=INIT,GRAPH shows the distances; check NCCL_TOPO_FILE, NCCL_NETDEVS_POLICY";
}

}  // namespace ringside::audit
