#include <fmt/format.h>

#include <map>

#include "diag/audit/rules/rule.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// A port of one host, as listed by NCCL.
struct Port {
  std::string name, link;
  std::int64_t mbps = 0;
  const KeptMessage* said = nullptr;
};

/// Returns each port of each host once.
std::map<std::int32_t, std::map<std::string, Port>> ports_of_hosts(const JobFacts& facts) {
  std::map<std::int32_t, std::map<std::string, Port>> hosts;
  for (const KeptMessage& message : facts.messages[MessageId::IbDevice].kept) {
    const std::int64_t mbps = message.number("speed");
    if (mbps <= 0) continue;
    const std::string name =
        fmt::format("{}:{}", message.argument("hca"), message.number("port", 1));
    hosts[facts.processes[message.process()].host].try_emplace(
        name, Port{name, std::string(message.argument("link")), mbps, &message});
  }
  return hosts;
}

/// Returns the only port whose rate is at most half that of all others of its link layer; nullptr: none, or several.
/// Ports of one network come in fours and eights: an additional slower one belongs to another network, such as a
/// cloud's front end.
const Port* slow_port(const std::map<std::string, Port>& ports, std::int64_t& usual) {
  constexpr std::size_t kFew = 4;  // the smallest number of ports that can show an outlier
  if (ports.size() < kFew || ports.size() % kFew != 0) return nullptr;
  usual = 0;
  for (const auto& [name, port] : ports) usual = std::max(usual, port.mbps);
  const Port* slow = nullptr;
  for (const auto& [name, port] : ports) {
    if (port.link != ports.begin()->second.link) return nullptr;
    if (port.mbps == usual) continue;
    if (slow != nullptr || port.mbps * 2 > usual) return nullptr;
    slow = &port;
  }
  return slow;
}

}  // namespace

void look_for_slow_ports(const JobFacts& facts, Findings& findings) {
  for (const auto& [host, ports] : ports_of_hosts(facts)) {
    std::int64_t usual = 0;
    const Port* slow = slow_port(ports, usual);
    if (slow == nullptr) continue;
    constexpr std::int64_t kMbpsOfGbit = 1'000;
    Finding& finding =
        findings.add("link_degraded", Severity::Warning,
                     fmt::format("{} runs at {} Gbit/s, comparable ports at {}", slow->name,
                                 slow->mbps / kMbpsOfGbit, usual / kMbpsOfGbit));
    finding.evidence.add(slow->said->place(), slow->said->process(), slow->said->line());
    findings.add_processes(finding, std::array{slow->said->process()});
    finding.confidence = Confidence::Medium;
    finding.cause =
        "the port has come up with fewer lanes or at a lower rate: a cable, a transceiver, the "
        "switch's port; or it is of another network";
    finding.fix =
        fmt::format("ibstat and mlxlink -d {} on that host; NCCL_IB_HCA excludes it meanwhile",
                    slow->name.substr(0, slow->name.find(':')));
  }
}

}  // namespace ringside::audit
