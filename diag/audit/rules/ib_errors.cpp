#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
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

std::string names_of_hosts(const Finding& finding) {
  if (finding.hosts.size() == 1) return ", all on " + finding.hosts.front();
  return finding.hosts.empty() ? std::string() : fmt::format(" on {}", list_of(finding.hosts));
}

/// Why a queue pair does not connect, the most certain reason first.
enum class Trouble : std::uint8_t { OwnGid, PeersGid, NoRoute, NoAnswer, Other };

struct QueuePair {
  Trouble trouble = Trouble::Other;
  std::string_view device, local, remote, index;
};

QueuePair queue_pair_of(const KeptMessage& message) {
  const std::string_view text = message.text();
  QueuePair pair;
  pair.device = value_behind(text, "dev ");
  pair.index = value_behind(text, "GID index ");
  pair.local = value_behind(text, "local GID ");
  if (pair.local == "index") {
    // In `local GID index 3, local GID ::1`, the second one is the address.
    pair.local = value_behind(text.substr(text.find("local GID ") + 10), "local GID ");
  }
  pair.remote = value_behind(text, "remote GID ");
  if (contains(text, "No data available") || pair.local == "::") {
    pair.trouble = Trouble::OwnGid;
  } else if (pair.remote == "::") {
    pair.trouble = Trouble::PeersGid;
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

/// Explains failures of ibv_modify_qp: no address, no route, or no answer between two ports.
void say_unconnected_pairs(const JobFacts& facts, Findings& findings) {
  const MessageLines& modify = facts.messages[MessageId::IbModifyQpFailed];
  if (modify.evidence.empty()) return;
  const auto is_gid = [&](const KeptMessage& message) {
    const std::string_view text = message.text();
    return contains_any(text, {"Invalid argument", "No data available", "Network is unreachable",
                               "fe80:", "local GID ::,"}) ||
           queue_pair_of(message).trouble <= Trouble::PeersGid ||
           (facts.has_ports_of("RoCE") && !facts.has_ports_of("IB"));
  };
  const bool is_wrong_gid = std::any_of(modify.kept.begin(), modify.kept.end(), is_gid) &&
                            !(facts.has_ports_of("IB") && !facts.has_ports_of("RoCE"));
  QueuePair worst;
  std::set<std::string> devices;
  for (const KeptMessage& message : modify.kept) {
    const QueuePair pair = queue_pair_of(message);
    if (!pair.device.empty()) devices.emplace(pair.device);
    if (worst.device.empty() || pair.trouble < worst.trouble) worst = pair;
  }
  const std::vector<std::string> names(devices.begin(), devices.end());
  const std::string on = names.empty() ? std::string() : " on " + list_of(names);
  const std::string from = worst.local.empty() ? "this port" : std::string(worst.local);
  const std::string to = worst.remote.empty() ? "the peer's" : std::string(worst.remote);
  const Setting* variable = facts.setting("NCCL_IB_GID_INDEX");
  const std::string index = !worst.index.empty()  ? std::string(worst.index)
                            : variable != nullptr ? variable->value
                                                  : std::string();

  Finding& finding =
      findings.add(is_wrong_gid ? "gid_index" : "ib_error", Severity::Error,
                   "queue pairs do not connect" + on + ": ibv_modify_qp fails", modify);
  finding.confidence = Confidence::Medium;
  if (!is_wrong_gid) {
    finding.cause =
        "no path between the two ports: cabling, partition keys, or rails that are not routed";
    finding.fix = "ib_write_bw between the two hosts, on the devices named";
  } else {
    finding.cause = "the GID of the RoCE port is of the wrong kind or not routed";
    finding.fix =
        "show_gids   # then NCCL_IB_GID_INDEX of the RoCE v2 entry; from 2.21 on leave it unset";
    if (variable != nullptr) {
      finding.evidence.mix(variable->evidence);
      finding.cause =
          "NCCL_IB_GID_INDEX=" + variable->value + " does not name a usable GID on every port";
    }
  }
  switch (worst.trouble) {
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
          worst.remote.empty() ? "ip -6 route get <remote GID>" : route_question(to));
      break;
    case Trouble::NoAnswer:
      finding.title =
          fmt::format("{} does not answer {}{}: queue pairs do not connect", to, from, on);
      break;
    case Trouble::Other:
      break;
  }
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

}  // namespace

void look_for_ib_errors(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  say_unconnected_pairs(facts, findings);

  const MessageLines& completions = messages[MessageId::IbCompletion];
  const auto status_of = [](const KeptMessage& message) {
    const std::int64_t status = message.number("status");
    if (status >= 0) return status;
    // Keys in the formats of other plugins, and in lines that people cut.
    for (const std::string_view key : {"status=", "error "}) {
      const std::string value(value_behind(message.text(), key));
      if (!value.empty() && value.front() >= '0' && value.front() <= '9')
        return std::int64_t{std::strtol(value.c_str(), nullptr, 10)};
    }
    return std::int64_t{-1};
  };
  const auto is_first = [&](const KeptMessage& message) {
    return status_of(message) != job::kFlushed;
  };
  const Evidence first = evidence_of(completions, is_first);
  if (!first.empty()) {
    std::int64_t status = -1;
    std::vector<std::uint32_t> who;
    std::set<std::string> peers, devices;
    std::string gids;
    bool is_link_local = false;
    for (const KeptMessage& message : completions.kept) {
      if (!is_first(message)) continue;
      if (status < 0) status = status_of(message);
      who.push_back(message.process());
      const std::string_view peer = message.argument("peer");
      if (!peer.empty()) peers.emplace(peer.substr(0, peer.find('<')));
      const std::string_view text = message.text();
      is_link_local = is_link_local || contains(text, "localGid fe80");
      const std::string_view device = value_behind(text, "hca ");
      if (!device.empty()) devices.emplace(device);
      const std::string_view local = value_behind(text, "localGid ");
      if (gids.empty() && !local.empty()) {
        gids = fmt::format("; seen between the GIDs {} and {}", local,
                           value_behind(text, "remoteGids"));
      }
    }
    constexpr job::CompletionMeaning kOther{
        "another error", "the transport reports an error",
        "ibstat on both ends; perfquery: symbol errors, link downs, discards"};
    const job::CompletionMeaning* known = job::meaning_of_completion(status);
    const job::CompletionMeaning& meaning = known == nullptr ? kOther : *known;
    // If other NICs take over, the job continues.
    const bool is_survived =
        messages.has(MessageId::IbDeviceFailed) && !messages.has(MessageId::IbDevicesLost);
    Finding& finding =
        findings.add("ib_error", is_survived ? Severity::Warning : Severity::Error, {}, first);
    findings.say_who(finding, who);
    // A peer that all errors name is the suspect; otherwise the ranks that report the error.
    const bool is_one = peers.size() == 1;
    finding.title = fmt::format(
        "RDMA requests{}{} fail with status {} ({}){}",
        is_one ? " to " + named_address(facts, *peers.begin()) : std::string(),
        devices.empty()
            ? std::string()
            : " on " + list_of(std::vector<std::string>(devices.begin(), devices.end())),
        status, meaning.name, is_one ? std::string() : names_of_hosts(finding));
    finding.confidence = Confidence::Medium;
    finding.cause = std::string(meaning.cause) + gids;
    if (facts.has_ports_of("RoCE") && facts.has_ports_of("IB"))
      finding.cause += "; the list of devices mixes InfiniBand and RoCE ports";
    finding.fix = meaning.fix;
    constexpr std::int64_t kRetriesExhausted = 12;  // IBV_WC_RETRY_EXC_ERR of infiniband/verbs.h
    if (status == kRetriesExhausted) name_small_mtu(facts, finding);
    if (is_link_local && facts.has_ports_of("RoCE")) {
      Finding& gid =
          findings.add("gid_index", Severity::Warning, "a RoCE port uses its link-local GID");
      gid.evidence = first;
      gid.confidence = Confidence::Medium;
      gid.cause =
          "the GID index that is in use is of RoCE v1 or link-local: switches do not route it";
      gid.fix = "NCCL_IB_GID_INDEX=3   # the RoCE v2 entry that show_gids lists";
    }
  } else if (!completions.evidence.empty()) {
    Finding& finding =
        findings.add("ib_error", Severity::Info,
                     "requests were flushed: the queue had failed before", completions);
    finding.cause = "status 5 follows another error, here or at the peer";
    finding.fix = "look for the first failure in the logs of the other ranks";
  }

  for (const MessageId id :
       {MessageId::IbAsyncFatal, MessageId::IbDevicesLost, MessageId::OfiRequestFailed,
        MessageId::IbMixedDevices, MessageId::UcxError}) {
    const MessageLines& lines = messages[id];
    const Evidence evidence = evidence_of(lines, [&](const KeptMessage& message) {
      return is_warning(message) && !is_port_event(message.text()) &&
             !(id == MessageId::OfiRequestFailed &&
               (fails_to_open(facts, message.text()) || is_memory_refused(message.text())));
    });
    if (evidence.empty()) continue;
    // Another finding names a peer that does not answer.
    const bool is_of_plugin = id == MessageId::OfiRequestFailed;
    if (is_of_plugin && findings.has("efa_unreachable")) continue;
    Finding& finding = findings.add(
        "ib_error", Severity::Error,
        id == MessageId::IbAsyncFatal     ? "an RDMA adapter reports a fatal event"
        : id == MessageId::IbDevicesLost  ? "no RDMA device of a connection is left"
        : id == MessageId::IbMixedDevices ? "one connection joins different RDMA devices"
                                          : "requests of the network plugin fail",
        evidence);
    findings.say_who(finding, lines.processes);
    const std::string_view device =
        lines.kept.empty() ? std::string_view() : lines.kept.front().argument("device");
    if (!device.empty()) finding.title += fmt::format(": {}", device);
    finding.cause = std::string(facts_of(id).meaning);
    finding.fix = id == MessageId::IbMixedDevices
                      ? "NCCL_IB_HCA=<devices of one link layer, in one order on all hosts>"
                      : "dmesg on that host; firmware and driver of the adapter";
    if (is_of_plugin) {
      const std::int64_t code = lines.kept.empty() ? -1 : lines.kept.front().number("code");
      if (code > 0) finding.title += fmt::format(": RC {}", code);
      finding.cause =
          "libfabric's provider gave up on a request: the peer or the fabric does not answer, or "
          "the provider and the plugin (aws-ofi-nccl) do not fit together";
      const OfiFabric fabric = ofi_fabric(facts);
      finding.fix = fmt::format(
          "update libfabric and the plugin together; {}look at the peer's log",
          fabric == OfiFabric::Efa         ? "the security group must allow all traffic to itself; "
          : fabric == OfiFabric::Slingshot ? "check FI_CXI_* and the VNI; "
                                           : "");
    }
  }
}

}  // namespace ringside::audit
