#include "diag/audit/plain_lines.h"

#include "diag/audit/needles.h"

namespace ringside::audit {
namespace {

struct Row {
  std::string_view needle;
  PlainLine line;
  std::string_view and_also = {};  ///< another text that the line needs
};

constexpr std::array kRows{
    Row{"Caught signal 11", PlainLine::Crash},
    Row{"Caught signal 7", PlainLine::Crash},
    Row{"Caught signal 6", PlainLine::Crash},
    Row{"Signal: Segmentation fault", PlainLine::Crash},
    Row{"Segmentation fault (core dumped)", PlainLine::Crash},
    Row{"Fatal Python error: Segmentation fault", PlainLine::Crash},
    Row{"*** Process received signal ***", PlainLine::Crash},
    Row{"Segmentation fault", PlainLine::Crash, "srun: error"},
    Row{"libnccl-net", PlainLine::CrashFrameOfPlugin, "0x"},
    Row{"librccl-net", PlainLine::CrashFrameOfPlugin, "0x"},
    Row{"libnccl-ofi", PlainLine::CrashFrameOfPlugin, "0x"},
    Row{"nccl_net_ofi", PlainLine::CrashFrameOfPlugin, "0x"},
    Row{"libfabric.so", PlainLine::CrashFrameOfPlugin, "0x"},
    Row{"PMIX ERROR", PlainLine::PmixNoise},
    Row{"device-side assert triggered", PlainLine::DeviceAssert},
    Row{"CUDA out of memory", PlainLine::OutOfGpuMemory},
    Row{"HIP out of memory", PlainLine::OutOfGpuMemory},
    Row{"insufficient shared memory (shm)", PlainLine::ShmOfLoader},
    Row{"are out of shared memory", PlainLine::ShmOfLoader, "DataLoader worker"},
    Row{"is killed by signal: Bus error", PlainLine::ShmOfLoader, "DataLoader worker"},
    Row{"retrieving ncclUniqueId", PlainLine::UniqueIdTimeout, "got error"},
    Row{"retreiving ncclUniqueId", PlainLine::UniqueIdTimeout, "got error"},
    Row{"unhandled system error", PlainLine::SystemError},
    Row{"ncclSystemError", PlainLine::SystemError},
    Row{"%|", PlainLine::Occupied, "/"},
    Row{"connectFullMesh failed", PlainLine::LoopbackMesh, "127.0."},
    Row{"onnect [127.0.", PlainLine::LoopbackMesh},
    Row{"onnect [::1]", PlainLine::LoopbackMesh},
    Row{"SO_ERROR", PlainLine::LoopbackMesh, "remote=[127.0."},
    Row{"reset by peer [127.0.", PlainLine::LoopbackMesh},
    Row{"missed FR dumps from ranks", PlainLine::RecorderLost},
    Row{"unhandled cuda error", PlainLine::CudaCallFailed},
    Row{"ncclUnhandledCudaError", PlainLine::CudaCallFailed},
    Row{"remote process exited or there was a network error", PlainLine::RemoteFailed},
    Row{"ncclRemoteError", PlainLine::RemoteFailed},
    Row{"ncclInvalidUsage", PlainLine::OtherNcclError},
    Row{"ncclInvalidArgument", PlainLine::OtherNcclError},
    Row{"ncclInternalError", PlainLine::OtherNcclError},
    Row{"invalid usage", PlainLine::OtherNcclError, "NCCL"},
    Row{"invalid argument (run with NCCL_DEBUG", PlainLine::OtherNcclError},
    Row{"internal error", PlainLine::OtherNcclError, "NCCL"},
    Row{"NVIDIA ", PlainLine::GpuName},
    Row{"Tesla ", PlainLine::GpuName},
    Row{"GeForce ", PlainLine::GpuName},
    Row{"Quadro ", PlainLine::GpuName},
    Row{"Caught signal 7", PlainLine::BusError},
    Row{"Bus error (core dumped)", PlainLine::BusError},
    Row{"Fatal Python error: Bus error", PlainLine::BusError},
    Row{"Signal: Bus error", PlainLine::BusError},
    Row{"Signal 7 (SIGBUS)", PlainLine::BusError},
    Row{"(exitcode: -7)", PlainLine::BusError},
    Row{"exited on signal 7", PlainLine::BusError},
    Row{"Bus error", PlainLine::BusError, "srun: error"},
    Row{"IO_PAGE_FAULT", PlainLine::IommuFault, "device="},
    Row{"DMAR: [DMA", PlainLine::IommuFault, "fault"},
    Row{"no userspace device-specific driver found", PlainLine::NoVerbsDriver},
    Row{"aving", PlainLine::Occupied},
    Row{"riting", PlainLine::Occupied, "heckpoint"},
    Row{"aved", PlainLine::Occupied},
    Row{"ritten", PlainLine::Occupied, "heckpoint"},
    Row{"(gai error", PlainLine::NameWithoutAddress},
    Row{"world_size", PlainLine::WorldSize},
    Row{"WORLD_SIZE", PlainLine::WorldSize},
    Row{"world size", PlainLine::WorldSize},
    Row{"MEMBER: ", PlainLine::WorldSize},
    Row{"num_processes", PlainLine::WorldSize},
    Row{"(torch/serialization.py:", PlainLine::Occupied},
    Row{"_try_get_data (", PlainLine::Occupied},
    Row{"NCCL", PlainLine::StackWord},
    Row{"RCCL", PlainLine::StackWord},
    Row{"nccl", PlainLine::StackWord},
    Row{"rccl", PlainLine::StackWord},
    Row{"NET/", PlainLine::StackWord},
    Row{"ibv_", PlainLine::StackWord},
    Row{"libibverbs", PlainLine::StackWord},
    Row{"libfabric", PlainLine::StackWord},
    Row{"gloo", PlainLine::StackWord},
    Row{"Gloo", PlainLine::StackWord},
    Row{"c10d", PlainLine::StackWord},
    Row{"TCPStore", PlainLine::StackWord},
    Row{"ProcessGroup", PlainLine::StackWord},
    Row{"atchdog", PlainLine::StackWord},
    Row{"nvshmem", PlainLine::StackWord},
    Row{"NVSHMEM", PlainLine::StackWord},
    Row{"oneCCL", PlainLine::StackWord},
    Row{"|CCL_", PlainLine::StackWord},
    Row{"cudaIpc", PlainLine::StackWord},
    Row{"hipIpc", PlainLine::StackWord},
    Row{"initialize GDRCopy", PlainLine::GdrCopyMissing},
    Row{"Failed to open gdr handle", PlainLine::GdrCopyMissing},
    Row{"gdr_open", PlainLine::GdrCopyMissing, "NCCL"},
    Row{"/dev/gdrdrv", PlainLine::GdrCopyMissing, "o such"},
    Row{"/dev/gdrdrv", PlainLine::GdrCopyMissing, "denied"},
    Row{"couldn't open config directory", PlainLine::VerbsProviderMissing},
    Row{"No NCCL_TUNER_CONFIG_PATH", PlainLine::TunerConfigMissing},
    Row{"number of remote rails", PlainLine::RailsDiffer, "Unexpected"},
    Row{"number of rails", PlainLine::RailsDiffer, "ismatch"},
    Row{"Unresponsive receiver", PlainLine::EfaUnresponsive},
    Row{"Unresponsive remote", PlainLine::EfaUnresponsive},
    Row{"Unreachable remote", PlainLine::EfaUnresponsive},
    Row{"handshake failed", PlainLine::EfaUnresponsive, "EFA"},
    Row{"address vector", PlainLine::AddressVector, "nable to insert"},
    Row{"fi_av_insert", PlainLine::AddressVector, "ail"},
    Row{"system not yet initialized", PlainLine::FabricManagerDown},
    Row{"SYSTEM_NOT_READY", PlainLine::FabricManagerDown},
    Row{"cudaErrorSystemNotReady", PlainLine::FabricManagerDown},
    Row{"named symbol not found", PlainLine::ArchUnsupported},
    Row{"invalid device function", PlainLine::ArchUnsupported},
    Row{"no kernel image is available", PlainLine::ArchUnsupported},
    Row{"is not compatible with the current PyTorch installation", PlainLine::ArchUnsupported},
    Row{"hipErrorNoBinaryForGpu", PlainLine::ArchUnsupported},
    Row{"invalid device ordinal", PlainLine::NoSuchGpu},
    Row{"no CUDA-capable device", PlainLine::NoSuchGpu},
    Row{"No CUDA GPUs are available", PlainLine::NoSuchGpu},
    Row{"No HIP GPUs are available", PlainLine::NoSuchGpu},
    Row{"no GPUs found!", PlainLine::NoSuchGpu},
    Row{"uncorrectable NVLink error", PlainLine::GpuHardware},
    Row{"uncorrectable ECC error", PlainLine::GpuHardware},
    Row{"NVLink error", PlainLine::GpuHardware, "CUDA error"},
    Row{"ardware stack error", PlainLine::GpuHardware},
    Row{"not visible", PlainLine::PeerGpuHidden, "peer"},
    Row{"not visible", PlainLine::PeerGpuHidden, "P2P"},
    Row{"hipIpcGetMemHandle", PlainLine::HipIpcFailed, "ail"},
    Row{"hipIpcOpenMemHandle", PlainLine::HipIpcFailed, "ail"},
    Row{"hipIpcGetMemHandle", PlainLine::HipIpcFailed, "rror"},
    Row{"hipIpcOpenMemHandle", PlainLine::HipIpcFailed, "rror"},
    Row{"Unable to find address for", PlainLine::GlooNoInterface},
    Row{"Unable to find interface for", PlainLine::GlooNoInterface},
    Row{"Unable to resolve hostname to a (local) address", PlainLine::GlooNoInterface},
    Row{"undefined symbol: nccl", PlainLine::NcclSymbolMissing},
    Row{"version `NCCL_", PlainLine::NcclSymbolMissing, "not found"},
    Row{"config blocking attribute", PlainLine::NcclSymbolMissing, "nvalid"},
    Row{"config cgaClusterSize attribute", PlainLine::NcclSymbolMissing, "nvalid"},
    Row{"re-initialize CUDA in forked subprocess", PlainLine::CudaForked},
    Row{"NVIDIA driver on your system is too old", PlainLine::CudaDriverOld},
    Row{"built without libuv", PlainLine::NoLibuv},
    Row{"EngineCore encountered a fatal error", PlainLine::ServerStalled},
    Row{"RPC call to", PlainLine::ServerStalled, "timed out"},
    Row{"SignalException: Process", PlainLine::LauncherSignalled, "got signal"},
    Row{"libnccl.so", PlainLine::NcclSymbolMissing, "cannot open shared object file"},
    Row{"have NCCL built in", PlainLine::NcclNotBuilt},
    Row{"Backend nccl is not available", PlainLine::NcclNotBuilt},
    Row{"cuMulticast", PlainLine::NvlsUnavailable, "ail"},
    Row{"No backend type associated with device type", PlainLine::WrongTensor},
    Row{"Tensors must be CUDA and dense", PlainLine::WrongTensor},
    Row{"Tensors must be contiguous", PlainLine::WrongTensor},
    Row{"process group has not been initialized", PlainLine::GroupNotMade},
    Row{"initialize the default process group twice", PlainLine::GroupNotMade},
    Row{"hysical state: Polling", PlainLine::PortIsDown},
    Row{"hysical state: Disabled", PlainLine::PortIsDown},
    Row{"PORT_DOWN", PlainLine::PortIsDown, "state:"},
    Row{"match with driver version", PlainLine::FabricManagerDown, "abric"},
    Row{"unable to write to file </torch_", PlainLine::ShmOfLoader},
    Row{"from file </torch_", PlainLine::ShmOfLoader, "unable to mmap"},
    Row{"GPU is lost", PlainLine::GpuIsLost},
    Row{"Unable to determine the device handle", PlainLine::GpuIsLost},
    Row{"Memory access fault by GPU", PlainLine::GpuPageFault},
    Row{"HSA_STATUS_ERROR_MEMORY_FAULT", PlainLine::GpuPageFault},
    Row{"HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION", PlainLine::GpuPageFault},
    Row{"unsupported display driver / cuda driver combination", PlainLine::DriverMismatch},
    Row{"Driver/library version mismatch", PlainLine::DriverMismatch},
    Row{"Error 803", PlainLine::DriverMismatch, "driver"},
    Row{"forward compatibility was attempted", PlainLine::ForwardCompat},
    Row{"libfabric EFA provider is operating", PlainLine::ForkUnsafe},
    Row{"libfabric EFA provider to work safely", PlainLine::ForkUnsafe},
    Row{"init_device_fds", PlainLine::OneCclDevices},
    Row{"could not open device directory", PlainLine::OneCclDevices},
    Row{"atl_ofi", PlainLine::OneCclTransport, "|CCL_ERROR|"},
    Row{"atl_mpi", PlainLine::OneCclTransport, "|CCL_ERROR|"},
    Row{"oneCCL", PlainLine::OneCclTransport, "init_transport"},
    Row{"oneCCL", PlainLine::OneCclFailed, "EXCEPTION"},
    Row{"|CCL_ERROR|", PlainLine::OneCclFailed},
    Row{"init failed for remote transport", PlainLine::NvshmemTransport},
    Row{"connect EPS failed", PlainLine::NvshmemTransport},
    Row{"nvshmem setup connections failed", PlainLine::NvshmemTransport},
    Row{"mem registration failed", PlainLine::NvshmemMemory},
    Row{"transport get memhandle failed", PlainLine::NvshmemMemory},
    Row{"nvshmem", PlainLine::NvshmemFailed, "non-zero status"},
    Row{"nvshmem initialization failed", PlainLine::NvshmemFailed},
    Row{"GDRCopy open call failed", PlainLine::GdrCopyMissing},
    Row{"requires GDRCopy", PlainLine::GdrCopyMissing},
    Row{"is not divisible by", PlainLine::WorldDoesNotFit, "orld"},
    Row{"by subset of ranks", PlainLine::SubsetWaits, "submitted"},
    Row{"your machine only has", PlainLine::NoSuchGpu},
    Row{"You requested gpu", PlainLine::NoSuchGpu},
    Row{"invalid kernel file", PlainLine::ArchUnsupported},
    Row{"device kernel image is invalid", PlainLine::ArchUnsupported},
    Row{"data type is not supported for NCCL", PlainLine::WrongTensor},
    Row{"Unconvertible NCCL type", PlainLine::WrongTensor},
    Row{"RCCL", PlainLine::AmdWord},
    Row{"librccl", PlainLine::AmdWord},
    Row{"/rccl/", PlainLine::AmdWord},
    Row{"HIP error", PlainLine::AmdWord},
    Row{"HIP failure", PlainLine::AmdWord},
    Row{"hipError", PlainLine::AmdWord},
    Row{"hipIpc", PlainLine::AmdWord},
    Row{"HSA_STATUS_ERROR", PlainLine::AmdWord},
    Row{"Memory access fault by GPU", PlainLine::AmdWord},
    Row{"AMD Instinct", PlainLine::AmdWord},
    Row{"platform rocm", PlainLine::AmdWord},
    Row{"imex", PlainLine::ImexMissing, "ail"},
    Row{"IMEX", PlainLine::ImexMissing, "ail"},
};

const Needles& needles() {
  static const Needles kNeedles = [] {
    std::array<std::string_view, kRows.size()> texts;
    for (std::size_t i = 0; i < kRows.size(); ++i) texts[i] = kRows[i].needle;
    return Needles(texts);
  }();
  return kNeedles;
}

}  // namespace

PlainSet plain_set(std::initializer_list<PlainLine> lines) {
  PlainSet set;
  for (const PlainLine line : lines) set.set(static_cast<std::size_t>(line));
  return set;
}

const PlainSet& words_of_anybody() {
  static const PlainSet kWords =
      plain_set({PlainLine::Crash, PlainLine::BusError, PlainLine::Occupied, PlainLine::GpuName,
                 PlainLine::NameWithoutAddress, PlainLine::LastError, PlainLine::WorldSize,
                 PlainLine::IommuFault, PlainLine::StackWord, PlainLine::WorldDoesNotFit});
  return kWords;
}

PlainSet plain_lines_of(std::string_view line) {
  static const Needles& known = needles();
  PlainSet lines;
  known.each_in(line, [&](std::size_t i) {
    const Row& row = kRows[i];
    if (!row.and_also.empty() && line.find(row.and_also) == std::string_view::npos) return;
    lines.set(static_cast<std::size_t>(row.line));
  });
  return lines;
}

}  // namespace ringside::audit
