#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/words.h"

namespace ringside::audit {

using namespace logs;  // its records are this folder's daily words

namespace {

/// A reason that a line says by itself, whoever wrote it: the library, its exception, the program's logger.
struct Reason {
  PlainLine line;
  std::string_view id;
  Severity severity;
  std::string_view title, cause, fix;
};

// Resources of the host first: connections that fail because of them come later in the rules.
constexpr std::array kReasons{
    Reason{PlainLine::GpuHardware, "gpu_hardware_error", Severity::Error,
           "a GPU or its NVLink has a hardware fault",
           "the driver stopped the work on an error that cannot be corrected: NVLink, or memory "
           "with ECC",
           "take the node out (drain it); nvidia-smi -q -d ECC; nvidia-smi nvlink -e; dmesg for "
           "Xid lines; reset or replace the GPU"},
    Reason{
        PlainLine::GpuIsLost, "gpu_hardware_error", Severity::Error,
        "nvidia-smi does not reach a GPU any more",
        "the GPU has left the PCIe bus or hangs: a hardware fault, heat, power, or its driver",
        "take the node out (drain it); the kernel's log for its Xid (79: off the bus); power-cycle "
        "the node, and replace the GPU if it comes again"},
    Reason{PlainLine::ThreadsRefused, "process_limit", Severity::Error,
           "the limit of processes or threads is reached",
           "a container's limit of processes, or the user's: each rank has tens of threads, and "
           "OpenMP and data loaders add to them",
           "docker run --pids-limit=-1 (Kubernetes: podPidsLimit); ulimit -u unlimited; "
           "OMP_NUM_THREADS=1"},
    Reason{
        PlainLine::GpuPageFault, "cuda_error", Severity::Error,
        "a kernel touched GPU memory that is not mapped (ROCm)",
        "a buffer that was freed too early, an index out of range, or a peer's memory that cannot "
        "be reached; seldom the hardware",
        "AMD_SERIALIZE_KERNEL=3 to find the kernel; rocm-smi --showtopo; NCCL_P2P_DISABLE=1 to "
        "tell whether it is a peer's memory"},
    Reason{PlainLine::DriverMismatch, "cuda_error", Severity::Error,
           "the CUDA library and the driver in the kernel are of different versions",
           "the driver was replaced while it was loaded, or the container brings a libcuda of its "
           "own instead of the host's (error 803; NVML: Driver/library version mismatch)",
           "restart the host, or reload the nvidia modules; in a container start with the NVIDIA "
           "runtime and take a libcuda.so.1 of the image off LD_LIBRARY_PATH"},
    Reason{
        PlainLine::ForwardCompat, "cuda_error", Severity::Error,
        "CUDA's compatibility package does not serve this GPU (804)",
        "forward compatibility is for data-centre GPUs; on others a newer CUDA than the driver's "
        "does not run",
        "take /usr/local/cuda/compat off LD_LIBRARY_PATH; a newer driver, or an image of an older "
        "CUDA"},
    Reason{
        PlainLine::FabricManagerDown, "fabric_manager_down", Severity::Error,
        "CUDA waits for the NVSwitch fabric: system not yet initialized (802)",
        "the fabric manager is not running, or is of another version than the driver: no GPU of "
        "an NVSwitch machine can be used until it has trained the links",
        "systemctl restart nvidia-fabricmanager   # its version must be the driver's; nvidia-smi "
        "-q | grep -A3 Fabric"},
    Reason{PlainLine::NoSuchGpu, "no_such_gpu", Severity::Error,
           "a process asks for a GPU that it does not have",
           "more ranks than GPUs on the host, or CUDA_VISIBLE_DEVICES hides the one that the local "
           "rank names",
           "nvidia-smi -L in that container; --nproc_per_node at most that many; "
           "torch.cuda.set_device(LOCAL_RANK)"},
    Reason{PlainLine::NoGpuAtAll, "no_such_gpu", Severity::Error, "the process sees no GPU at all",
           "the container was started without its GPUs, the host has no driver, or "
           "CUDA_VISIBLE_DEVICES is empty or names none",
           "docker run --gpus all (Kubernetes: nvidia.com/gpu in the limits, Slurm: --gres); "
           "nvidia-smi in that container; echo $CUDA_VISIBLE_DEVICES"},
    Reason{PlainLine::ArchUnsupported, "gpu_arch_unsupported", Severity::Error,
           "this build has no code for this GPU",
           "NCCL, PyTorch or an extension was compiled without the GPU's architecture: the first "
           "kernel is not found",
           "take a newer NCCL and PyTorch that name the architecture (torch.cuda.get_arch_list()); "
           "from source: NVCC_GENCODE, TORCH_CUDA_ARCH_LIST (ROCm: PYTORCH_ROCM_ARCH)"},
    Reason{PlainLine::PeerGpuHidden, "peer_gpu_hidden", Severity::Warning,
           "a process does not see the GPU of its peer",
           "containers of one host are given one GPU each, so that peer-to-peer has no device to "
           "name; data go through shared memory or the network",
           "give all processes of a host all its GPUs (--gpus all, one pod a node) and choose by "
           "the local rank"},
    Reason{PlainLine::NvlsUnavailable, "nvls_unavailable", Severity::Error,
           "multicast memory for NVLink SHARP cannot be made",
           "the fabric manager gives none: it was restarted without a GPU reset, the partition has "
           "none, or dead processes hold it",
           "systemctl restart nvidia-fabricmanager; nvidia-smi -r; NCCL_NVLS_ENABLE=0 goes on "
           "without, slower"},
    Reason{PlainLine::NcclSymbolMissing, "nccl_library_mismatch", Severity::Error,
           "the NCCL library that is loaded is not the one that the program was built for",
           "another libnccl.so.2 comes first on the library path, or none is there",
           "ldd and LD_DEBUG=libs show which one; pip install the nvidia-nccl package that this "
           "PyTorch names; clear LD_LIBRARY_PATH and LD_PRELOAD"},
    Reason{PlainLine::CudaForked, "cuda_error", Severity::Error,
           "a child process uses CUDA that its parent has initialised",
           "fork() copies a CUDA context that works in the parent alone: data loaders and process "
           "pools start so",
           "torch.multiprocessing.set_start_method(\"spawn\"), or touch CUDA in the children only"},
    Reason{
        PlainLine::CudaDriverOld, "cuda_error", Severity::Error,
        "the driver is too old for the CUDA of this PyTorch",
        "the image brings a newer CUDA than the host's driver serves",
        "a newer driver, or an image of an older CUDA (cuda-compat bridges one step); nvidia-smi "
        "names the newest CUDA that the driver serves"},
    Reason{PlainLine::NoLibuv, "store_timeout", Severity::Error,
           "the rendezvous store does not start: this PyTorch was built without libuv",
           "the default back end of the store is not in this build, as on Windows and in some "
           "builds from source",
           "USE_LIBUV=0; or init_method=tcp://HOST:PORT?use_libuv=0"},
    Reason{PlainLine::NcclNotBuilt, "nccl_not_built", Severity::Error,
           "this PyTorch has no NCCL in it",
           "a build for the CPU, macOS or Windows, or of a platform without NCCL",
           "install the CUDA or ROCm build of PyTorch; backend=\"gloo\" where there is no GPU"},
    Reason{PlainLine::GdrCopyMissing, "gdrcopy_missing", Severity::Warning,
           "GDRCopy cannot be opened",
           "the device /dev/gdrdrv is not in the container or may not be opened, or the gdrdrv "
           "driver is not loaded on the host",
           "docker run --device=/dev/gdrdrv ... (Kubernetes: mount it, privileged); modprobe "
           "gdrdrv; NCCL_GDRCOPY_ENABLE=0 where it is not needed"},
    Reason{PlainLine::VerbsProviderMissing, "verbs_provider_missing", Severity::Warning,
           "libibverbs does not find the directory of its providers",
           "the directory that this build of rdma-core was made for is not mounted in the "
           "container: no RDMA device is found, and NCCL falls back to TCP",
           "mount the directory at the path that the line names (on Google Cloud "
           "/usr/local/gib of the host); ibv_devinfo in the container must list the devices"},
    Reason{PlainLine::TunerConfigMissing, "tuner_config_missing", Severity::Warning,
           "the tuner plugin has no configuration",
           "NCCL_TUNER_CONFIG_PATH is not set: the plugin tunes nothing, and NCCL's own choices "
           "hold",
           "export NCCL_TUNER_CONFIG_PATH=<the machine type's file>; or unset NCCL_TUNER_PLUGIN"},
    Reason{PlainLine::RailsDiffer, "efa_rails_differ", Severity::Error,
           "the two nodes group their NICs into different numbers of rails",
           "the plugin sees another topology of GPUs and NICs on each node (a virtual machine or a "
           "container that shows another part of it): their connections do not fit together",
           "OFI_NCCL_FORCE_NUM_RAILS=<the same on all nodes>; the same NCCL_TOPO_FILE and devices "
           "in all containers"},
    Reason{PlainLine::EfaUnresponsive, "efa_unreachable", Severity::Error,
           "an EFA peer does not answer",
           "the packets of the handshake come to no answer: a security group that does not allow "
           "all traffic to and from itself, nodes in different subnets, or a peer process that has "
           "ended",
           "allow all traffic within the security group, both inbound and outbound; look at the "
           "peer's log; fi_pingpong -p efa between the two"},
    Reason{PlainLine::AddressVector, "efa_unreachable", Severity::Error,
           "libfabric refuses the address of a peer",
           "the address that came through the bootstrap is of another provider, version or NIC "
           "than this side expects",
           "the same libfabric, aws-ofi-nccl and FI_PROVIDER on all nodes; security groups between "
           "them"},
    Reason{
        PlainLine::ForkUnsafe, "fork_unsafe", Severity::Error,
        "libfabric's EFA provider ends the job because a process calls fork()",
        "memory that is registered with the NIC and copied by fork() may be corrupted: a data "
        "loader's workers and subprocess calls fork, and this kernel or rdma-core is too old to "
        "guard it",
        "FI_EFA_FORK_SAFE=1 (older libfabric: RDMAV_FORK_SAFE=1) on all ranks; or Linux 5.13 with "
        "rdma-core 35"},
    Reason{
        PlainLine::OneCclDevices, "net_init_error", Severity::Error,
        "oneCCL cannot open the devices of the GPUs",
        "the process does not see /dev/dri: not given to the container, or its user is not in the "
        "group render",
        "docker run --device=/dev/dri --group-add render ...; ls -l /dev/dri; "
        "CCL_ZE_IPC_EXCHANGE=sockets where device files cannot be shared"},
    Reason{
        PlainLine::OneCclTransport, "net_init_error", Severity::Error,
        "oneCCL cannot start its transport",
        "libfabric or MPI, by which oneCCL moves data between processes, finds no usable provider "
        "or launcher",
        "fi_info as the job's user; FI_PROVIDER=<one that it lists>, FI_TCP_IFACE=<the hosts' "
        "network>; CCL_ATL_TRANSPORT=mpi under an MPI launcher, ofi without"},
    Reason{
        PlainLine::NvshmemTransport, "net_init_error", Severity::Error,
        "NVSHMEM cannot connect its remote transport",
        "its InfiniBand transport does not reach the peers: a wrong GID or HCA, or no RDMA device "
        "in the container",
        "NVSHMEM_DEBUG=INFO; NVSHMEM_HCA_LIST and NVSHMEM_IB_GID_INDEX as on a working host; "
        "ibv_devinfo in the container"},
    Reason{
        PlainLine::NvshmemMemory, "net_init_error", Severity::Error,
        "NVSHMEM cannot register GPU memory with the NIC",
        "the kernel lacks nvidia_peermem (or DMA-BUF), or the limit of locked memory is too low",
        "modprobe nvidia_peermem on the hosts; ulimit -l unlimited; NVSHMEM_DEBUG=INFO names the "
        "call"},
    Reason{PlainLine::NvshmemFailed, "net_init_error", Severity::Error, "NVSHMEM does not start",
           "the line quoted names the part that failed",
           "NVSHMEM_DEBUG=INFO, and the first line with `non-zero status`"},
    Reason{PlainLine::OneCclFailed, "net_init_error", Severity::Error, "oneCCL fails",
           "the line quoted names the part that failed", "CCL_LOG_LEVEL=info, and run again"},
    Reason{PlainLine::GpuQueueAborted, "cuda_error", Severity::Error,
           "ROCm aborts a queue of the GPU",
           "a kernel did something illegal, was built for another GPU, or the GPU has a fault",
           "AMD_SERIALIZE_KERNEL=3 to find the kernel; dmesg there for amdgpu lines; rocm-smi "
           "--showrasinfo"},
    Reason{PlainLine::ReduceOfServer, "ipc_failed", Severity::Error,
           "the server's own all-reduce cannot use the memory of its peers",
           "vLLM and SGLang open their peers' buffers directly: an allocator without IPC, GPUs "
           "without peer access, or containers without a common IPC namespace",
           "vLLM: --disable-custom-all-reduce (SGLang: the same); expandable_segments:False in "
           "PYTORCH_CUDA_ALLOC_CONF; docker run --ipc=host"},
    Reason{PlainLine::HipIpcFailed, "ipc_failed", Severity::Error,
           "memory handles of HIP do not cross between the processes of a host",
           "containers without a common IPC namespace or without all of /dev/kfd and /dev/dri, or "
           "an allocator whose memory cannot be shared",
           "docker run --ipc=host --device=/dev/kfd --device=/dev/dri ...; "
           "PYTORCH_HIP_ALLOC_CONF=expandable_segments:False; HSA_FORCE_FINE_GRAIN_PCIE=1"},
    Reason{PlainLine::GlooNoInterface, "wrong_interface", Severity::Error,
           "Gloo finds no address of the interface that it is told",
           "GLOO_SOCKET_IFNAME takes the names of interfaces, parted by commas: neither a list "
           "with ^ nor a prefix, as NCCL_SOCKET_IFNAME has them; or the host's own name has no "
           "address",
           "ip -br addr; GLOO_SOCKET_IFNAME=<an interface that every host has>"},
    Reason{PlainLine::ImexMissing, "mnnvl_unavailable", Severity::Warning,
           "the service of NVLink between hosts does not answer",
           "nvidia-imex is not running, its list of nodes is wrong, or its channel is not in the "
           "container",
           "systemctl status nvidia-imex; nvidia-imex-ctl -N; pass "
           "/dev/nvidia-caps-imex-channels"},
    Reason{PlainLine::ServerStalled, "collective_timeout", Severity::Error,
           "the engine of an inference server gave up on its workers",
           "a symptom: a worker process died, or hangs in a step that the others wait for",
           "the log of each worker before this line; py-spy dump --pid of the workers while they "
           "stand, then ringside hang on the stacks"},
    Reason{PlainLine::WrongTensor, "invalid_usage", Severity::Error,
           "a tensor is handed to a process group that cannot take it",
           "a backend takes tensors of its own devices: NCCL dense and contiguous ones on the GPU, "
           "Gloo those of the CPU",
           "tensor.cuda() or .contiguous() before the call; or "
           "init_process_group(\"cpu:gloo,cuda:nccl\"), which serves both"},
    Reason{
        PlainLine::SshRefused, "bootstrap_failure", Severity::Error,
        "the launcher does not get into a host by ssh",
        "mpirun, pdsh and DeepSpeed start the ranks of other hosts by ssh, which wants a key and a "
        "known host there, and no password",
        "ssh -o BatchMode=yes HOST true   # from the host of the launcher, as its user"},
    Reason{
        PlainLine::WorldDoesNotFit, "invalid_usage", Severity::Error,
        "the number of ranks does not fit the parallel groups that are asked for",
        "the sizes of the tensor, pipeline and data parallel groups must multiply to the number of "
        "ranks: fewer processes started than were planned, or the sizes are of another job",
        "as many ranks as the product of the sizes: nodes x processes a node; print WORLD_SIZE on "
        "every process"},
    Reason{PlainLine::SubsetWaits, "collective_timeout", Severity::Warning,
           "some ranks wait for a tensor that others have not submitted",
           "a rank is behind, has ended, or takes another path: a branch or a batch that others do "
           "not have",
           "py-spy dump of the ranks that the line lists as missing; their own logs"},
    Reason{PlainLine::GroupNotMade, "invalid_usage", Severity::Error,
           "a process group is used before it is made, or is made twice",
           "init_process_group() was not called in this process, or a library had called it",
           "call init_process_group() once in every process, before the first collective; "
           "dist.is_initialized() tells"},
    Reason{PlainLine::PortIsDown, "rdma_port_down", Severity::Error, "an RDMA port has no link",
           "the port is not active: no cable, a switch port that is off or of another speed, or no "
           "subnet manager (state Initializing)",
           "ibstat; the cable and the switch port; on InfiniBand that a subnet manager runs; "
           "NCCL_IB_HCA leaves the port out meanwhile"},
    Reason{PlainLine::LauncherSignalled, "job_cancelled", Severity::Info,
           "the launcher was ended by a signal from outside",
           "signal 15 is sent by a scheduler, a container's runtime or a person, signal 1 by a "
           "terminal that was closed: the ranks did not fail by themselves",
           "the scheduler's record of the job (sacct, kubectl describe pod); nohup, tmux or sbatch "
           "where a terminal was closed"},
};

/// `fi_addr_efa://[fe80::1]:0:77` of the peer of an EFA request; empty: it is not said.
std::string_view efa_peer(std::string_view text) { return value_behind(text, "Peer EFA addr: "); }

/// The path between quotes, such as the directory that libibverbs misses.
std::string_view quoted_path(std::string_view text) {
  const std::size_t open = text.find("'/");
  if (open == std::string_view::npos) return {};
  const std::string_view path = text.substr(open + 1);
  return path.substr(0, path.find('\''));
}

/// What a line adds to the title: who, what, how many.
std::string details_of(PlainLine line, std::string_view text) {
  switch (line) {
    case PlainLine::EfaUnresponsive: {
      const std::string_view peer = efa_peer(text);
      return peer.empty() ? std::string() : fmt::format(": {}", peer);
    }
    case PlainLine::VerbsProviderMissing: {
      const std::string_view path = quoted_path(text);
      return path.empty() ? std::string() : fmt::format(": {}", path);
    }
    case PlainLine::RailsDiffer: {
      const std::size_t at = text.find("Expected ");
      return at == std::string_view::npos ? std::string()
                                          : fmt::format(": e{}", text.substr(at + 1, 60));
    }
    case PlainLine::GpuHardware:
      return contains(text, "NVLink") ? ": an NVLink error that cannot be corrected"
                                      : ": an ECC or hardware error that cannot be corrected";
    case PlainLine::ArchUnsupported:
      for (const std::string_view words :
           {"named symbol not found", "invalid device function", "no kernel image is available",
            "invalid kernel file", "device kernel image is invalid"}) {
        if (contains(text, words)) return fmt::format(": {}", words);
      }
      return {};
    case PlainLine::FabricManagerDown: {
      // `... interface version 535.161.07 don't match with driver version 535.183.01`
      const std::size_t at = text.find("interface version ");
      return at == std::string_view::npos || !contains(text, "match with driver")
                 ? std::string()
                 : fmt::format("; {}", text.substr(at, 100));
    }
    case PlainLine::DriverMismatch:
    case PlainLine::ForwardCompat: {
      const std::size_t at = text.find("Error 80");
      return at == std::string_view::npos ? std::string()
                                          : fmt::format(": {}", text.substr(at, 90));
    }
    case PlainLine::GpuIsLost: {
      constexpr std::string_view kKey = "device handle for ";
      const std::size_t at = text.find(kKey);
      return at == std::string_view::npos ? std::string()
                                          : fmt::format(": {}", text.substr(at + kKey.size(), 60));
    }
    case PlainLine::OneCclTransport:
    case PlainLine::OneCclFailed: {
      const std::size_t at = std::min(text.find("EXCEPTION: "), text.find("|CCL_ERROR| "));
      return at == std::string_view::npos ? std::string()
                                          : fmt::format(": {}", text.substr(at + 11, 120));
    }
    case PlainLine::NvshmemFailed:
    case PlainLine::NvshmemMemory: {
      const std::size_t at = text.rfind("non-zero status");
      return at == std::string_view::npos ? std::string()
                                          : fmt::format(": {}", text.substr(at, 100));
    }
    case PlainLine::WorldDoesNotFit:
    case PlainLine::WrongTensor:
    case PlainLine::GroupNotMade: {
      const std::size_t at = text.find("Error: ");
      return at == std::string_view::npos ? std::string()
                                          : fmt::format(": {}", text.substr(at + 7, 100));
    }
    case PlainLine::NoSuchGpu:
      return contains(text, "invalid device ordinal") ? ": invalid device ordinal" : "";
    default:
      return {};
  }
}

/// The job master's word about the node whose process failed, last before a place.
std::string node_before(const JobFacts& facts, logs::Place place) {
  std::string node;
  for (const KeptMessage& message : facts.messages[MessageId::AgentRestart].kept) {
    if (place < message.place()) break;
    node = message.argument("node");
    node = node.substr(node.rfind(' ') + 1);  // the job's name stands before it
  }
  return node;
}

/// What waits at a start and is done with before the job goes on is no trouble.
Severity severity_of_reason(const JobFacts& facts, const Reason& reason) {
  const bool may_pass = reason.line == PlainLine::SubsetWaits;
  const bool is_started =
      std::any_of(facts.comms.begin(), facts.comms.end(), [](const CommFacts& comm) {
        return std::any_of(comm.members.begin(), comm.members.end(),
                           [](const Member& member) { return member.is_complete; });
      });
  return may_pass && is_started ? Severity::Info : reason.severity;
}

void add_reason(const JobFacts& facts, const Reason& reason, Findings& findings) {
  const PlainLines& lines = facts.plain_of(reason.line);
  if (lines.evidence.empty()) return;
  // What another rule has found of the same lines in their library's own words says more.
  const bool is_known =
      std::any_of(findings.all().begin(), findings.all().end(), [&](const Finding& finding) {
        return finding.id == reason.id && finding.severity >= Severity::Warning;
      });
  if (is_known) return;
  const std::string_view first =
      lines.kept.empty() ? std::string_view() : std::string_view(lines.kept.front().quoted.text);
  Finding& finding = findings.add(reason.id, severity_of_reason(facts, reason),
                                  std::string(reason.title) + details_of(reason.line, first));
  finding.evidence = lines.evidence;
  std::vector<std::uint32_t> who;
  for (const KeptLine& line : lines.kept) who.push_back(line.quoted.process);
  findings.say_who(finding, who);
  if (finding.hosts.empty() && !lines.kept.empty()) {
    const std::string node = node_before(facts, lines.kept.front().quoted.place);
    if (!node.empty()) finding.hosts = {node};
  }
  if (reason.line == PlainLine::GpuHardware && !finding.hosts.empty())
    finding.title += fmt::format(" on {}", list_of(finding.hosts));
  finding.cause = reason.cause;
  finding.fix = reason.fix;
}

}  // namespace

void look_for_reasons(const JobFacts& facts, Findings& findings) {
  for (const Reason& reason : kReasons) add_reason(facts, reason, findings);
  // Device-initiated networking needs GDRCopy: without it the job has no such network at all.
  const bool has_lost_gin = facts.messages.has(MessageId::GinUnavailable);
  for (Finding& finding : findings.all()) {
    if (finding.id != "gdrcopy_missing" || !has_lost_gin) continue;
    finding.severity = Severity::Error;
    finding.title += ", and device-initiated networking (GIN) cannot start without it";
    finding.evidence.mix(facts.messages[MessageId::GinUnavailable].evidence);
  }
}

}  // namespace ringside::audit
