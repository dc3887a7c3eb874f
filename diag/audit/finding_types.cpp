#include "diag/audit/finding_types.h"

#include <algorithm>
#include <array>

namespace ringside::audit {
namespace {

using enum Severity;
using enum Effect;

constexpr FindingType kTypes[] = {
    {"asymmetric_config", Error, Slows,
     "hosts or ranks of one job differ in devices, channels or variables"},
    {"benchmark_without_mpi", Warning, Notes, "every process of a benchmark measured itself alone"},
    {"bootstrap_failure", Error, Stops, "the ranks do not connect at the start"},
    {"clock_source", Warning, Slows, "the kernel reads a slow clock"},
    {"collective_timeout", Error, Stops, "ranks timed out in a collective: a symptom"},
    {"communicator_leak", Warning, Notes, "communicators are made and not closed"},
    {"cpu_affinity", Warning, Slows, "threads are bound to too few cores, or to far ones"},
    {"cross_rail", Warning, Slows, "channels leave by one rail and arrive by another"},
    {"cuda_error", Error, Stops, "a CUDA or HIP call fails"},
    {"dump_missing", Warning, Notes, "the flight recorder's dumps of some ranks are missing"},
    {"duplicate_gpu", Error, Stops, "two ranks chose one GPU"},
    {"efa_rails_differ", Error, Stops,
     "two nodes group their NICs into different numbers of rails"},
    {"efa_unreachable", Error, Stops, "an EFA peer does not answer", "ib_error"},
    {"env_debug_in_production", Warning, Slows, "debugging is left on"},
    {"env_override", Error, Slows, "a variable forces a costly or impossible choice"},
    {"fabric_manager_down", Error, Stops, "CUDA waits for the NVSwitch fabric (802)", "cuda_error"},
    {"fd_limit", Error, Stops, "the limit of open files is reached"},
    {"few_channels", Error, Slows, "fewer channels than the machine allows", "",
     CostModel::FewChannels},
    {"fork_unsafe", Error, Stops, "an RDMA provider ends the job because a process calls fork()"},
    {"gdr_missing", Error, Slows, "NICs do not reach GPU memory", "", CostModel::NoGdr},
    {"gdr_unavailable_info", Info, Notes, "GPUDirect RDMA is not there, and need not be"},
    {"gdrcopy_missing", Error, Slows, "GDRCopy cannot be opened"},
    {"gid_index", Error, Stops, "a RoCE port uses an empty, stale or unroutable GID"},
    {"gpu_arch_unsupported", Error, Stops, "this build has no code for this GPU", "cuda_error"},
    {"gpu_hardware_error", Error, Stops, "a GPU or its NVLink has a hardware fault", "cuda_error"},
    {"gpu_memory_registration", Error, Stops, "GPU memory cannot be registered with the NIC",
     "gdr_missing"},
    {"gpu_out_of_memory", Error, Stops, "the memory of a GPU is full", "cuda_error"},
    {"gpu_throttled", Warning, Slows, "a GPU runs at a lower clock than it could"},
    {"graph_search_failed", Warning, Slows, "NCCL found no path for a pattern"},
    // Kinds of hangs, as `ringside hang` names them (base/hang_class.h), and two coarser ones.
    {"hang_dead_rank", Error, Stops, "a process of the job died"},
    {"hang_deadlock_cycle", Error, Stops, "ranks wait for each other in a cycle"},
    {"hang_diverged_control_flow", Error, Stops, "ranks took different paths of the program",
     "hang_diverged_rank"},
    {"hang_diverged_rank", Error, Stops, "a rank left the path of the others"},
    {"hang_dtype_mismatch", Error, Stops, "ranks call one operation with different element types",
     "hang_shape_mismatch"},
    {"hang_missing_rank", Error, Stops, "a rank did not enter a call that the others wait in",
     "hang_diverged_rank"},
    {"hang_network_stall", Error, Stops, "all are in the operation, and nothing moves"},
    {"hang_not_a_hang", Info, Notes, "the job is not stuck"},
    {"hang_op_mismatch", Error, Stops, "ranks call different operations"},
    {"hang_order_mismatch", Error, Stops, "ranks call the same operations in different orders",
     "hang_op_mismatch"},
    {"hang_p2p_unmatched", Error, Stops, "a send or receive has no partner"},
    {"hang_root_mismatch", Error, Stops, "ranks name different roots", "hang_op_mismatch"},
    {"hang_shape_mismatch", Error, Stops, "ranks call one operation with different sizes"},
    {"hang_slow_rank", Error, Stops, "a rank is busy elsewhere while others wait"},
    {"hang_straggler", Error, Stops, "a rank works, and is late", "hang_slow_rank"},
    {"hang_unknown", Error, Stops, "something is stuck, and the text does not show what"},
    {"ib_device_unusable", Error, Stops, "an RDMA device is visible and cannot be opened"},
    {"ib_error", Error, Stops, "RDMA requests or connections fail"},
    {"invalid_usage", Error, Stops, "NCCL was called with impossible arguments"},
    {"ipc_failed", Error, Stops, "memory handles do not cross between the processes of a host"},
    {"job_cancelled", Info, Notes, "the scheduler ended the job"},
    {"launcher_failure", Error, Stops,
     "the launcher, MPI or the scheduler does not start the processes"},
    {"launcher_noise", Info, Notes, "the launcher warns, without consequence"},
    {"link_degraded", Warning, Slows, "a network port runs slower than comparable ones"},
    {"link_flap", Error, Stops, "a network port goes down and comes up"},
    {"low_bandwidth", Error, Slows, "a benchmark is slower than the model expects", "",
     CostModel::Table},
    {"memlock_limit", Error, Stops, "the limit of locked memory is too low for RDMA"},
    {"mismatched_collective", Error, Stops, "ranks call different things"},
    {"missing_ranks", Error, Stops, "ranks log nothing"},
    {"mnnvl_unavailable", Warning, Slows, "NVLink between hosts exists but does not work"},
    {"nccl_library_mismatch", Error, Stops,
     "another NCCL is loaded than the program was built for"},
    {"nccl_not_built", Error, Stops, "this PyTorch has no NCCL in it"},
    {"net_init_error", Error, Stops, "a network or its plugin fails when it starts"},
    {"net_unreachable", Error, Stops, "connections between hosts do not get through"},
    {"nic_failover", Warning, Slows, "a NIC failed and others take over"},
    {"no_rdma_device", Error, Slows, "no RDMA device is visible"},
    {"no_such_gpu", Error, Stops, "a process asks for a GPU that it does not have", "cuda_error"},
    {"no_transport", Error, Stops, "two ranks have no transport between them"},
    {"nothing_read", Info, Notes, "no line of this input is one of the communication stack"},
    {"nvlink_missing", Error, Slows, "GPUs without the NVLink that their class has"},
    {"nvls_unavailable", Error, Stops, "NVLink SHARP fails or is missing"},
    {"p2p_disabled", Error, Slows, "GPU peer-to-peer is switched off or refused", "",
     CostModel::SharedMemory},
    {"pcie_acs", Error, Stops, "peer-to-peer over PCIe does not deliver"},
    {"peer_gpu_hidden", Warning, Slows, "a process does not see the GPU of its peer"},
    {"plugin_crash", Error, Stops, "a process crashed inside a network plugin"},
    {"plugin_incompatible", Error, Slows, "a plugin exists but this NCCL cannot use it"},
    {"plugin_missing", Error, Slows, "the plugin of this fabric is not found"},
    {"process_limit", Error, Stops, "the limit of processes or threads is reached"},
    {"rccl_mscclpp_off", Info, Notes, "MSCCL++ is not used"},
    {"rccl_system_setting", Warning, Notes,
     "settings of the machine that RCCL asks for are missing"},
    {"rdma_port_down", Error, Stops, "an RDMA port is not active"},
    {"release_fault", Error, Stops, "a known fault of the release in use"},
    {"remote_closed", Warning, Stops, "a peer closed its connection: a consequence"},
    {"scrambled_ring", Warning, Slows, "a ring crosses hosts more often than it must"},
    {"sharp_unavailable", Info, Notes, "in-network reduction was asked for and is not there"},
    {"shm_exhausted", Error, Stops, "/dev/shm is full"},
    {"shm_fallback", Error, Slows, "GPUs of a host communicate through host memory", "",
     CostModel::SharedMemory},
    {"short_ring", Error, Stops, "a ring does not contain all ranks"},
    {"single_nic", Warning, Slows, "one NIC carries all channels of a host", "", CostModel::OneNic},
    {"slow_init", Warning, Slows, "a communicator starts slowly"},
    {"socket_fallback", Error, Slows, "data go over TCP between hosts", "", CostModel::Tcp},
    {"store_timeout", Error, Stops,
     "the rendezvous store cannot be reached, timed out, or is gone"},
    {"system_error", Error, Stops, "NCCL failed, and the log does not show why"},
    {"teardown_noise", Info, Notes, "lines that look alarming while a job ends"},
    {"topology_file", Error, Stops, "a topology file does not describe this machine"},
    {"truncated_message", Info, Notes, "the lines of a log are cut at one width"},
    {"truncated_table", Warning, Stops, "a benchmark's table begins and does not end", "",
     CostModel::Table},
    {"tuner_config_missing", Warning, Slows, "a tuner plugin has no configuration"},
    {"unread_lines", Warning, Notes, "lines of the communication stack were not understood"},
    {"verbs_provider_missing", Error, Slows, "libibverbs does not find its providers",
     "ib_device_unusable"},
    {"version_mismatch", Error, Stops, "ranks have different libraries"},
    {"wrong_interface", Error, Stops, "an interface or address that other hosts cannot reach"},
    {"wrong_results", Error, Stops, "a benchmark found wrong results"},
    {"xid_error", Error, Stops, "the GPU's driver reports a fault"},
};
static_assert(std::ranges::is_sorted(kTypes, {}, &FindingType::id),
              "finding_type() searches by halves");

}  // namespace

const char* to_string(Effect effect) {
  return std::array{"stops", "slows", "notes"}[static_cast<std::size_t>(effect)];
}

std::span<const FindingType> finding_types() { return kTypes; }

const FindingType* finding_type(std::string_view id) {
  const auto* const found = std::ranges::lower_bound(kTypes, id, {}, &FindingType::id);
  return found != std::end(kTypes) && found->id == id ? found : nullptr;
}

bool is_a(std::string_view id, std::string_view wanted) {
  if (id == wanted) return true;
  const FindingType* type = finding_type(id);
  return type != nullptr && !type->family.empty() && type->family == wanted;
}

}  // namespace ringside::audit
