#include "harness/probe/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "harness/probe/judge.h"

namespace ringside::probe {
namespace {

using audit::Finding;
using audit::Severity;

/// Adds the interface that the engine would choose, with its MTU and speed, so that hosts with different names
/// compare.
void add_interface(const Machine& machine, Traits& traits) {
  const std::string chosen = plan_of(machine).interface;
  const std::string name = chosen.substr(0, chosen.find(' '));
  traits.emplace_back("interface", name);
  for (const Nic& nic : machine.nics) {
    if (nic.name != name) continue;
    traits.emplace_back("mtu", fmt::format("{}", nic.mtu));
    traits.emplace_back("interface speed", nic.mbits_per_second > 0
                                               ? fmt::format("{} Mbit/s", nic.mbits_per_second)
                                               : "not known");
  }
}

std::string value_of(const HostReport& host, const std::string& trait) {
  for (const auto& [name, value] : host.traits) {
    if (name == trait) return value;
  }
  return "none";
}

}  // namespace

Traits traits_of(const Machine& machine) {
  Traits traits{{"kernel", machine.kernel},
                {"NVIDIA driver", machine.nvidia_driver.empty() ? "none" : machine.nvidia_driver},
                {"GPUs", fmt::format("{}", machine.gpus.size())}};
  std::set<std::string> models;
  for (const Gpu& gpu : machine.gpus) models.insert(gpu.model);
  traits.emplace_back("GPU models", fmt::format("{}", fmt::join(models, ", ")));
  add_interface(machine, traits);
  int active = 0;
  std::multiset<double> rates;
  std::set<std::string> firmware, layers;
  for (const RdmaPort& port : machine.rdma) {
    if (!port.is_active()) continue;
    ++active;
    rates.insert(port.gigabits());
    firmware.insert(port.firmware);
    layers.insert(port.link_layer());
  }
  traits.emplace_back("active RDMA ports", fmt::format("{}", active));
  traits.emplace_back("RDMA rates", fmt::format("{} Gbit/s", fmt::join(rates, " + ")));
  traits.emplace_back("RDMA link layers", fmt::format("{}", fmt::join(layers, ", ")));
  traits.emplace_back("RDMA firmware", fmt::format("{}", fmt::join(firmware, ", ")));
  traits.emplace_back("nvidia_peermem", machine.has_peer_memory ? "loaded" : "not loaded");
  traits.emplace_back("clock source", machine.clock_source);
  traits.emplace_back("/dev/shm", fmt::format("{}", machine.shm.size.value >> 20) + " MiB");
  traits.emplace_back(
      "memlock", machine.limits.memlock ? fmt::format("{}", *machine.limits.memlock) : "unlimited");
  traits.emplace_back(
      "nofile", machine.limits.nofile ? fmt::format("{}", *machine.limits.nofile) : "unlimited");
  for (const Backend& backend : machine.backends) {
    traits.emplace_back(backend.name, backend.version.empty() ? "none" : backend.version);
  }
  for (const auto& [name, value] : machine.variables) {
    if (name != "NCCL_HOSTID" && name.starts_with("NCCL_")) traits.emplace_back(name, value);
  }
  return traits;
}

std::string to_message(const HostReport& report) {
  Json traits = Json::array(), findings = Json::array();
  for (const auto& [name, value] : report.traits) traits.push_back({name, value});
  for (const Finding& one : report.findings) {
    findings.push_back({one.id, static_cast<int>(one.severity), one.title, one.cause, one.fix});
  }
  // Names from other hosts may be invalid UTF-8.
  return Json{{"host", report.host},
              {"identity", report.identity},
              {"traits", traits},
              {"findings", findings}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<HostReport> parse_report(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    HostReport report{.host = json.at("host").get<std::string>(),
                      .identity = json.at("identity").get<std::string>()};
    for (const Json& one : json.at("traits")) {
      report.traits.emplace_back(one.at(0).get<std::string>(), one.at(1).get<std::string>());
    }
    for (const Json& one : json.at("findings")) {
      const int severity = std::clamp(one.at(1).get<int>(), 0, 2);
      Finding finding{.id = one.at(0).get<std::string>(),
                      .severity = static_cast<Severity>(severity),
                      .title = one.at(2).get<std::string>()};
      finding.hosts = {report.host};
      finding.cause = one.at(3).get<std::string>();
      finding.fix = one.at(4).get<std::string>();
      finding.reference = fmt::format("docs/findings/{}.md", finding.id);
      report.findings.push_back(std::move(finding));
    }
    return report;
  } catch (const Json::exception& wrong) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("a rank sent an invalid report of its host: {}", wrong.what()),
                 "run the same ringside on all hosts"};
  }
}

