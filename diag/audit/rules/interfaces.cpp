#include <fmt/format.h>

#include <map>
#include <set>

#include "base/interface_names.h"
#include "base/text.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Returns whether an interface or address is of a container's or a virtual machine's bridge, by its name or by Docker's
/// default network (172.17.0.0/16).
bool is_bridge(std::string_view interface, std::string_view address) {
  return address.starts_with("172.17.") || is_bridge_name(interface);
}

/// Returns whether an address is link-local: it has no route, and is valid only with an interface.
bool is_link_local(std::string_view address) {
  return address.starts_with("fe80:") || address.starts_with("169.254.");
}

bool is_loopback(std::string_view interface, std::string_view address) {
  return interface == "lo" || address.starts_with("127.") || address == "::1";
}

bool failed_to_connect(const JobFacts& facts) {
  return facts.messages.has_any({MessageId::SocketConnectFailed, MessageId::SocketCallFailed,
                                 MessageId::NoInterfaceInSubnet, MessageId::IbModifyQpFailed,
                                 MessageId::StoreUnreachable, MessageId::GlooConnectFailed});
}

/// Gloo announces the address to which the host's own name resolves: other hosts that connect to a loopback address
/// reach themselves.
void find_gloo_on_loopback(const JobFacts& facts, Findings& findings) {
  Evidence own = facts.plain_of(PlainLine::LoopbackMesh).evidence;
  const bool cannot_connect = !own.empty();
  if (!cannot_connect) {
    // Jobs of one host may use 127.0.0.1; a name that resolves to 127.0.1.1 is not intended.
    for (const MessageId id : {MessageId::GlooPairError, MessageId::GlooClosed}) {
      own.mix(evidence_of(facts.messages[id], [&](const KeptMessage& message) {
        return contains(message.text(), "[127.0.1.1]");
      }));
    }
  }
  if (own.empty()) return;
  Finding& finding =
      findings.add("wrong_interface", Severity::Error,
                   cannot_connect ? "Gloo uses the loopback address"
                                  : "Gloo uses 127.0.1.1, an address of the host's own",
                   own);
  finding.cause =
      "the host's own name resolves to 127.0.x.x, as /etc/hosts of Debian and Ubuntu has it";
  finding.fix = "GLOO_SOCKET_IFNAME=<interface>, or fix /etc/hosts";
}

/// Returns `10.0.0.2` for `connect [10.0.0.2]:12011: No route to host`; empty: not in the line.
std::string_view gloo_address(std::string_view text) {
  const std::size_t open = text.find("onnect [");
  if (open == std::string_view::npos) return {};
  text.remove_prefix(open + 8);
  return text.substr(0, text.find(']'));
}

/// Handles Gloo connections to an address that only its own host can reach, or that does not respond.
void find_gloo_too_far(const JobFacts& facts, Findings& findings) {
  Evidence bridges, far;
  std::string bridge, address;
  for (const KeptMessage& message : facts.messages[MessageId::GlooPairError].kept) {
    const std::string_view to = gloo_address(message.text());
    if (to.empty() || is_loopback({}, to)) continue;
    if (is_bridge({}, to)) {
      bridges.add(message.quoted());
      bridge = to;
    } else if (contains_any(message.text(), {"No route", "nreachable", "imed out", "refused"})) {
      far.add(message.quoted());
      address = to;
    }
  }
  if (!bridges.empty()) {
    Finding& finding = findings.add(
        "wrong_interface", Severity::Error,
        fmt::format("Gloo connects to {}, the address of a container's bridge", bridge), bridges);
    finding.cause = "Gloo took the first interface, a bridge whose address other hosts have too";
    finding.fix = "GLOO_SOCKET_IFNAME=<interface of the hosts' network>   # docker: --network=host";
  } else if (!far.empty()) {
    Finding& finding =
        findings.add("net_unreachable", Severity::Error,
                     fmt::format("Gloo's connections to {} do not get through", address), far);
    finding.cause =
        "a firewall or a network policy, an interface that other hosts do not see, or a process "
        "there that has ended";
    finding.fix = fmt::format(
        "nc -vz {} <port> from that host; GLOO_SOCKET_IFNAME=<interface of "
        "the hosts' network>",
        address);
  }
}

/// Reports that NCCL_SOCKET_IFNAME excludes all interfaces.
void find_empty_filter_of_interfaces(const JobFacts& facts, Findings& findings) {
  const MessageLines& nothing = facts.messages[MessageId::BootstrapNoInterface];
  if (nothing.evidence.empty()) return;
  Finding& finding = findings.add("wrong_interface", Severity::Error,
                                  "no interface passes NCCL_SOCKET_IFNAME", nothing);
  if (const Setting* name = facts.setting("NCCL_SOCKET_IFNAME"); name != nullptr) {
    finding.evidence.mix(name->evidence);
    finding.cause = "NCCL_SOCKET_IFNAME=" + name->value + " matches no interface of this host";
    if (has_quotes(*name)) finding.cause += fmt::format("; {}", kQuotesCause);
  } else {
    finding.cause = "the filter of names or of the address family leaves nothing";
  }
  finding.fix = "ip -br addr   # then NCCL_SOCKET_IFNAME=<an interface that every host has>";
}

