#include "harness/probe/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/interface_names.h"
#include "base/text.h"
#include "engine/transport/tcp/socket_counts.h"
#include "harness/probe/engine_inputs.h"
#include "harness/probe/judge_rdma.h"
#include "harness/probe/verdicts.h"

/// Each function checks for one cause and adds at most a few findings. Their ids are those of audit.
namespace ringside::probe {
namespace {

using audit::Finding;
using audit::Severity;

bool has_nvidia_gpu(const Machine& machine) {
  return std::any_of(machine.gpus.begin(), machine.gpus.end(),
                     [](const Gpu& gpu) { return gpu.vendor == "nvidia"; });
}

/// Returns whether the interface leads to no other machine, such as the bridges of container engines.
bool is_inner(const Interface& one) {
  return is_loopback(one.address) || one.name == "lo" || is_bridge_name(one.name);
}

std::string addresses_of(const Nic& nic) {
  return nic.addresses.empty() ? "no address" : fmt::format("{}", fmt::join(nic.addresses, ", "));
}

/// Returns the interface that NCCL_SOCKET_IFNAME should name on this machine.
std::string better_interface(const Machine& machine) {
  for (const Interface& one : machine.interfaces) {
    if (one.is_up && !is_inner(one)) {
      return fmt::format("export NCCL_SOCKET_IFNAME={}   # or unset it", one.name);
    }
  }
  return "unset NCCL_SOCKET_IFNAME, and bring an interface up: ip link set DEVICE up";
}

/// 169.254.0.0/16.  source  RFC 3927
bool is_link_local(const SocketAddress& address) {
  return address.family == SocketAddress::Family::V4 && address.ip[0] == 169 &&
         address.ip[1] == 254;
}

/// Returns why each other interface cannot be used: `eth1 has no carrier`.
std::vector<std::string> unused_interfaces(const Machine& machine, const std::string& chosen) {
  std::vector<std::string> others;
  for (const Nic& nic : machine.nics) {
    if (nic.name == "lo" || nic.name == chosen) continue;
    // An interface that the kernel creates by itself was not forgotten by the administrator.
    if (nic.is_virtual && !nic.is_up && nic.addresses.empty()) continue;
    const char* state = !nic.is_up           ? "is switched off"
                        : !nic.has_carrier   ? "has no carrier"
                        : nic.has_link_local ? "has only a link-local address"
                                             : "has no address";
    others.push_back(fmt::format("{} {}", nic.name, state));
  }
  return others;
}

/// Checks whether the interface that ranks would use reaches other hosts.
void judge_interfaces(const Machine& machine, Verdicts& verdicts) {
  const auto setting = interface_settings_from(environment_of(machine), false);
  if (!setting) {
    verdicts.add("wrong_interface", Severity::Error, setting.error().message,
                 "NCCL ignores the variable or fails; this engine refuses it",
                 setting.error().help);
    return;
  }
  const auto chosen = choose_interface(machine.interfaces, *setting);
  if (!chosen) {
    verdicts.add("wrong_interface", Severity::Error, chosen.error().message,
                 "no interface is left at which other ranks could reach this host",
                 chosen.error().help);
    return;
  }
  const bool is_given = !setting->names.empty();
  if (is_link_local(chosen->address)) {
    verdicts.add(
        "wrong_interface", Severity::Warning,
        fmt::format("{} would be used, and has only a link-local address", chosen->name),
        "no DHCP server assigned an address, so it is link-local; other networks do not reach it",
        "give the interface an address (ip addr add), or set NCCL_SOCKET_IFNAME to another");
    return;
  }
  if (!is_inner(*chosen)) return;
  const std::vector<std::string> others = unused_interfaces(machine, chosen->name);
  const bool is_loop = is_loopback(chosen->address);
  verdicts.add(
      "wrong_interface", is_given ? Severity::Error : Severity::Warning,
      is_loop ? fmt::format("only loopback can be used{}: other hosts do not reach this one",
                            is_given ? fmt::format(" (NCCL_SOCKET_IFNAME={})", setting->names) : "")
              : fmt::format("only {} can be used, a bridge for containers: other hosts do not "
                            "reach this one",
                            chosen->name),
      others.empty() ? "there is no other interface"
                     : fmt::format("of the others, {}", fmt::join(others, ", ")),
      is_given ? better_interface(machine)
               : "ip link set DEVICE up; ip addr add ...; in a container --network=host");
}

void judge_links(const Machine& machine, Verdicts& verdicts) {
  std::vector<std::string> unusable;
  std::set<std::string> causes, fixes;
  for (const Nic& nic : machine.nics) {
    // A bridge without members and a spare port also have no carrier: only an interface with an address is meant to
    // work.
    if (nic.addresses.empty() || is_bridge_name(nic.name) || nic.name == "lo") continue;
    if (!nic.is_up) {
      // The kernel reports no carrier of an interface that is switched off.
      unusable.push_back(fmt::format("{} ({}) is switched off", nic.name, addresses_of(nic)));
      causes.insert("an interface with an address is switched off");
      fixes.insert(fmt::format("ip link set {} up", nic.name));
    } else if (!nic.has_carrier) {
      unusable.push_back(fmt::format("{} ({}) has no carrier", nic.name, addresses_of(nic)));
      causes.insert("no device answers at the other end of an interface's cable");
      fixes.insert(fmt::format(
          "ethtool {}, then check the cable, the transceiver and the switch's port", nic.name));
    }
  }
  if (unusable.empty()) return;
  verdicts.add("net_unreachable", Severity::Error, fmt::format("{}", fmt::join(unusable, "; ")),
               fmt::format("{}", fmt::join(causes, "; ")),
               fmt::format("{}", fmt::join(fixes, "; ")));
}

void judge_firewall(const Machine& machine, Verdicts& verdicts) {
  if (machine.firewall.drops.empty()) return;
  std::vector<std::string> rules;
  constexpr std::size_t kShown = 3;
  for (const FirewallRule& one : machine.firewall.drops) {
    if (rules.size() < kShown) rules.push_back(fmt::format("{}: {}", one.chain, one.rule));
  }
  const std::size_t more = machine.firewall.drops.size() - rules.size();
  verdicts.add("net_unreachable", Severity::Warning,
               fmt::format("the firewall drops packets ({}{})", fmt::join(rules, "; "),
                           more > 0 ? fmt::format("; and {} more", more) : ""),
               "ranks listen on ports that the kernel chooses: a connection to a port that a rule "
               "drops times out without a message",
               "nft list ruleset; accept the job's network: nft insert rule inet filter input "
               "ip saddr 10.0.0.0/8 accept");
}

void judge_shared_memory(const Machine& machine, Verdicts& verdicts) {
  // source  NCCL 2.30.7: 9,637,888 B per connection between two GPUs of a host; 8 GPUs in a ring need 77 MB
  constexpr Bytes kLeast{256ULL << 20};
  if (!machine.shm.is_there) {
    verdicts.add("shm_exhausted", Severity::Error, "/dev/shm is missing",
                 "ranks of a host share memory through it", "mount -t tmpfs tmpfs /dev/shm");
  } else if (machine.shm.size < kLeast || machine.shm.free < kLeast) {
    const bool is_small = machine.shm.size < kLeast;
    verdicts.add("shm_exhausted", Severity::Warning,
                 fmt::format("/dev/shm has {:.0f} MiB, {:.0f} MiB of them free: less than 256 MiB",
                             static_cast<double>(machine.shm.size.value) / (1 << 20),
                             static_cast<double>(machine.shm.free.value) / (1 << 20)),
                 is_small ? "containers get 64 MiB by default; eight GPUs of a host need more"
                          : "dead jobs left files in it, or another job uses it",
                 "docker --shm-size=16g or --ipc=host; rm /dev/shm/nccl-* of dead jobs");
  }
}

void judge_limits(const Machine& machine, Verdicts& verdicts) {
  // Each connection registers a FIFO of at least 4 MiB: a limit below 64 MiB is exceeded after the first few
  // connections.
  constexpr std::uint64_t kMemlock = 64ULL << 20;
  if (!machine.rdma.empty() && machine.limits.memlock && *machine.limits.memlock < kMemlock) {
    verdicts.add("memlock_limit", Severity::Error,
                 fmt::format("the limit of locked memory is {}",
                             format_bytes(Bytes{*machine.limits.memlock})),
                 "RDMA devices access only locked memory: registering a buffer fails with "
                 "\"Cannot allocate memory\"",
                 "ulimit -l unlimited; docker --ulimit memlock=-1; LimitMEMLOCK=infinity for the "
                 "daemon that starts jobs");
  }
  // A login has a limit of 1024 on every system, which is enough for jobs on few hosts.
  constexpr std::uint64_t kFiles = 1024;
  if (machine.limits.nofile && *machine.limits.nofile < kFiles) {
    verdicts.add("fd_limit", Severity::Warning,
                 fmt::format("at most {} files may be open", *machine.limits.nofile),
                 "each connection takes a descriptor, on each channel and to each peer",
                 "ulimit -n 1048576   # or LimitNOFILE of the daemon that starts jobs");
  }
}

void judge_clock(const Machine& machine, Verdicts& verdicts) {
  const std::set<std::string> slow{"hpet", "acpi_pm", "jiffies", "pit", "refined-jiffies"};
  if (!slow.contains(machine.clock_source)) return;
  verdicts.add("clock_source", Severity::Warning,
               fmt::format("the kernel's clock is {}", machine.clock_source),
               "the kernel rejected the TSC, or a boot option selected another clock. Each read of "
               "it takes a system call and a slow register access, at least a microsecond, and the "
               "communication libraries read the clock often",
               "dmesg | grep -i clocksource shows why; boot with tsc=reliable if the processor's "
               "TSC is stable");
}

void judge_gpu_direct(const Machine& machine, Verdicts& verdicts) {
  const bool can_meet = has_nvidia_gpu(machine) && has_active_port(machine);
  if (can_meet && !machine.has_peer_memory && !machine.is_open_driver) {
    verdicts.add("gdr_missing", Severity::Warning, "nvidia_peermem is not loaded",
                 "NICs cannot access GPU memory: traffic between hosts is copied through host "
                 "memory (DMA-BUF with NVIDIA's open kernel modules is an alternative)",
                 "modprobe nvidia-peermem; echo nvidia-peermem > /etc/modules-load.d/gdr.conf");
  }
  if (machine.gpus.empty()) return;
  if (!machine.acs.empty()) {
    std::vector<std::string> bridges;
    for (const AcsBridge& bridge : machine.acs) bridges.push_back(bridge.pci);
    constexpr std::size_t kShown = 4;
    const std::size_t count = bridges.size();
    bridges.resize(std::min(count, kShown));
    verdicts.add(
        "pcie_acs", Severity::Warning,
        fmt::format("PCI access control (ACS) is on at {} bridge{}: {}{}", count,
                    count == 1 ? "" : "s", fmt::join(bridges, ", "), count > kShown ? ", ..." : ""),
        "peer-to-peer traffic between devices is routed through the root complex: it is slow, or "
        "hangs",
        "ACS off in the BIOS, or setpci -s BRIDGE ECAP_ACS+6.w=0000");
  }
  std::vector<std::string> translated;
  for (const auto& [pci, type] : machine.iommu) {
    if (type.starts_with("DMA")) translated.push_back(pci);
  }
  if (!translated.empty()) {
    verdicts.add("pcie_acs", Severity::Warning,
                 fmt::format("the IOMMU translates the addresses of {} device{} ({}{})",
                             translated.size(), translated.size() == 1 ? "" : "s",
                             translated.front(), translated.size() > 1 ? ", ..." : ""),
                 "peer-to-peer traffic goes through the IOMMU: it is slow, or fails",
                 "boot with iommu=pt");
  }
}

void judge_variables(const Machine& machine, Verdicts& verdicts) {
  if (const auto sockets = socket_counts_from(environment_of(machine)); !sockets) {
    verdicts.add("env_override", Severity::Error, sockets.error().message,
                 "NCCL lowers such a number; this engine refuses it", sockets.error().help);
  }
  const std::string debug = variable(machine, "NCCL_DEBUG");
  if (debug == "TRACE" || debug == "trace") {
    verdicts.add("env_debug_in_production", Severity::Warning, fmt::format("NCCL_DEBUG={}", debug),
                 "logs grow, and every call writes log lines", "export NCCL_DEBUG=WARN");
  }
  struct Switch {
    const char* name;
    const char* value;
    const char* effect;
  };
  constexpr Switch kSwitches[] = {
      {"NCCL_IB_DISABLE", "1", "RDMA devices are not used"},
      {"NCCL_P2P_DISABLE", "1", "GPUs of a host exchange data through host memory"},
      {"NCCL_SHM_DISABLE", "1", "processes of a host exchange data over the network"},
  };
  for (const Switch& one : kSwitches) {
    if (variable(machine, one.name) != one.value) continue;
    const bool costs = std::string(one.name) == "NCCL_IB_DISABLE"    ? has_active_port(machine)
                       : std::string(one.name) == "NCCL_P2P_DISABLE" ? machine.gpus.size() > 1
                                                                     : true;
    if (!costs) continue;
    verdicts.add("env_override", Severity::Warning, fmt::format("{}={}", one.name, one.value),
                 one.effect, fmt::format("unset {}", one.name));
  }
}

}  // namespace

std::vector<Finding> judge(const Machine& machine) {
  Verdicts verdicts(machine);
  judge_interfaces(machine, verdicts);
  judge_links(machine, verdicts);
  judge_firewall(machine, verdicts);
  judge_shared_memory(machine, verdicts);
  judge_limits(machine, verdicts);
  judge_clock(machine, verdicts);
  judge_rdma(machine, verdicts);
  judge_gpu_direct(machine, verdicts);
  judge_variables(machine, verdicts);
  return verdicts.take();
}

}  // namespace ringside::probe
