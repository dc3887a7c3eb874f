#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "engine/transport/rdma/rdma_ports.h"
#include "engine/transport/rdma/rdma_settings.h"
#include "engine/transport/socket/interface.h"
#include "harness/probe/engine_inputs.h"
#include "harness/probe/judge.h"

namespace ringside::probe {
namespace {

/// Returns whether a job can use the backend: as PyTorch offers it, or without PyTorch as a library of the machine.
bool is_offered(const Machine& machine, std::string_view name) {
  const auto& backends =
      machine.pytorch.version.empty() ? machine.backends : machine.pytorch.backends;
  return std::ranges::any_of(
      backends, [&](const Backend& one) { return one.name == name && !one.version.empty(); });
}

/// InfiniBand without an address of IP over InfiniBand: Gloo cannot use it.
bool has_infiniband_without_ip(const Machine& machine) {
  const bool has_port = std::ranges::any_of(
      machine.rdma, [](const RdmaPort& one) { return !one.is_ethernet && one.is_active(); });
  return has_port && std::ranges::none_of(machine.nics, [](const Nic& one) {
           return (one.name.starts_with("ib") || one.driver == "ib_ipoib") &&
                  !one.addresses.empty();
         });
}

/// Chooses the backend by the first rule that fits the devices and the network, and that is there.
/// source  PyTorch, torch.distributed, "Which backend to use?"
void choose_backend(const Machine& machine, Plan& plan) {
  const bool has_gpu = !machine.gpus.empty();
  const bool has_rdma = std::ranges::any_of(machine.rdma, &RdmaPort::is_active);
  const bool needs_verbs = has_infiniband_without_ip(machine);
  struct Rule {
    const char* name;
    const char* why;
    bool fits;
  };
  const std::array rules{
      Rule{"nccl", "GPUs are here, and RDMA: NCCL alone moves data from GPU to NIC directly",
           has_gpu && has_rdma},
      Rule{"nccl", "GPUs are here, and NCCL is what moves data between them; Gloo if it fails",
           has_gpu},
      Rule{"gloo", "GPUs are here and no NCCL: Gloo copies through host memory, for debugging",
           has_gpu},
      Rule{"mpi", "GPUs are here and neither NCCL nor Gloo", has_gpu},
      Rule{"mpi", "no GPU is here, and InfiniBand without IP over it, which Gloo would need",
           needs_verbs},
      Rule{"gloo", "no GPU is here; Gloo serves CPUs and debugging", true},
      Rule{"mpi", "no GPU is here and no Gloo; MPI serves where it launches the ranks", true},
  };
  for (const Rule& rule : rules) {
    if (!rule.fits || !is_offered(machine, rule.name)) continue;
    plan.backend = rule.name;
    plan.backend_why = rule.why;
    return;
  }
  plan.backend_why = has_gpu ? "none is found; install NCCL, which GPUs want"
                             : "none is found; PyTorch brings its own Gloo, which CPUs want";
}

/// Adds the RDMA devices that the engine would choose.
void plan_rdma(const Machine& machine, const Environment& environment, Plan& plan) {
  const auto settings = rdma_settings_from(environment);
  if (!settings) {
    plan.rdma_why = settings.error().message;
    return;
  }
  if (settings->is_disabled) {
    plan.rdma_why = "NCCL_IB_DISABLE=1";
    return;
  }
  if (machine.rdma.empty()) {
    plan.rdma_why = "no RDMA device is seen";
    return;
  }
  const auto cards = choose_rdma_cards(ports_of(machine), *settings, own_gids(machine));
  if (!cards) {
    plan.rdma_why = cards.error().message;
    return;
  }
  plan.rdma_why = settings->names.empty() ? "active ports" : "NCCL_IB_HCA=" + settings->names;
  for (const RdmaCard& card : *cards) {
    for (std::size_t i = 0; i < card.ports.size(); ++i) {
      plan.rdma_devices.push_back(fmt::format("{}:{}", card.ports[i].device, card.ports[i].number));
      plan.rdma_why += fmt::format("{} {}:{} by GID {}", i == 0 ? ";" : " +", card.ports[i].device,
                                   card.ports[i].number, card.gids[i].index);
    }
  }
}

}  // namespace

Plan plan_of(const Machine& machine) {
  Plan plan;
  const Environment environment = environment_of(machine);
  const auto setting = interface_settings_from(environment, false);
  const auto chosen =
      setting ? choose_interface(machine.interfaces, *setting) : Result<Interface>(setting.error());
  if (chosen) {
    const std::string address = to_string(chosen->address);
    plan.interface = fmt::format("{} ({})", chosen->name, address.substr(0, address.rfind(':')));
    plan.interface_why =
        !setting->names.empty()          ? fmt::format("NCCL_SOCKET_IFNAME={}", setting->names)
        : chosen->name.starts_with("ib") ? "the first that begins with ib"
        : is_loopback(chosen->address)   ? "nothing else is up: ranks of this host alone"
                                         : "the first that is up and no loopback, docker or virbr";
  } else {
    plan.interface_why = chosen.error().message;
  }
  plan_rdma(machine, environment, plan);
  plan.transport_why = machine.shm.is_there ? "shared memory within the host" : "no /dev/shm";
  plan.transport_why += plan.interface.empty() ? "; nothing between hosts"
                        : plan.rdma_devices.empty()
                            ? "; TCP between hosts"
                            : "; RDMA between hosts that have it, too, else TCP";
  choose_backend(machine, plan);
  return plan;
}

std::string meaning_of(const std::string& variable) {
  struct Meaning {
    const char* name;
    const char* text;
  };
  // source  NCCL's documentation, "Environment Variables"
  constexpr Meaning kMeanings[] = {
      {"NCCL_SOCKET_IFNAME", "which interfaces carry bootstrap and TCP"},
      {"NCCL_SOCKET_FAMILY", "IPv4 or IPv6 alone"},
      {"NCCL_SOCKET_NTHREADS", "helper threads of each TCP connection"},
      {"NCCL_NSOCKS_PERTHREAD", "sockets of each helper thread"},
      {"NCCL_IB_HCA", "which RDMA devices and ports are used"},
      {"NCCL_IB_GID_INDEX", "which GID RoCE ports talk with"},
      {"NCCL_IB_DISABLE", "1: no RDMA"},
      {"NCCL_P2P_DISABLE", "1: GPUs of a host go through host memory"},
      {"NCCL_SHM_DISABLE", "1: processes of a host go over the network"},
      {"NCCL_NET", "which network is used, by name"},
      {"NCCL_NET_GDR_LEVEL", "how far a NIC may be from a GPU that it reads"},
      {"NCCL_ALGO", "forces algorithms"},
      {"NCCL_PROTO", "forces protocols"},
      {"NCCL_DEBUG", "how much is logged"},
      {"NCCL_DEBUG_SUBSYS", "of what"},
      {"NCCL_DEBUG_FILE", "where the log goes"},
      {"NCCL_TOPO_FILE", "a topology in place of the one that is found"},
      {"NCCL_HOSTID", "replaces the host's name"},
      {"GLOO_SOCKET_IFNAME", "which interfaces Gloo uses: names only"},
      {"CUDA_VISIBLE_DEVICES", "which GPUs a process sees"},
      {"CUDA_LAUNCH_BLOCKING", "1: every kernel is waited for"},
  };
  for (const Meaning& one : kMeanings) {
    if (variable == one.name) return one.text;
  }
  return {};
}

}  // namespace ringside::probe
