#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diag/audit/hang_view.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"
#include "diag/audit/summary.h"
#include "diag/job/xid_meaning.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

bool is_port_down(std::string_view text) {
  const std::string low = lower_case(text);
  return contains_any(low, {"port error", "port_err"});
}

Severity severity_of(job::XidWeight weight) {
  switch (weight) {
    case job::XidWeight::Event:
      return Severity::Info;
    case job::XidWeight::Warning:
      return Severity::Warning;
    case job::XidWeight::Fault:
      break;
  }
  return Severity::Error;
}

}  // namespace

void look_for_gpu_faults(const JobFacts& facts, Findings& findings) {
  const job::XidMeaning* worst = nullptr;
  bool has_unknown = false, has_fatal_event = false;
  Finding draft;
  std::string title;
  const job::ProcessRanks ranks =
      facts.xids.empty() ? job::ProcessRanks() : ranks_of_processes(facts);
  for (const XidFact& xid : facts.xids) {
    draft.evidence.add(xid.quoted);
    const job::XidMeaning* meaning = xid.is_switch ? nullptr : job::meaning_of_xid(xid.code);
    has_unknown = has_unknown || (meaning == nullptr && !xid.is_switch);
    // An NVLink 5 line states by a word whether the event has consequences.
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
    const std::int32_t host = facts.processes[xid.quoted.process].host;
    const std::string name = host < 0 ? "" : facts.host_name(host);
    int rank = ranks.rank_of_gpu(name, xid.bus_id);
    if (rank < 0) rank = ranks.rank_of(name, xid.pid);
    if (rank >= 0) draft.ranks.push_back(rank);
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
  sort_once(draft.ranks);
  Finding& finding = findings.add("xid_error", severity, title, draft);
  finding.cause = "the GPU's driver reports a fault in the kernel log";
  finding.fix = worst != nullptr ? std::string(worst->action)
                                 : "nvidia-smi -q; reset the GPU, then restart the node";
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
      [](const KeptMessage& message) { return contains(lower_case(message.text()), "link down"); });
  draft.evidence.mix(kernel);
  if (draft.evidence.empty()) return;
  Finding& finding = findings.add("link_flap", Severity::Error, {}, draft);
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
