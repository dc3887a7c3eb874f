#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "diag/audit/evidence.h"
#include "diag/logparse/record.h"

namespace ringside::audit {

/// Lines of programs other than NCCL that tell something to a rule, by words that stand in them.
enum class PlainLine : std::uint8_t {
  Crash,                ///< a process died of a signal of its own
  CrashFrameOfPlugin,   ///< a frame of a network plugin or its library in a stack
  PmixNoise,            ///< PMIx complains of a lock
  RecorderMismatch,     ///< the flight recorder's analyser names culprits
  FingerprintMismatch,  ///< TORCH_DISTRIBUTED_DEBUG=DETAIL
  DeviceAssert,         ///< device-side assert
  OutOfGpuMemory,       ///< CUDA out of memory
  ShmOfLoader,          ///< a data loader's bus error for want of shared memory
  UniqueIdTimeout,      ///< the unique id did not come through the store
  SystemError,          ///< "unhandled system error", without more
  Progress,             ///< a progress bar
  LoopbackMesh,         ///< Gloo meets itself on the loopback address
  RecorderAbsent,       ///< the flight recorder's analyser: ranks that did not join
  RecorderLost,         ///< and ranks without a dump
  CudaCallFailed,       ///< "unhandled cuda error", without more
  RemoteFailed,         ///< "remote process exited or there was a network error", without more
  OtherNcclError,       ///< invalid usage and internal errors, without more
  GpuName,              ///< lists of GPUs by product, as nvidia-smi -L prints them
  BusError,             ///< a process died of SIGBUS
  IommuFault,           ///< the kernel: a device's access was refused by the IOMMU
  NoVerbsDriver,        ///< libibverbs knows a device's driver in the kernel only
  Saving,               ///< a checkpoint is being written
  Saved,                ///< and has been written
  NameWithoutAddress,   ///< a host name that nothing resolves
  BusyStack,  ///< py-spy's stack of a thread that writes a checkpoint or waits for its data
  Count
};

inline constexpr std::size_t kPlainLines = static_cast<std::size_t>(PlainLine::Count);

/// Which of them a line is; bit PlainLine.
std::uint32_t plain_lines_of(std::string_view line);

/// A line that is kept whole.
struct KeptLine {
  QuotedLine quoted;
  std::int32_t launcher_rank = -1;
  std::string whole = {};  ///< of a fingerprint: the line, which says at its end what differs
};

struct PlainLines {
  Evidence evidence = {};
  std::vector<KeptLine> kept = {};  ///< the first 1,000
};

using AllPlainLines = std::array<PlainLines, kPlainLines>;

}  // namespace ringside::audit
