#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"
#include "diag/job/completion_meaning.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Returns the value after a key of a message, up to a comma, a blank or the end; `key` is `local GID ` or `hca `.
/// returns  empty: no such key
std::string_view value_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view value = text.substr(at + key.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value.substr(0, value.find_first_of(", "));
}

std::string list_of_set(const std::set<std::string>& names) {
  return list_of(std::vector<std::string>(names.begin(), names.end()));
}

std::string names_of_hosts(const Finding& finding) {
  if (finding.hosts.size() == 1) return ", all on " + finding.hosts.front();
  return finding.hosts.empty() ? std::string() : fmt::format(" on {}", list_of(finding.hosts));
}

/// Why a queue pair does not connect, the most certain reason first.
enum class Trouble : std::uint8_t { OwnGid, PeersGid, NoRoute, NoAnswer, Other };

struct QueuePair {
  Trouble trouble = Trouble::Other;
  std::string_view device, local, remote, index;  ///< `local` and `remote` are GIDs
};

QueuePair queue_pair_of(const KeptMessage& message) {
  const std::string_view text = message.text();
  QueuePair pair;
  pair.device = value_behind(text, "dev ");
  pair.index = value_behind(text, "GID index ");
  constexpr std::string_view kLocal = "local GID ";
  pair.local = value_behind(text, kLocal);
  if (pair.local == "index") {
    // In `local GID index 3, local GID ::1`, the second one is the address.
    pair.local = value_behind(text.substr(text.find(kLocal) + kLocal.size()), kLocal);
  }
  pair.remote = value_behind(text, "remote GID ");
  if (contains(text, "No data available") || pair.local == "::") {
    pair.trouble = Trouble::OwnGid;
  } else if (pair.remote == "::") {
    pair.trouble = Trouble::PeersGid;
    // The numbers are Linux's ENETUNREACH, EHOSTUNREACH and ETIMEDOUT.
  } else if (contains_any(text, {"failed with 101", "failed with 113", "Network is unreachable",
                                 "No route to host"})) {
    pair.trouble = Trouble::NoRoute;
  } else if (contains_any(text, {"failed with 110", "timed out"})) {
    pair.trouble = Trouble::NoAnswer;
  }
  return pair;
}

/// Returns the command that shows a host's route to an address. GIDs of RoCE contain IPv4 addresses as
/// `::ffff:10.1.0.2`, for which there are no IPv6 routes.
std::string route_question(std::string_view address) {
  constexpr std::string_view kMapped = "::ffff:";
  if (address.starts_with(kMapped)) address.remove_prefix(kMapped.size());
  const bool is_ipv4 = contains(address, ".") && !contains(address, ":");
  return fmt::format("ip {}route get {}", is_ipv4 ? "" : "-6 ", address);
}

/// Returns whether ibv_modify_qp fails because of RoCE's addresses (GIDs), and not because of an InfiniBand fabric.
bool is_trouble_of_gids(const JobFacts& facts, const MessageLines& modify) {
  const bool is_roce = facts.has_ports_of("RoCE");
  const bool is_infiniband = facts.has_ports_of("IB");
  if (is_infiniband && !is_roce) return false;
  return std::any_of(modify.kept.begin(), modify.kept.end(), [&](const KeptMessage& message) {
    return (is_roce && !is_infiniband) ||
           contains_any(message.text(), {"Invalid argument", "No data available",
                                         "Network is unreachable", "fe80:", "local GID ::,"}) ||
           queue_pair_of(message).trouble <= Trouble::PeersGid;
  });
}

