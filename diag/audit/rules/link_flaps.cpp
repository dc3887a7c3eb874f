#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Lines of adapters about their ports.
struct PortEvents {
  Evidence evidence;
  std::vector<std::uint32_t> processes;
  std::set<std::string> devices;
  bool is_down = false;  ///< a line reports that a port went down, not only that one came up
};

bool is_port_down(std::string_view text) {
  return contains_any(lower_case(text), {"port error", "port_err"});
}

/// Returns the events that NCCL's network reports.
PortEvents port_events(const MessageLog& messages) {
  PortEvents events;
  for (const MessageId id : {MessageId::IbAsyncEvent, MessageId::IbAsyncFatal}) {
    Evidence lines;
    for (const KeptMessage& message : messages[id].kept) {
      if (!is_port_event(message.text())) continue;
      lines.add(message.quoted());
      events.processes.push_back(message.process());
      events.is_down = events.is_down || is_port_down(message.text());
      const std::string_view device = message.argument("device");
      if (!device.empty()) events.devices.emplace(device);
    }
    events.evidence.mix(lines);
  }
  return events;
}

/// Returns whether a line of the kernel reports that a link went down.
bool is_link_down(const KeptMessage& message) {
  return contains(lower_case(message.text()), "link down");
}

}  // namespace

void look_for_link_flaps(const JobFacts& facts, Findings& findings) {
  const PortEvents events = port_events(facts.messages);
  const MessageLines& kernel = facts.messages[MessageId::KernelLink];
  const bool is_seen_by_kernel = std::ranges::any_of(kernel.kept, is_link_down);
  if (events.evidence.empty() && !is_seen_by_kernel) return;
  Finding& finding = findings.add("link_flap", Severity::Error, {}, events.evidence);
  findings.add_processes(finding, events.processes);
  findings.quote(finding, kernel, is_link_down);
  const std::vector<std::string> devices(events.devices.begin(), events.devices.end());
  finding.title =
      fmt::format("{} {}{}", devices.empty() ? std::string("a network port") : list_of(devices),
                  events.is_down || is_seen_by_kernel ? "went down" : "came up again",
                  finding.hosts.empty() ? std::string() : " on " + list_of(finding.hosts));
  finding.cause =
      "the adapter reports that its link was lost: a cable, a transceiver, a switch port";
  finding.fix = "ibstat; mlxlink -d <device> -m -c; replace cable or transceiver";
}

}  // namespace ringside::audit
