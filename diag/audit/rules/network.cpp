#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

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

/// Reports devices that the process sees and may not open.
void find_unopened_devices(const JobFacts& facts, Findings& findings) {
  const MessageLines& unusable = facts.messages[MessageId::IbDeviceUnusable];
  const Evidence unopened = evidence_of(
      facts.messages[MessageId::IbCallFailed],
      [](const KeptMessage& message) { return contains(message.text(), "open_device"); });
  const bool has_failed =
      !facts.results.empty() || !facts.plain_of(PlainLine::SystemError).evidence.empty();
  const bool is_logged = !unusable.evidence.empty();
  // Without NCCL's own line, a failed call matters only if the job failed.
  if (!is_logged && (!has_failed || unopened.empty())) return;
  const bool matters = !is_logged || socket_use(facts).is_used || has_failed;
  Finding& finding =
      findings.add("ib_device_unusable", matters ? Severity::Error : Severity::Warning,
                   "RDMA devices are visible but cannot be opened", unusable);
  finding.evidence.mix(unopened);
  finding.cause =
      "the device nodes /dev/infiniband/uverbsN are not in the container, or the user may not "
      "open them";
  finding.fix = "docker run --device=/dev/infiniband ... (Kubernetes: the RDMA device plugin)";
  if (is_logged && facts.nodes() < 2)
    finding.cause += "; harmless on one node, on several it forces TCP";
}

/// Reports that libibverbs has no driver for the devices, which costs RDMA.
void find_missing_driver(const JobFacts& facts, Findings& findings) {
  const PlainLines& driver = facts.plain_of(PlainLine::NoVerbsDriver);
  if (driver.evidence.empty() || !socket_use(facts).is_used) return;
  Finding& finding =
      findings.add("verbs_provider_missing", Severity::Error,
                   "RDMA devices are there and libibverbs has no driver for them", driver.evidence);
  finding.evidence.mix(evidence_of(
      facts.messages[MessageId::VerbsLibrary],
      [](const auto& message) { return contains(message.text(), "couldn't load driver"); }));
  finding.cause = "the image lacks the provider library of the device, or has another version";
  finding.fix = "apt-get install ibverbs-providers   # in the image; then ibv_devinfo in it";
}

/// Reports that processes see no RDMA device.
void find_no_device(const JobFacts& facts, Findings& findings) {
  const auto none = facts.net_devices.find({"IB", std::string()});
  const MessageLines& no_library = facts.messages[MessageId::IbverbsNotFound];
  if (none == facts.net_devices.end() && no_library.evidence.empty()) return;
  if (facts.nodes() < 2) return find_empty_filter(facts, findings);
  const bool others_have = lists_rdma_device(facts);
  const bool is_plugins_task = wants_plugin(facts) ||
                               findings.has("plugin_missing", Severity::Warning) ||
                               facts.messages.has(MessageId::PluginLoaded);
  Severity severity = Severity::Info;
  if (socket_use(facts).is_used && !is_plugins_task && !faster_fabric(facts).empty())
    severity = Severity::Error;
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

}  // namespace

void look_for_missing_devices(const JobFacts& facts, Findings& findings) {
  find_missing_provider(facts, findings);
  find_unopened_devices(facts, findings);
  find_missing_driver(facts, findings);
  find_no_device(facts, findings);
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
  findings.add_processes(finding, use.processes);
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

namespace {

constexpr int kGpusOfBoard = 4;  ///< boards with this many GPUs come with several NICs

/// Reports that NCCL_IB_HCA leaves one NIC on every host with several GPUs.
void find_filter_of_nics(const JobFacts& facts, Findings& findings) {
  const Setting* filter = facts.setting("NCCL_IB_HCA");
  if (filter == nullptr || facts.nodes() < 2 || ranks_of_a_host(facts) < kGpusOfBoard) return;
  const bool is_one =
      std::all_of(facts.hosts.begin(), facts.hosts.end(), [](const HostFacts& host) {
        const auto devices = host.devices.find("IB");
        return devices != host.devices.end() && devices->second.size() == 1;
      });
  if (!is_one) return;
  Finding& finding =
      findings.add("single_nic", Severity::Info,
                   fmt::format("NCCL_IB_HCA={} leaves one NIC a host", filter->value), *filter);
  finding.confidence = Confidence::Low;
  finding.cause = "hosts with this many GPUs mostly have several NICs";
  finding.fix = "ibv_devices   # if there are more: unset NCCL_IB_HCA";
}

/// What the ranks of a host send on.
struct NicUse {
  std::set<std::pair<std::uint16_t, std::int32_t>> nics = {};  ///< network and its device
  std::set<std::uint32_t> processes = {};                      ///< of ranks that send
  std::set<std::int32_t> ranks = {};                           ///< all that are known
  std::uint64_t channels = 0;                                  ///< bit set
};

/// Returns the use of NICs by host, from communicators that span hosts. Host -1 is unknown.
std::map<std::int32_t, NicUse> nic_use(const JobFacts& facts) {
  std::map<std::int32_t, NicUse> uses;
  for (const CommFacts& comm : facts.comms) {
    if (comm.nodes() < 2) continue;
    for (const Link& link : comm.links) {
      if (link.via != Via::Net || is_socket(facts.nets[link.net]) || link.connection > 0) continue;
      const Member* member = comm.member(link.rank);
      if (member == nullptr || member->host < 0) continue;
      NicUse& use = uses[member->host];
      use.nics.emplace(link.net, link.net_device);
      use.processes.insert(member->process);
      use.channels |= link.channels;
    }
    for (const Member& member : comm.members) uses[member.host].ranks.insert(member.rank);
  }
  return uses;
}

}  // namespace

void look_for_unused_nics(const JobFacts& facts, Findings& findings) {
  find_filter_of_nics(facts, findings);
  const int several = ranks_of_a_host(facts);
  std::vector<std::uint32_t> who;
  std::size_t most = 0;
  std::uint64_t channels = 0;
  for (const auto& [host, use] : nic_use(facts)) {
    if (use.nics.empty()) continue;
    channels |= use.channels;
    const auto& listed_nics = facts.hosts[static_cast<std::size_t>(host)].devices;
    const auto listed = listed_nics.find("IB");
    const std::size_t there = listed == listed_nics.end() ? 0 : listed->second.size();
    constexpr std::size_t kSeveral = 4;  // a second NIC may be for storage
    // A single rank may only use the NIC closest to it.
    const bool are_enough_seen = 2 * use.ranks.size() >= static_cast<std::size_t>(several);
    if (use.nics.size() != 1 || there < kSeveral || several < kGpusOfBoard || !are_enough_seen)
      return;
    most = std::max(most, there);
    who.insert(who.end(), use.processes.begin(), use.processes.end());
  }
  const bool is_one_channel = (channels & (channels - 1)) == 0;
  if (who.empty() || is_one_channel) return;
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
  findings.add_processes(finding, who);
  finding.confidence = Confidence::Medium;
  finding.cause =
      "GPUs and NICs are far apart in the topology that NCCL sees, or a variable chose one";
  finding.fix =
      "NCCL_DEBUG_SUBSYS=INIT,GRAPH shows the distances; check NCCL_TOPO_FILE, NCCL_NETDEVS_POLICY";
}

}  // namespace ringside::audit