/// Replaces the finding's general title, cause and fix by those of the queue pair with the most certain reason.
/// on     ` on mlx5_0, mlx5_1`; empty: unknown devices
/// index  GID index, from the line or the setting; empty: unknown
void explain_pair(const QueuePair& pair, const std::string& on, const std::string& index,
                  Finding& finding) {
  const std::string from = pair.local.empty() ? "this port" : std::string(pair.local);
  const std::string to = pair.remote.empty() ? "the peer's" : std::string(pair.remote);
  switch (pair.trouble) {
    case Trouble::OwnGid:
      finding.title = fmt::format("the GID{} is empty{}: queue pairs do not connect",
                                  index.empty() ? "" : " at index " + index, on);
      finding.cause = fmt::format(
          "NCCL_IB_GID_INDEX{} names an entry of the port's GID table that holds no address (local "
          "GID ::): the table was renumbered when a link or an address changed, or "
          "differs between hosts",
          index.empty() ? "" : "=" + index);
      finding.confidence = Confidence::High;
      break;
    case Trouble::PeersGid:
      finding.title = fmt::format("the peer's GID is empty: queue pairs do not connect{}", on);
      finding.cause =
          "the peer's GID index names an empty entry of its table (remote GID ::): one "
          "NCCL_IB_GID_INDEX does not fit the tables of all hosts";
      finding.confidence = Confidence::High;
      break;
    case Trouble::NoRoute:
      finding.title =
          fmt::format("no route from {} to {}{}: queue pairs do not connect", from, to, on);
      finding.cause =
          "the kernel has no route between the two addresses: NICs that are not cabled to each "
          "other (a rail or a point-to-point link), another subnet, or a GID of the wrong kind";
      finding.fix = fmt::format(
          "{}; ping between the two addresses; NCCL_IB_HCA="
          "<NICs that reach each other>; show_gids for the index",
          pair.remote.empty() ? "ip -6 route get <remote GID>" : route_question(to));
      break;
    case Trouble::NoAnswer:
      finding.title =
          fmt::format("{} does not answer {}{}: queue pairs do not connect", to, from, on);
      break;
    case Trouble::Other:
      break;
  }
}

/// Explains failures of ibv_modify_qp: no address, no route, or no answer between two ports.
void report_unconnected_pairs(const JobFacts& facts, Findings& findings) {
  const MessageLines& modify = facts.messages[MessageId::IbModifyQpFailed];
  if (modify.evidence.empty()) return;
  std::optional<QueuePair> worst;
  std::set<std::string> devices;
  for (const KeptMessage& message : modify.kept) {
    const QueuePair pair = queue_pair_of(message);
    if (!pair.device.empty()) devices.emplace(pair.device);
    if (!worst || pair.trouble < worst->trouble) worst = pair;
  }
  const std::string on = devices.empty() ? std::string() : " on " + list_of_set(devices);
  const Setting* variable = facts.setting("NCCL_IB_GID_INDEX");
  const bool is_of_gids = is_trouble_of_gids(facts, modify);

  Finding& finding =
      findings.add(is_of_gids ? "gid_index" : "ib_error", Severity::Error,
                   "queue pairs do not connect" + on + ": ibv_modify_qp fails", modify);
  finding.confidence = Confidence::Medium;
  if (is_of_gids) {
    finding.cause = "the GID of the RoCE port is of the wrong kind or not routed";
    finding.fix =
        "show_gids   # then NCCL_IB_GID_INDEX of the RoCE v2 entry; from 2.21 on leave it unset";
    if (variable != nullptr) {
      finding.evidence.mix(variable->evidence);
      finding.cause =
          "NCCL_IB_GID_INDEX=" + variable->value + " does not name a usable GID on every port";
    }
  } else {
    finding.cause =
        "no path between the two ports: cabling, partition keys, or rails that are not routed";
    finding.fix = "ib_write_bw between the two hosts, on the devices named";
  }
  if (!worst) return;
  const std::string index = !worst->index.empty() ? std::string(worst->index)
                            : variable != nullptr ? variable->value
                                                  : std::string();
  explain_pair(*worst, on, index, finding);
}

/// Adds the cause if the text shows that only large packets are lost: a switch with a smaller MTU.
void name_small_mtu(const JobFacts& facts, Finding& finding) {
  const bool has_silent_peer = std::ranges::find(facts.capabilities, CapabilityFact::What::NoPing,
                                                 &CapabilityFact::what) != facts.capabilities.end();
  if (has_silent_peer) return;  // small packets are lost too
  for (const CapabilityFact& fact : facts.capabilities) {
    if (fact.what != CapabilityFact::What::LargePacket) continue;
    finding.evidence.add(fact.quoted);
    finding.title += fmt::format("; packets of {} bytes are lost on the path", fact.index);
    finding.cause =
        "the MTU of a switch or router between the hosts is smaller than that of their ports "
        "(ping -M do shows it): what is larger is dropped, and RDMA's requests end unanswered";
    finding.fix =
        "an MTU of 9,216 on every switch port between them; or ip link set <interface> mtu 1500 "
        "on all hosts, with which RoCE takes 1,024; ping -M do -s 8972 <peer> must then pass";
    return;
  }
}