std::vector<HostReport> one_a_host(const std::vector<HostReport>& ranks) {
  std::vector<HostReport> hosts;
  for (const HostReport& rank : ranks) {
    const bool is_known = std::any_of(hosts.begin(), hosts.end(), [&](const HostReport& one) {
      return one.identity == rank.identity;
    });
    if (!is_known) hosts.push_back(rank);
  }
  return hosts;
}

std::vector<Difference> compare(const std::vector<HostReport>& hosts) {
  std::vector<std::string> names;
  for (const HostReport& host : hosts) {
    for (const auto& trait : host.traits) {
      if (std::find(names.begin(), names.end(), trait.first) == names.end())
        names.push_back(trait.first);
    }
  }
  std::vector<Difference> differences;
  for (const std::string& name : names) {
    std::map<std::string, int> votes;
    for (const HostReport& host : hosts) ++votes[value_of(host, name)];
    if (votes.size() < 2) continue;
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto usual = std::max_element(votes.begin(), votes.end(), fewer);
    const auto ties = std::count_if(votes.begin(), votes.end(),
                                    [&](const auto& one) { return one.second == usual->second; });
    Difference difference{.trait = name, .usual = usual->first, .is_split = ties > 1};
    for (const HostReport& host : hosts) {
      const std::string value = value_of(host, name);
      if (difference.is_split || value != usual->first)
        difference.odd.emplace_back(host.host, value);
    }
    differences.push_back(std::move(difference));
  }
  return differences;
}

std::vector<Finding> judge_hosts(const std::vector<HostReport>& hosts) {
  std::vector<Finding> findings;
  for (const Difference& one : compare(hosts)) {
    std::vector<std::string> odd;
    constexpr std::size_t kShown = 4;
    for (const auto& [host, value] : one.odd) {
      if (odd.size() < kShown) odd.push_back(fmt::format("{} has {}", host, value));
    }
    if (one.odd.size() > kShown) odd.push_back(fmt::format("and {} more", one.odd.size() - kShown));
    const bool is_version = one.trait == "nccl" || one.trait == "mpi" || one.trait == "gloo";
    // These differences are not faults; they only help to explain other problems.
    const bool is_harmless = one.trait == "kernel" || one.trait == "interface" ||
                             one.trait == "RDMA firmware" || one.trait == "/dev/shm" ||
                             one.trait == "NCCL_SOCKET_IFNAME" || one.trait == "nofile";
    Finding finding{
        .id = is_version ? "version_mismatch" : "asymmetric_config",
        .severity = is_harmless ? Severity::Info : Severity::Warning,
        .title = fmt::format("{}: {}{}", one.trait, fmt::join(odd, ", "),
                             one.is_split ? "" : fmt::format("; the others {}", one.usual))};
    for (const auto& entry : one.odd) finding.hosts.push_back(entry.first);
    std::sort(finding.hosts.begin(), finding.hosts.end());
    finding.cause = one.trait == "mtu"
                        ? "packets larger than the smaller MTU are dropped, or cut: small messages "
                          "go through and large ones hang"
                        : "hosts of one job do best with the same machine, libraries and variables";
    finding.fix = one.trait == "mtu" ? fmt::format(
                                           "ip link set DEVICE mtu {}   # on every host, and "
                                           "the switch",
                                           one.usual)
                                     : "make the odd host like the others, or leave it out";
    finding.reference = fmt::format("docs/findings/{}.md", finding.id);
    findings.push_back(std::move(finding));
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return findings;
}

}  // namespace ringside::probe
