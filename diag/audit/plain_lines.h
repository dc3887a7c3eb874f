#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "diag/audit/evidence.h"
#include "diag/logparse/record.h"

namespace ringside::audit {

/// Lines of programs other than NCCL that tell something to a rule, by words that stand in them.
enum class PlainLine : std::uint8_t {
  Crash,               ///< a process died of a signal of its own
  CrashFrameOfPlugin,  ///< a frame of a network plugin or its library in a stack
  PmixNoise,           ///< PMIx complains of a lock
  DeviceAssert,        ///< device-side assert
  OutOfGpuMemory,      ///< CUDA out of memory
  ShmOfLoader,         ///< a data loader's bus error for want of shared memory
  UniqueIdTimeout,     ///< the unique id did not come through the store
  SystemError,         ///< "unhandled system error", without more
  Occupied,  ///< what job::occupation_in() reads: a checkpoint, a progress bar, a stack among files
  LoopbackMesh,        ///< Gloo meets itself on the loopback address
  RecorderLost,        ///< and ranks without a dump
  CudaCallFailed,      ///< "unhandled cuda error", without more
  RemoteFailed,        ///< "remote process exited or there was a network error", without more
  OtherNcclError,      ///< invalid usage and internal errors, without more
  GpuName,             ///< lists of GPUs by product, as nvidia-smi -L prints them
  BusError,            ///< a process died of SIGBUS
  IommuFault,          ///< the kernel: a device's access was refused by the IOMMU
  NoVerbsDriver,       ///< libibverbs knows a device's driver in the kernel only
  LastError,           ///< what follows `Last error:`: NCCL's last warning
  NameWithoutAddress,  ///< a host name that nothing resolves
  WorldSize,           ///< a program says how many ranks there are
  StackWord,  ///< a word of the communication stack: worth a second look where nothing reads the line
  // Reasons, each of which says by itself what is wrong: rules/reasons.cpp has what follows from them.
  GdrCopyMissing,        ///< GDRCopy's device cannot be opened
  VerbsProviderMissing,  ///< libibverbs does not find its providers
  TunerConfigMissing,    ///< a tuner plugin without its configuration
  RailsDiffer,           ///< ends with different numbers of rails
  EfaUnresponsive,       ///< an EFA peer does not answer
  AddressVector,         ///< libfabric takes a peer's address not
  FabricManagerDown,     ///< CUDA waits for the NVSwitch fabric: error 802
  ArchUnsupported,       ///< no code for this GPU
  NoSuchGpu,             ///< a device number beyond the GPUs that are there
  GpuHardware,           ///< ECC, NVLink
  PeerGpuHidden,         ///< a process does not see its peer's GPU
  HipIpcFailed,          ///< memory handles of HIP
  GlooNoInterface,       ///< GLOO_SOCKET_IFNAME names nothing
  CudaForked,            ///< a child of fork() uses CUDA that its parent has initialised
  CudaDriverOld,         ///< PyTorch refuses the driver
  NoLibuv,               ///< a store is asked for that this PyTorch does not have
  NcclSymbolMissing,     ///< another library than the one that the program was built for
  NcclNotBuilt,          ///< a PyTorch without NCCL
  NvlsUnavailable,       ///< multicast memory cannot be had
  ImexMissing,           ///< NVLink between hosts without its service
  ServerStalled,         ///< a server's engine gave up on its workers
  LauncherSignalled,     ///< a launcher was ended by a signal from outside
  WrongTensor,           ///< a tensor that the group's backend cannot take
  GroupNotMade,          ///< a process group is used before it is made, or made twice
  PortIsDown,            ///< ibstat, ibv_devinfo: a port without a link
  GpuIsLost,             ///< nvidia-smi does not reach a GPU any more
  GpuPageFault,          ///< ROCm: a kernel touched memory that is not mapped
  DriverMismatch,    ///< libcuda, NVML and the kernel's driver are of different versions: error 803
  ForwardCompat,     ///< the compatibility package on GPUs that it does not serve: error 804
  ForkUnsafe,        ///< libfabric's EFA provider ends the job at a fork()
  OneCclDevices,     ///< oneCCL cannot open the devices of the GPUs
  OneCclTransport,   ///< oneCCL cannot start MPI or libfabric
  OneCclFailed,      ///< another exception of oneCCL's
  NvshmemTransport,  ///< NVSHMEM's remote transport does not start or connect
  NvshmemMemory,     ///< NVSHMEM cannot register the memory of a GPU
  NvshmemFailed,     ///< another failure of NVSHMEM's start
  WorldDoesNotFit,   ///< the number of ranks is not what the groups of a framework need
  SubsetWaits,       ///< Horovod: some ranks have not submitted a tensor
  NoGpuAtAll,        ///< no driver, or no GPU that it shows
  GpuQueueAborted,   ///< ROCm gives up a queue for another reason
  ReduceOfServer,    ///< vLLM's and SGLang's own all-reduce cannot use its peers' memory
  ThreadsRefused,    ///< no thread or process more
  SshRefused,        ///< a launcher does not get into a host
  AmdWord,           ///< a word of ROCm's: tells whose GPUs these are, and no reason
  Count
};

/// The first of those that are reasons.
inline constexpr PlainLine kFirstReason = PlainLine::GdrCopyMissing;

inline constexpr std::size_t kPlainLines = static_cast<std::size_t>(PlainLine::Count);

/// Bit PlainLine.
using PlainSet = std::bitset<kPlainLines>;

PlainSet plain_set(std::initializer_list<PlainLine> lines);

inline bool has_line(const PlainSet& set, PlainLine line) {
  return set[static_cast<std::size_t>(line)];
}

/// Words that any program's lines have, so that they say nothing of whose they are.
const PlainSet& words_of_anybody();

/// Which of them a line is.
PlainSet plain_lines_of(std::string_view line);

/// A line that is kept whole.
struct KeptLine {
  QuotedLine quoted;
  std::int32_t launcher_rank = -1;
};

struct PlainLines {
  Evidence evidence = {};
  std::vector<KeptLine> kept = {};  ///< the first 1,000
};

/// Lines that are the stack's own by their prefix or by their words, and that nothing has read.
struct UnreadLines {
  Evidence lines = {};     ///< all of them
  Evidence warnings = {};  ///< those behind `NCCL WARN`
  Evidence texts = {};     ///< those without a prefix, which tell of trouble
};

using AllPlainLines = std::array<PlainLines, kPlainLines>;

}  // namespace ringside::audit
