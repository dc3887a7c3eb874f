#include "diag/audit/finding_types.h"

#include <algorithm>
#include <array>

namespace ringside::audit {
namespace {

using enum Severity;
using enum Effect;

constexpr std::array kTypes{
    FindingType{"asymmetric_config", Error, Slows, CostModel::None, "",
                "hosts or ranks of one job differ in devices, channels or variables"},
    FindingType{"benchmark_without_mpi", Warning, Notes, CostModel::None, "",
                "every process of a benchmark measured itself alone"},
    FindingType{"bootstrap_failure", Error, Stops, CostModel::None, "", "the ranks do not meet"},
    FindingType{"clock_source", Warning, Slows, CostModel::None, "",
                "the kernel reads a slow clock"},
    FindingType{"collective_timeout", Error, Stops, CostModel::None, "",
                "ranks gave up waiting in a collective: a symptom"},
    FindingType{"communicator_leak", Warning, Notes, CostModel::None, "",
                "communicators are made and not closed"},
    FindingType{"cpu_affinity", Warning, Slows, CostModel::None, "",
                "threads are bound to too few cores, or to far ones"},
    FindingType{"cross_rail", Warning, Slows, CostModel::None, "",
                "channels leave by one rail and arrive by another"},
    FindingType{"cuda_error", Error, Stops, CostModel::None, "", "a CUDA or HIP call fails"},
    FindingType{"dump_missing", Warning, Notes, CostModel::None, "",
                "the flight recorder's dumps of some ranks are missing"},
    FindingType{"duplicate_gpu", Error, Stops, CostModel::None, "", "two ranks chose one GPU"},
    FindingType{"efa_rails_differ", Error, Stops, CostModel::None, "",
                "two nodes group their NICs into different numbers of rails"},
    FindingType{"efa_unreachable", Error, Stops, CostModel::None, "ib_error",
                "an EFA peer does not answer"},
    FindingType{"env_debug_in_production", Warning, Slows, CostModel::None, "",
                "debugging is left on"},
    FindingType{"env_override", Error, Slows, CostModel::None, "",
                "a variable forces a choice that costs, or that cannot be met"},
    FindingType{"fabric_manager_down", Error, Stops, CostModel::None, "cuda_error",
                "CUDA waits for the NVSwitch fabric (802)"},
    FindingType{"fd_limit", Error, Stops, CostModel::None, "",
                "the limit of open files is reached"},
    FindingType{"few_channels", Error, Slows, CostModel::FewChannels, "",
                "fewer channels than the machine allows"},
    FindingType{"fork_unsafe", Error, Stops, CostModel::None, "",
                "an RDMA provider ends the job because a process calls fork()"},
    FindingType{"gdr_missing", Error, Slows, CostModel::NoGdr, "", "NICs do not reach GPU memory"},
    FindingType{"gdr_unavailable_info", Info, Notes, CostModel::None, "",
                "GPUDirect RDMA is not there, and need not be"},
    FindingType{"gdrcopy_missing", Error, Slows, CostModel::None, "", "GDRCopy cannot be opened"},
    FindingType{"gid_index", Error, Stops, CostModel::None, "",
                "a RoCE port talks with an empty, stale or unroutable GID"},
    FindingType{"gpu_arch_unsupported", Error, Stops, CostModel::None, "cuda_error",
                "this build has no code for this GPU"},
    FindingType{"gpu_hardware_error", Error, Stops, CostModel::None, "cuda_error",
                "a GPU or its NVLink has a hardware fault"},
    FindingType{"gpu_memory_registration", Error, Stops, CostModel::None, "gdr_missing",
                "GPU memory cannot be registered with the NIC"},
    FindingType{"gpu_out_of_memory", Error, Stops, CostModel::None, "cuda_error",
                "the memory of a GPU is full"},
    FindingType{"graph_search_failed", Warning, Slows, CostModel::None, "",
                "NCCL found no path for a pattern"},
    FindingType{"hang_dead_rank", Error, Stops, CostModel::None, "", "a process of the job died"},
    FindingType{"hang_diverged_rank", Error, Stops, CostModel::None, "",
                "a rank left the path of the others"},
    FindingType{"hang_network_stall", Error, Stops, CostModel::None, "",
                "all are in the operation, and nothing moves"},
    FindingType{"hang_op_mismatch", Error, Stops, CostModel::None, "",
                "ranks call different operations"},
    FindingType{"hang_shape_mismatch", Error, Stops, CostModel::None, "",
                "ranks call one operation with different sizes"},
    FindingType{"hang_slow_rank", Error, Stops, CostModel::None, "",
                "a rank is busy elsewhere while others wait"},
    FindingType{"ib_device_unusable", Error, Stops, CostModel::None, "",
                "an RDMA device is visible and cannot be opened"},
    FindingType{"ib_error", Error, Stops, CostModel::None, "", "RDMA requests or connections fail"},
    FindingType{"invalid_usage", Error, Stops, CostModel::None, "",
                "NCCL was called with impossible arguments"},
    FindingType{"ipc_failed", Error, Stops, CostModel::None, "",
                "memory handles do not cross between the processes of a host"},
    FindingType{"job_cancelled", Info, Notes, CostModel::None, "", "the scheduler ended the job"},
    FindingType{"launcher_failure", Error, Stops, CostModel::None, "",
                "the launcher, MPI or the scheduler does not start the processes"},
    FindingType{"launcher_noise", Info, Notes, CostModel::None, "",
                "the launcher complains, and nothing follows"},
    FindingType{"link_degraded", Warning, Slows, CostModel::None, "",
                "a network port runs slower than its sisters"},
    FindingType{"link_flap", Error, Stops, CostModel::None, "",
                "a network port goes down and comes up"},
    FindingType{"low_bandwidth", Error, Slows, CostModel::Table, "",
                "a benchmark is slower than the model expects"},
    FindingType{"memlock_limit", Error, Stops, CostModel::None, "",
                "the limit of locked memory is too low for RDMA"},
    FindingType{"mismatched_collective", Error, Stops, CostModel::None, "",
                "ranks call different things"},
    FindingType{"missing_ranks", Error, Stops, CostModel::None, "", "ranks never speak"},
    FindingType{"mnnvl_unavailable", Warning, Slows, CostModel::None, "",
                "NVLink between hosts is there and does not work"},
    FindingType{"nccl_library_mismatch", Error, Stops, CostModel::None, "",
                "another NCCL is loaded than the program was built for"},
    FindingType{"nccl_not_built", Error, Stops, CostModel::None, "",
                "this PyTorch has no NCCL in it"},
    FindingType{"net_init_error", Error, Stops, CostModel::None, "",
                "a network or its plugin fails when it starts"},
    FindingType{"net_unreachable", Error, Stops, CostModel::None, "",
                "connections between hosts do not get through"},
    FindingType{"nic_failover", Warning, Slows, CostModel::None, "",
                "a NIC failed and others carry on"},
    FindingType{"no_rdma_device", Error, Slows, CostModel::None, "", "no RDMA device is visible"},
    FindingType{"no_such_gpu", Error, Stops, CostModel::None, "cuda_error",
                "a process asks for a GPU that it does not have"},
    FindingType{"no_transport", Error, Stops, CostModel::None, "",
                "two ranks have no transport between them"},
    FindingType{"nothing_read", Info, Notes, CostModel::None, "",
                "no line of this input is one of the communication stack"},
    FindingType{"nvlink_missing", Error, Slows, CostModel::None, "",
                "GPUs without the NVLink that their class has"},
    FindingType{"nvls_unavailable", Error, Stops, CostModel::None, "",
                "NVLink SHARP fails or is missing"},
    FindingType{"p2p_disabled", Error, Slows, CostModel::SharedMemory, "",
                "GPU peer-to-peer is switched off or refused"},
    FindingType{"pcie_acs", Error, Stops, CostModel::None, "",
                "peer-to-peer over PCIe does not deliver"},
    FindingType{"peer_gpu_hidden", Warning, Slows, CostModel::None, "",
                "a process does not see the GPU of its peer"},
    FindingType{"plugin_crash", Error, Stops, CostModel::None, "",
                "a process crashed inside a network plugin"},
    FindingType{"plugin_incompatible", Error, Slows, CostModel::None, "",
                "a plugin is there and this NCCL cannot use it"},
    FindingType{"plugin_missing", Error, Slows, CostModel::None, "",
                "the plugin of this fabric is not found"},
    FindingType{"process_limit", Error, Stops, CostModel::None, "",
                "the limit of processes or threads is reached"},
    FindingType{"rccl_mscclpp_off", Info, Notes, CostModel::None, "", "MSCCL++ is not used"},
    FindingType{"rccl_system_setting", Warning, Notes, CostModel::None, "",
                "settings of the machine that RCCL asks for are missing"},
    FindingType{"rdma_port_down", Error, Stops, CostModel::None, "", "an RDMA port is not active"},
    FindingType{"release_fault", Error, Stops, CostModel::None, "",
                "a known fault of the release in use"},
    FindingType{"remote_closed", Warning, Stops, CostModel::None, "",
                "a peer closed its connection: a consequence"},
    FindingType{"scrambled_ring", Warning, Slows, CostModel::None, "",
                "a ring crosses hosts more often than it must"},
    FindingType{"sharp_unavailable", Info, Notes, CostModel::None, "",
                "in-network reduction was asked for and is not there"},
    FindingType{"shm_exhausted", Error, Stops, CostModel::None, "", "/dev/shm is full"},
    FindingType{"shm_fallback", Error, Slows, CostModel::SharedMemory, "",
                "GPUs of a host talk through host memory"},
    FindingType{"short_ring", Error, Stops, CostModel::None, "",
                "a ring does not contain all ranks"},
    FindingType{"single_nic", Warning, Slows, CostModel::OneNic, "",
                "one NIC carries all channels of a host"},
    FindingType{"slow_init", Warning, Slows, CostModel::None, "", "a communicator starts slowly"},
    FindingType{"socket_fallback", Error, Slows, CostModel::Tcp, "",
                "data go over TCP between hosts"},
    FindingType{"store_timeout", Error, Stops, CostModel::None, "",
                "the rendezvous store is not reached, gave up waiting, or is gone"},
    FindingType{"system_error", Error, Stops, CostModel::None, "",
                "NCCL failed, and the log does not say why"},
    FindingType{"teardown_noise", Info, Notes, CostModel::None, "",
                "lines that look alarming while a job ends"},
    FindingType{"topology_file", Error, Stops, CostModel::None, "",
                "a topology file does not describe this machine"},
    FindingType{"truncated_message", Info, Notes, CostModel::None, "",
                "the lines of a log are cut at one width"},
    FindingType{"truncated_table", Warning, Stops, CostModel::Table, "",
                "a benchmark's table begins and does not end"},
    FindingType{"tuner_config_missing", Warning, Slows, CostModel::None, "",
                "a tuner plugin has no configuration"},
    FindingType{"unread_lines", Warning, Notes, CostModel::None, "",
                "lines of the communication stack were not understood"},
    FindingType{"verbs_provider_missing", Error, Slows, CostModel::None, "ib_device_unusable",
                "libibverbs does not find its providers"},
    FindingType{"version_mismatch", Error, Stops, CostModel::None, "",
                "ranks have different libraries"},
    FindingType{"wrong_interface", Error, Stops, CostModel::None, "",
                "an interface or address that other hosts cannot reach"},
    FindingType{"wrong_results", Error, Stops, CostModel::None, "",
                "a benchmark found wrong results"},
    FindingType{"xid_error", Error, Stops, CostModel::None, "", "the GPU's driver reports a fault"},
};

}  // namespace

const char* to_string(Effect effect) {
  switch (effect) {
    case Effect::Stops:
      return "stops";
    case Effect::Slows:
      return "slows";
    case Effect::Notes:
      break;
  }
  return "notes";
}

std::span<const FindingType> finding_types() { return kTypes; }

const FindingType* finding_type(std::string_view id) {
  const auto found = std::lower_bound(
      kTypes.begin(), kTypes.end(), id,
      [](const FindingType& type, std::string_view sought) { return type.id < sought; });
  return found != kTypes.end() && found->id == id ? &*found : nullptr;
}

bool is_a(std::string_view id, std::string_view wanted) {
  if (id == wanted) return true;
  const FindingType* type = finding_type(id);
  return type != nullptr && !type->family.empty() && type->family == wanted;
}

}  // namespace ringside::audit