/// Returns the status of a failed request, an ibv_wc_status of infiniband/verbs.h; -1: the line has none.
std::int64_t completion_status(const KeptMessage& message) {
  const std::int64_t status = message.number("status");
  if (status >= 0) return status;
  // Keys in the formats of other plugins, and in lines that people cut.
  for (const std::string_view key : {"status=", "error "}) {
    const std::string value(value_behind(message.text(), key));
    if (!value.empty() && value.front() >= '0' && value.front() <= '9')
      return std::strtol(value.c_str(), nullptr, 10);
  }
  return -1;
}

/// Returns whether the request failed itself, and was not flushed from a queue that had failed before.
bool is_own_failure(const KeptMessage& message) {
  return completion_status(message) != job::kFlushed;
}

/// What the lines about failed requests state together.
struct FailedRequests {
  std::int64_t status = -1;              ///< the first one that a line has
  std::vector<std::uint32_t> reporters;  ///< process of each line
  std::set<std::string> peers, devices;
  std::string gids;            ///< `; seen between the GIDs fe80::1 and fe80::2`, of one line
  bool is_link_local = false;  ///< a local GID is of the link alone
};

FailedRequests failed_requests(const MessageLines& completions) {
  FailedRequests failed;
  for (const KeptMessage& message : completions.kept) {
    if (!is_own_failure(message)) continue;
    if (failed.status < 0) failed.status = completion_status(message);
    failed.reporters.push_back(message.process());
    const std::string_view peer = message.argument("peer");
    if (!peer.empty()) failed.peers.emplace(peer.substr(0, peer.find('<')));
    const std::string_view text = message.text();
    failed.is_link_local = failed.is_link_local || contains(text, "localGid fe80");
    const std::string_view device = value_behind(text, "hca ");
    if (!device.empty()) failed.devices.emplace(device);
    const std::string_view local = value_behind(text, "localGid ");
    if (failed.gids.empty() && !local.empty()) {
      failed.gids =
          fmt::format("; seen between the GIDs {} and {}", local, value_behind(text, "remoteGids"));
    }
  }
  return failed;
}

/// Explains RDMA requests that failed. `first` are the lines of those that were not flushed.
void report_failed_requests(const JobFacts& facts, const Evidence& first, Findings& findings) {
  const FailedRequests failed = failed_requests(facts.messages[MessageId::IbCompletion]);
  constexpr job::CompletionMeaning kOther{
      "another error", "the transport reports an error",
      "ibstat on both ends; perfquery: symbol errors, link downs, discards"};
  const job::CompletionMeaning* known = job::meaning_of_completion(failed.status);
  const job::CompletionMeaning& meaning = known == nullptr ? kOther : *known;
  // If other NICs take over, the job continues.
  const bool is_survived = facts.messages.has(MessageId::IbDeviceFailed) &&
                           !facts.messages.has(MessageId::IbDevicesLost);
  Finding& finding =
      findings.add("ib_error", is_survived ? Severity::Warning : Severity::Error, {}, first);
  findings.add_processes(finding, failed.reporters);
  // A peer that all errors name is the suspect; otherwise the ranks that report the error.
  const bool is_one = failed.peers.size() == 1;
  finding.title =
      fmt::format("RDMA requests{}{} fail with status {} ({}){}",
                  is_one ? " to " + named_address(facts, *failed.peers.begin()) : std::string(),
                  failed.devices.empty() ? std::string() : " on " + list_of_set(failed.devices),
                  failed.status, meaning.name, is_one ? std::string() : names_of_hosts(finding));
  finding.confidence = Confidence::Medium;
  finding.cause = std::string(meaning.cause) + failed.gids;
  if (facts.has_ports_of("RoCE") && facts.has_ports_of("IB"))
    finding.cause += "; the list of devices mixes InfiniBand and RoCE ports";
  finding.fix = meaning.fix;
  if (failed.status == job::kRetriesExhausted) name_small_mtu(facts, finding);
  if (failed.is_link_local && facts.has_ports_of("RoCE")) {
    Finding& gid =
        findings.add("gid_index", Severity::Warning, "a RoCE port uses its link-local GID");
    gid.evidence = first;
    gid.confidence = Confidence::Medium;
    gid.cause =
        "the GID index that is in use is of RoCE v1 or link-local: switches do not route it";
    gid.fix = "NCCL_IB_GID_INDEX=3   # the RoCE v2 entry that show_gids lists";
  }
}

