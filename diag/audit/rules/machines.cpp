#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"
#include "diag/audit/rules/words.h"
#include "diag/audit/summary.h"
#include "diag/logparse/xid_meaning.h"

namespace ringside::audit {

using namespace logs;  // its records are this folder's daily words

namespace {

bool is_port_event(std::string_view text) {
  const std::string low = lower(text);
  return contains_any(low, {"port error", "port_err", "port active", "port_active"});
}

bool is_port_down(std::string_view text) {
  const std::string low = lower(text);
  return contains_any(low, {"port error", "port_err"});
}

bool has_roce(const JobFacts& facts) {
  return std::any_of(facts.net_devices.begin(), facts.net_devices.end(), [](const auto& entry) {
    return entry.first.first == "IB" && contains(entry.first.second, "/RoCE");
  });
}

bool has_infiniband(const JobFacts& facts) {
  return std::any_of(facts.net_devices.begin(), facts.net_devices.end(), [](const auto& entry) {
    return entry.first.first == "IB" && contains(entry.first.second, "/IB");
  });
}

std::string names_of_hosts(const Finding& finding) {
  if (finding.hosts.size() == 1) return ", all on " + finding.hosts.front();
  return finding.hosts.empty() ? std::string() : fmt::format(" on {}", list_of(finding.hosts));
}

Severity severity_of(XidWeight weight) {
  switch (weight) {
    case XidWeight::Event:
      return Severity::Info;
    case XidWeight::Warning:
      return Severity::Warning;
    case XidWeight::Fault:
      break;
  }
  return Severity::Error;
}

}  // namespace

void look_for_gpu_faults(const JobFacts& facts, Findings& findings) {
  const XidMeaning* worst = nullptr;
  bool has_unknown = false, has_fatal_event = false;
  Finding draft;
  std::string title;
  for (const XidFact& xid : facts.xids) {
    draft.evidence.add(xid.quoted.place, xid.quoted.process, xid.quoted.text);
    const XidMeaning* meaning = xid.is_switch ? nullptr : meaning_of_xid(xid.code);
    has_unknown = has_unknown || (meaning == nullptr && !xid.is_switch);
    // NVLink 5 says by a word whether an event is of any consequence.
    const bool is_event = meaning != nullptr && contains(xid.text, "Nonfatal");
    has_fatal_event = has_fatal_event || (xid.code >= 144 && xid.code <= 150 && !is_event &&
                                          contains(xid.text, " Fatal"));
    const bool is_worse =
        meaning != nullptr && !is_event && (worst == nullptr || meaning->weight > worst->weight);
    if (!is_worse && !(xid.is_switch && xid.is_fatal && title.empty())) continue;
    if (meaning != nullptr) worst = meaning;
    title = fmt::format(
        "{}Xid {}: {}", xid.is_switch ? "S" : "", xid.code,
        meaning != nullptr ? meaning->text : std::string_view("a fault of the NVSwitch"));
    if (xid.bus_id > 0) title += fmt::format(" (PCI {})", bus_text(xid.bus_id));
    for (const CommFacts& comm : facts.comms) {
      for (const Member& member : comm.members) {
        if (member.bus_id == xid.bus_id && xid.bus_id > 0) draft.ranks.push_back(member.rank);
      }
    }
  }
  const MessageLines& bus = facts.messages[MessageId::FallenOffBus];
  if (!bus.evidence.empty()) {
    findings.quote(draft, bus);
    if (title.empty()) title = "a GPU has fallen off the bus";
  }
  if (title.empty() && draft.evidence.empty()) return;
  if (title.empty()) title = fmt::format("Xid {}", facts.xids.front().code);
  const bool is_switch = std::any_of(facts.xids.begin(), facts.xids.end(), [](const XidFact& xid) {
    return xid.is_switch && xid.is_fatal;
  });
  Severity severity = worst != nullptr ? severity_of(worst->weight)
                      : has_unknown    ? Severity::Warning
                                       : Severity::Info;
  if (!bus.evidence.empty() || is_switch || has_fatal_event) severity = Severity::Error;
  Finding& finding = findings.add("xid_error", severity, title);
  finding.evidence = draft.evidence;
  std::sort(draft.ranks.begin(), draft.ranks.end());
  finding.ranks = draft.ranks;
  finding.cause = "the GPU's driver reports a fault in the kernel log";
  finding.fix = worst != nullptr ? std::string(worst->action)
                                 : "nvidia-smi -q; reset the GPU, then restart the node";
}

void look_for_cuda_errors(const JobFacts& facts, Findings& findings) {
  Finding draft;
  std::string text;
  for (const MessageId id : {MessageId::CudaFailure, MessageId::CudaError, MessageId::DriverTooOld,
                             MessageId::NvmlFailed, MessageId::LaunchRace, MessageId::GraphCapture,
                             MessageId::WrongDevicePointer, MessageId::NvlsBindFailed}) {
    const MessageLines& lines = facts.messages[id];
    const Evidence evidence = evidence_of(lines, is_warning);
    if (evidence.empty()) continue;
    draft.evidence.mix(evidence);
    std::vector<std::uint32_t> who;
    for (const KeptMessage& message : lines.kept) {
      if (!is_warning(message)) continue;
      who.push_back(message.process());
      if (text.empty()) text = message.argument("error");
      if (text.empty()) text = message.text().substr(0, 100);
    }
    findings.say_who(draft, who);
  }
  for (const KeptMessage& message : facts.messages[MessageId::BenchmarkError].kept) {
    if (!contains(message.text(), "CUDA failure")) continue;
    draft.evidence.add(message.place(), message.process(), message.line());
    if (text.empty()) text = message.argument("error");
  }
  for (const PlainLine line : {PlainLine::OutOfGpuMemory, PlainLine::DeviceAssert}) {
    const PlainLines& lines = facts.plain_of(line);
    if (lines.evidence.empty()) continue;
    draft.evidence.mix(lines.evidence);
    if (text.empty())
      text = line == PlainLine::OutOfGpuMemory ? "CUDA out of memory" : "device-side assert";
  }
  for (const PythonErrorFact& error : facts.python_errors) {
    if (!contains_any(error.text, {"CUDA error", "HIP error"})) continue;
    draft.evidence.add(error.quoted.place, error.quoted.process, error.quoted.text);
    if (error.rank >= 0) draft.ranks.push_back(error.rank);
    if (text.empty()) text = error.text.substr(0, 100);
  }
  if (draft.evidence.empty()) return;
  Finding& finding = findings.add("cuda_error", Severity::Error, "a CUDA call fails: " + text);
  finding.evidence = draft.evidence;
  finding.ranks = draft.ranks;
  finding.hosts = draft.hosts;
  finding.cause = cause_of_cuda_error(text);
  const bool is_of_nvls = findings.has("nvls_unavailable", Severity::Error) &&
                          facts.messages[MessageId::CudaError].evidence.empty() &&
                          facts.plain_of(PlainLine::OutOfGpuMemory).evidence.empty();
  if (is_of_nvls) {
    finding.cause = "the call that sets NVLink SHARP up, the finding above";
    finding.fix = "as above";
    return;
  }
  finding.fix =
      "the first rank that says so is the suspect: dmesg there for Xid lines; "
      "CUDA_LAUNCH_BLOCKING=1 to find the kernel";
}

void look_for_ib_errors(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  const MessageLines& modify = messages[MessageId::IbModifyQpFailed];
  if (!modify.evidence.empty()) {
    const auto is_gid = [&](const KeptMessage& message) {
      const std::string_view text = message.text();
      return contains_any(text, {"Invalid argument", "No data available", "Network is unreachable",
                                 "fe80:"}) ||
             (has_roce(facts) && !has_infiniband(facts));
    };
    const bool is_wrong_gid = std::any_of(modify.kept.begin(), modify.kept.end(), is_gid) &&
                              !(has_infiniband(facts) && !has_roce(facts));
    const Setting* index = facts.setting("NCCL_IB_GID_INDEX");
    Finding& finding = findings.add(is_wrong_gid ? "gid_index" : "ib_error", Severity::Error,
                                    "queue pairs do not connect: ibv_modify_qp fails");
    findings.quote(finding, modify);
    finding.confidence = Confidence::Medium;
    if (is_wrong_gid) {
      finding.cause = "the GID of the RoCE port is of the wrong kind or not routed";
      finding.fix =
          "show_gids   # then NCCL_IB_GID_INDEX of the RoCE v2 entry; from 2.21 on leave it unset";
      if (index != nullptr) {
        finding.evidence.mix(index->evidence);
        finding.cause =
            "NCCL_IB_GID_INDEX=" + index->value + " does not name a usable GID on every port";
      }
    } else {
      finding.cause =
          "no path between the two ports: cabling, partition keys, or rails that are not routed";
      finding.fix = "ib_write_bw between the two hosts, on the devices named";
    }
  }

  const MessageLines& completions = messages[MessageId::IbCompletion];
  const auto status_of = [](const KeptMessage& message) { return message.number("status"); };
  const auto is_first = [&](const KeptMessage& message) { return status_of(message) != kFlushed; };
  const Evidence first = evidence_of(completions, is_first);
  if (!first.empty()) {
    std::int64_t status = -1;
    std::vector<std::uint32_t> who;
    std::set<std::string> peers;
    bool is_link_local = false;
    for (const KeptMessage& message : completions.kept) {
      if (!is_first(message)) continue;
      if (status < 0) status = status_of(message);
      who.push_back(message.process());
      const std::string_view peer = message.argument("peer");
      if (!peer.empty()) peers.emplace(peer.substr(0, peer.find('<')));
      is_link_local = is_link_local || contains(message.text(), "localGid fe80");
    }
    const WorkStatus meaning = meaning_of_status(status);
    // Where other NICs take over, the job goes on.
    const bool is_survived =
        messages.has(MessageId::IbDeviceFailed) && !messages.has(MessageId::IbDevicesLost);
    Finding& finding =
        findings.add("ib_error", is_survived ? Severity::Warning : Severity::Error, {});
    finding.evidence = first;
    findings.say_who(finding, who);
    // The peer that all name is the one to look at; else those that complain.
    const bool is_one = peers.size() == 1;
    finding.title =
        fmt::format("RDMA requests{} fail with status {} ({}){}",
                    is_one ? " to " + named_address(facts, *peers.begin()) : std::string(), status,
                    meaning.name, is_one ? std::string() : names_of_hosts(finding));
    finding.confidence = Confidence::Medium;
    finding.cause = meaning.cause;
    finding.fix = meaning.fix;
    if (is_link_local && has_roce(facts)) {
      Finding& gid =
          findings.add("gid_index", Severity::Warning, "a RoCE port talks with its link-local GID");
      gid.evidence = first;
      gid.confidence = Confidence::Medium;
      gid.cause =
          "the GID index that is in use is of RoCE v1 or link-local: switches do not route it";
      gid.fix = "NCCL_IB_GID_INDEX=3   # the RoCE v2 entry that show_gids lists";
    }
  } else if (!completions.evidence.empty()) {
    Finding& finding = findings.add("ib_error", Severity::Info,
                                    "requests were flushed: the queue had failed before");
    findings.quote(finding, completions);
    finding.cause = "status 5 follows another error, here or at the peer";
    finding.fix = "look for the first failure in the logs of the other ranks";
  }

  for (const MessageId id :
       {MessageId::IbAsyncFatal, MessageId::IbDevicesLost, MessageId::OfiRequestFailed,
        MessageId::IbMixedDevices, MessageId::UcxError}) {
    const MessageLines& lines = messages[id];
    const Evidence evidence = evidence_of(lines, [&](const KeptMessage& message) {
      return is_warning(message) && !is_port_event(message.text()) &&
             !(id == MessageId::OfiRequestFailed && fails_to_open(facts, message.text()));
    });
    if (evidence.empty()) continue;
    Finding& finding = findings.add(
        "ib_error", Severity::Error,
        id == MessageId::IbAsyncFatal     ? "an RDMA adapter reports a fatal event"
        : id == MessageId::IbDevicesLost  ? "no RDMA device of a connection is left"
        : id == MessageId::IbMixedDevices ? "unlike RDMA devices meet in one connection"
                                          : "requests of the network plugin fail");
    finding.evidence = evidence;
    findings.say_who(finding, lines.processes);
    finding.cause = std::string(facts_of(id).meaning);
    finding.fix = id == MessageId::IbMixedDevices
                      ? "NCCL_IB_HCA=<devices of one link layer, in one order on all hosts>"
                      : "dmesg on that host; firmware and driver of the adapter";
  }

  const MessageLines& failed = messages[MessageId::IbDeviceFailed];
  if (!failed.evidence.empty()) {
    Finding& finding =
        findings.add("nic_failover", Severity::Warning, "a NIC failed and others carry on");
    findings.quote(finding, failed);
    finding.cause =
        "NCCL moved the connections to the NICs that are left: the job runs on with less bandwidth";
    finding.fix = "repair the device named";
  }
}

void look_for_link_flaps(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  Finding draft;
  std::vector<std::uint32_t> who;
  std::set<std::string> devices;
  bool is_down = false;
  for (const MessageId id : {MessageId::IbAsyncEvent, MessageId::IbAsyncFatal}) {
    for (const KeptMessage& message : messages[id].kept) {
      if (!is_port_event(message.text())) continue;
      who.push_back(message.process());
      is_down = is_down || is_port_down(message.text());
      const std::string_view device = message.argument("device");
      if (!device.empty()) devices.emplace(device);
    }
    draft.evidence.mix(evidence_of(
        messages[id], [](const KeptMessage& message) { return is_port_event(message.text()); }));
  }
  const Evidence kernel = evidence_of(
      messages[MessageId::KernelLink],
      [](const KeptMessage& message) { return contains(lower(message.text()), "link down"); });
  draft.evidence.mix(kernel);
  if (draft.evidence.empty()) return;
  Finding& finding = findings.add("link_flap", Severity::Error, {});
  finding.evidence = draft.evidence;
  findings.say_who(finding, who);
  const std::vector<std::string> names(devices.begin(), devices.end());
  const std::string where = finding.hosts.empty() ? std::string() : " on " + list_of(finding.hosts);
  finding.title =
      fmt::format("{} {}{}", names.empty() ? std::string("a network port") : list_of(names),
                  is_down || !kernel.empty() ? "went down" : "came up again", where);
  finding.cause =
      "the adapter reports that its link was lost: a cable, a transceiver, a switch port";
  finding.fix = "ibstat; mlxlink -d <device> -m -c; replace cable or transceiver";
}

}  // namespace ringside::audit