/// An address that processes announce to their peers at the start.
struct Announced {
  std::vector<std::uint32_t> processes = {};
  std::set<std::int32_t> hosts = {};  ///< known hosts of the processes
  Evidence evidence = {};
  bool is_loopback = false, is_bridge = false, is_link_local = false;
  bool is_tried = false;  ///< a connection to it failed, and no process reports it as its own
  std::string interface = {};
};
using AnnouncedByAddress = std::map<std::string, Announced>;

/// Returns the addresses that lines of the bootstrap name. If there are none, returns the target of the first failed
/// connection that only its own host can reach, since the peer has announced it.
AnnouncedByAddress announced_addresses(const JobFacts& facts) {
  AnnouncedByAddress announced;
  for (const auto& [key, said] : facts.bootstraps) {
    const auto& [interface, address] = key;
    Announced& one = announced[address];
    one.is_loopback = one.is_loopback || is_loopback(interface, address);
    one.is_bridge = one.is_bridge || is_bridge(interface, address);
    one.is_link_local = one.is_link_local || is_link_local(address);
    one.evidence.mix(said.evidence);
    one.interface = interface;
    for (const std::uint32_t process : said.processes) {
      one.processes.push_back(process);
      const std::int32_t host = facts.processes[process].host;
      if (host >= 0) one.hosts.insert(host);
    }
  }
  if (!announced.empty()) return announced;
  for (const KeptMessage& message : facts.messages[MessageId::SocketConnectFailed].kept) {
    std::string_view address = message.argument("address");
    address = address.substr(0, address.find('<'));
    const bool is_far =
        !is_link_local(address) && !is_loopback({}, address) && !is_bridge({}, address);
    if (!is_warning(message) || is_far) continue;
    Announced& one = announced[std::string(address)];
    one.is_link_local = is_link_local(address);
    one.is_bridge = is_bridge({}, address);
    one.is_loopback = !one.is_link_local && !one.is_bridge;
    one.evidence.add(message.quoted());
    one.is_tried = true;
    break;
  }
  return announced;
}

/// is_shared  several hosts announce the address
void report_wrong_address(const std::string& address, const Announced& one, bool is_shared,
                          Findings& findings) {
  Finding& finding = findings.add(
      "wrong_interface", Severity::Error,
      is_shared ? fmt::format("{} hosts announce the same address {}", one.hosts.size(), address)
      : one.is_loopback ? fmt::format("the bootstrap uses the loopback address {}", address)
      : one.is_link_local
          ? fmt::format("the bootstrap uses the link-local address {}", address)
          : fmt::format("only its own host can reach what the bootstrap uses, the address {}",
                        address));
  if (!one.interface.empty()) finding.title += " of " + one.interface;
  finding.evidence = one.evidence;
  findings.add_processes(finding, one.processes);
  finding.cause =
      one.is_link_local ? "a link-local address (fe80::, 169.254.) is of one cable only: a USB or "
                          "service port, or an interface without an address of its own"
      : one.is_loopback ? "nothing but the loopback interface was found, or it was demanded"
                        : "the interface of a container bridge was taken: other hosts cannot "
                          "reach its address, or have the same";
  finding.fix = "NCCL_SOCKET_IFNAME=<interface of the hosts' network>   # docker: --network=host";
}

}  // namespace

void look_for_wrong_interface(const JobFacts& facts, Findings& findings) {
  find_empty_filter_of_interfaces(facts, findings);
  find_gloo_on_loopback(facts, findings);
  find_gloo_too_far(facts, findings);
  if (has_joined_hosts(facts)) return;  // it works as it is

  const AnnouncedByAddress announced = announced_addresses(facts);
  std::set<std::int32_t> hosts;
  for (const auto& [address, one] : announced) hosts.insert(one.hosts.begin(), one.hosts.end());
  const bool has_failed = failed_to_connect(facts);
  const bool has_peers = hosts.size() > 1;
  if (!has_peers && !has_failed) return;
  for (const auto& [address, one] : announced) {
    const bool is_shared = one.hosts.size() > 1 && !address.empty() && !one.is_loopback;
    // Two names of one machine share an address, which is harmless as long as nothing fails.
    const bool is_wrong = is_shared ? one.is_bridge || has_failed
                                    : (one.is_loopback && (has_peers || one.is_tried)) ||
                                          ((one.is_bridge || one.is_link_local) && has_failed);
    if (is_wrong) report_wrong_address(address, one, is_shared, findings);
  }
}

}  // namespace ringside::audit