/// A failure of an adapter or of a network plugin, whose cause is the message's meaning in the catalogue.
struct AdapterFailure {
  MessageId id;
  std::string_view title, fix;
};
constexpr std::string_view kLookAtAdapter =
    "dmesg on that host; firmware and driver of the adapter";
constexpr auto kAdapterFailures = std::to_array<AdapterFailure>({
    {MessageId::IbAsyncFatal, "an RDMA adapter reports a fatal event", kLookAtAdapter},
    {MessageId::IbDevicesLost, "no RDMA device of a connection is left", kLookAtAdapter},
    {MessageId::OfiRequestFailed, "requests of the network plugin fail", {}},  // explain_ofi()
    {MessageId::IbMixedDevices, "one connection joins different RDMA devices",
     "NCCL_IB_HCA=<devices of one link layer, in one order on all hosts>"},
    {MessageId::UcxError, "requests of the network plugin fail", kLookAtAdapter},
});

/// Adds what a failed request of aws-ofi-nccl means.
void explain_ofi(const JobFacts& facts, const MessageLines& lines, Finding& finding) {
  const std::int64_t code = lines.kept.empty() ? -1 : lines.kept.front().number("code");
  if (code > 0) finding.title += fmt::format(": RC {}", code);
  finding.cause =
      "libfabric's provider gave up on a request: the peer or the fabric does not answer, or "
      "the provider and the plugin (aws-ofi-nccl) do not fit together";
  const OfiFabric fabric = ofi_fabric(facts);
  finding.fix =
      fmt::format("update libfabric and the plugin together; {}look at the peer's log",
                  fabric == OfiFabric::Efa ? "the security group must allow all traffic to itself; "
                  : fabric == OfiFabric::Slingshot ? "check FI_CXI_* and the VNI; "
                                                   : "");
}

void report_adapter_failure(const JobFacts& facts, const AdapterFailure& failure,
                            Findings& findings) {
  const MessageLines& lines = facts.messages[failure.id];
  const bool is_ofi = failure.id == MessageId::OfiRequestFailed;
  Finding draft;
  findings.quote(draft, lines, [&](const KeptMessage& message) {
    // Other rules explain port events, and a plugin that cannot open a device or lock memory.
    return is_warning(message) && !is_port_event(message.text()) &&
           !(is_ofi && (fails_to_open(facts, message.text()) || is_memory_refused(message.text())));
  });
  if (draft.evidence.empty()) return;
  // Another finding names a peer that does not answer.
  if (is_ofi && findings.has("efa_unreachable")) return;
  Finding& finding = findings.add("ib_error", Severity::Error, std::string(failure.title), draft);
  const std::string_view device =
      lines.kept.empty() ? std::string_view() : lines.kept.front().argument("device");
  if (!device.empty()) finding.title += fmt::format(": {}", device);
  finding.cause = std::string(facts_of(failure.id).meaning);
  finding.fix = failure.fix;
  if (is_ofi) explain_ofi(facts, lines, finding);
}

}  // namespace

void look_for_ib_errors(const JobFacts& facts, Findings& findings) {
  report_unconnected_pairs(facts, findings);

  const MessageLines& completions = facts.messages[MessageId::IbCompletion];
  const Evidence first = evidence_of(completions, is_own_failure);
  if (!first.empty()) {
    report_failed_requests(facts, first, findings);
  } else if (!completions.evidence.empty()) {
    Finding& finding =
        findings.add("ib_error", Severity::Info,
                     "requests were flushed: the queue had failed before", completions);
    finding.cause = "status 5 follows another error, here or at the peer";
    finding.fix = "look for the first failure in the logs of the other ranks";
  }

  for (const AdapterFailure& failure : kAdapterFailures) {
    report_adapter_failure(facts, failure, findings);
  }
}

}  // namespace ringside::audit
