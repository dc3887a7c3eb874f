#include "harness/probe/judge_rdma.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/transport/rdma/rdma_settings.h"
#include "harness/probe/engine_inputs.h"

namespace ringside::probe {
namespace {

using audit::Severity;

std::string name_of(const RdmaPort& port) { return fmt::format("{}:{}", port.device, port.number); }

void judge_states(const Machine& machine, Verdicts& verdicts) {
  const bool works = has_active_port(machine);
  for (const RdmaPort& port : machine.rdma) {
    if (port.is_active()) continue;
    // A port without a cable is normal if other ports work.
    const bool is_spare = works && (port.physical == "Disabled" || port.physical == "Polling");
    if (is_spare) continue;
    const bool is_init = port.state == "INIT" || port.state == "ARMED";
    verdicts.add("rdma_port_down", works ? Severity::Warning : Severity::Error,
                 fmt::format("RDMA port {} is {} ({})", name_of(port), port.state, port.physical),
                 is_init ? "the link is up and no subnet manager has made it active"
                         : "the link is down: cable, transceiver, or the switch's port",
                 is_init ? "start a subnet manager (opensm, or the switch's); sminfo asks for it"
                         : "ibstat; ip link set DEVICE up for RoCE; then cable and switch");
  }
  if (!works) {
    verdicts.add("no_rdma_device", Severity::Error, "RDMA devices are there, and no port is active",
                 "NCCL goes over TCP, or fails where TCP is not allowed",
                 "bring a port up; ibv_devinfo shows their states");
  }
}

void judge_rates(const Machine& machine, Verdicts& verdicts) {
  for (const RdmaPort& port : machine.rdma) {
    if (!port.is_active()) continue;
    int best = port.megabits;
    for (const RdmaPort& other : machine.rdma) {
      const bool is_sister = other.is_active() && other.is_ethernet == port.is_ethernet &&
                             other.device.substr(0, 4) == port.device.substr(0, 4);
      if (is_sister) best = std::max(best, other.megabits);
    }
    if (port.megabits <= 0 || port.megabits >= best) continue;
    verdicts.add("link_degraded", Severity::Warning,
                 fmt::format("RDMA port {} runs at {:g} Gbit/s, others here at {:g}", name_of(port),
                             port.gigabits(), best / 1000.0),
                 "the link has come up with fewer lanes or a lower rate: every ring waits for its "
                 "slowest rail",
                 "reseat cable and transceiver; ibportstate or ethtool DEVICE shows what was "
                 "negotiated, and why");
  }
}

/// Returns active RoCE ports with addresses of this network namespace, or without addresses. The kernel also lists
/// ports of other namespaces.
std::vector<const RdmaPort*> own_roce_ports(const Machine& machine) {
  const std::vector<Gid> own = own_gids(machine);
  const auto is_own = [&](const RdmaPort::Entry& entry) {
    return std::ranges::find(own, entry.gid) != own.end();
  };
  const bool has_any = std::ranges::any_of(
      machine.rdma, [&](const RdmaPort& port) { return std::ranges::any_of(port.gids, is_own); });
  std::vector<const RdmaPort*> ports;
  for (const RdmaPort& port : machine.rdma) {
    if (!port.is_active() || !port.is_ethernet) continue;
    const bool has_address = std::ranges::any_of(
        port.gids, [](const RdmaPort::Entry& entry) { return !entry.gid.is_link_local(); });
    const bool is_anothers = has_any && has_address && std::ranges::none_of(port.gids, is_own);
    if (!is_anothers) ports.push_back(&port);
  }
  return ports;
}

void judge_gids(const Machine& machine, Verdicts& verdicts) {
  for (const RdmaPort* const port : own_roce_ports(machine)) {
    const bool has_v2 = std::ranges::any_of(port->gids, [](const RdmaPort::Entry& entry) {
      return entry.type == GidType::RoceV2 && !entry.gid.is_link_local();
    });
    if (has_v2) continue;
    verdicts.add(
        "gid_index", Severity::Error,
        fmt::format("RoCE port {} has no GID of RoCE v2 that can be routed", name_of(*port)),
        port->gids.empty() ? "its GID table is empty: the interface has no address"
                           : "its GIDs are link-local, or of RoCE v1 alone",
        fmt::format("ip addr add ... dev {}; show_gids lists the table",
                    port->netdev.empty() ? "DEVICE" : port->netdev));
  }
}

/// Reports settings that the engine rejects: a job would end with the same message when it connects.
void judge_settings(const Machine& machine, Verdicts& verdicts) {
  const auto settings = rdma_settings_from(environment_of(machine));
  if (!settings) {
    verdicts.add("env_override", Severity::Error, settings.error().message,
                 "NCCL hands the number to the adapter, or ignores it; this engine refuses it",
                 settings.error().help);
    return;
  }
  if (settings->is_disabled || !has_active_port(machine)) return;
  if (settings->gid_index >= 0) {
    for (const RdmaPort* const port : own_roce_ports(machine)) {
      if (std::ranges::find(port->gids, settings->gid_index, &RdmaPort::Entry::index) !=
          port->gids.end()) {
        continue;
      }
      verdicts.add("gid_index", Severity::Error,
                   fmt::format("NCCL_IB_GID_INDEX={}, and that entry of {} is empty",
                               settings->gid_index, name_of(*port)),
                   "queue pairs made with an empty GID do not connect",
                   "unset NCCL_IB_GID_INDEX   # NCCL chooses by itself since 2.21");
    }
  }
  const auto ports = choose_rdma_ports(ports_of(machine), *settings, own_gids(machine));
  if (!ports && !settings->names.empty()) {
    verdicts.add("no_rdma_device", Severity::Error,
                 fmt::format("NCCL_IB_HCA={}: {}", settings->names, ports.error().message),
                 "the variable leaves no port: NCCL goes over TCP, or fails where TCP is not "
                 "allowed",
                 "name one of them in NCCL_IB_HCA, or unset it");
  }
}

void judge_verbs(const Machine& machine, Verdicts& verdicts) {
  std::vector<std::string> refused;
  for (const VerbsNode& node : machine.verbs_nodes) {
    if (!node.is_usable) refused.push_back(node.path);
  }
  if (!machine.verbs_nodes.empty() && refused.empty()) return;
  verdicts.add(
      "ib_device_unusable", Severity::Error,
      refused.empty() ? "RDMA devices are there, and none has a node /dev/infiniband/uverbs*"
                      : fmt::format("this user may not open {}", fmt::join(refused, ", ")),
      refused.empty() ? "a container was not given the device nodes, or ib_uverbs is not "
                        "loaded"
                      : "the rights of the device node leave this user out",
      refused.empty() ? "docker --device=/dev/infiniband; modprobe ib_uverbs"
                      : "chmod 0666 /dev/infiniband/uverbs*   # rdma-core's udev rules do it");
}

}  // namespace

void judge_rdma(const Machine& machine, Verdicts& verdicts) {
  if (machine.rdma.empty()) return;
  judge_states(machine, verdicts);
  judge_rates(machine, verdicts);
  judge_gids(machine, verdicts);
  judge_settings(machine, verdicts);
  judge_verbs(machine, verdicts);
}

}  // namespace ringside::probe
