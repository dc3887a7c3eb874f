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

/// The types of lines that audit recognises by words in them: lines of programs other than NCCL that a rule reads
/// (reasons/words.def), and lines that state a failure directly (reasons/all.def).
enum class PlainLine : std::uint16_t {
  Crash,               ///< a process died of a signal of its own
  CrashFrameOfPlugin,  ///< a frame of a network plugin or its library in a stack
  DeviceAssert,        ///< device-side assert
  OutOfGpuMemory,      ///< CUDA out of memory
  ShmOfLoader,         ///< a data loader's bus error because shared memory is full
  UniqueIdTimeout,     ///< the unique id did not come through the store
  SystemError,         ///< "unhandled system error" without details
  Occupied,  ///< read by job::occupation_in(): a checkpoint, a progress bar, a stack in file I/O
  LoopbackMesh,        ///< Gloo connects to itself on the loopback address
  CudaCallFailed,      ///< "unhandled cuda error" without details
  RemoteFailed,        ///< "remote process exited or there was a network error" without details
  OtherNcclError,      ///< invalid usage and internal errors without details
  GpuName,             ///< a GPU in the output of nvidia-smi -L
  BusError,            ///< a process died of SIGBUS
  IommuFault,          ///< the kernel: a device's access was refused by the IOMMU
  NoVerbsDriver,       ///< libibverbs has no user-space driver for a device
  LastError,           ///< the line after `Last error:`: NCCL's last warning
  NameWithoutAddress,  ///< a host name that does not resolve
  WorldSize,           ///< a program states the number of ranks
  StackWord,   ///< mentions the communication stack; counts as unread if no rule reads the line
  ToolLine,    ///< a prompt, or a line of a tool's output that capability_lines.h reads
  Harmless,    ///< looks alarming, but healthy programs print it
  JobWord,     ///< mentions a program that only multi-process jobs run
  JaxTask,     ///< a task of a JAX job, named by the previous line
  RayRelease,  ///< the release of Ray on a node
  AmdWord,     ///< mentions ROCm, which shows the GPUs' vendor
#define RINGSIDE_REASON(name, id, severity, title, cause, fix) name,
#include "diag/audit/reasons/all.def"
  Count
};

/// The first PlainLine that is a reason.
inline constexpr std::size_t kFirstReason = static_cast<std::size_t>(PlainLine::AmdWord) + 1;

inline constexpr std::size_t kPlainLines = static_cast<std::size_t>(PlainLine::Count);

/// A set of PlainLines.
using PlainSet = std::bitset<kPlainLines>;

/// Returns the set of these lines.
PlainSet plain_set(std::initializer_list<PlainLine> lines);

inline bool has_line(const PlainSet& set, PlainLine line) {
  return set[static_cast<std::size_t>(line)];
}

/// Returns the types of lines that any program may print, so that they are not evidence of a multi-process job.
const PlainSet& words_of_anybody();

/// Returns all types that match a line.
PlainSet plain_lines_of(std::string_view line);

/// A copy of a line.
struct KeptLine {
  QuotedLine quoted;
  std::int32_t launcher_rank = -1;
};

/// The lines of one type.
struct PlainLines {
  Evidence evidence = {};
  std::vector<KeptLine> kept = {};  ///< the first 1,000
};

/// Lines of the communication stack, by prefix or words, that no rule reads.
struct UnreadLines {
  Evidence lines = {};     ///< all unread lines
  Evidence warnings = {};  ///< unread lines with `NCCL WARN`
  Evidence texts = {};     ///< unread lines without a prefix that report a problem
};

using AllPlainLines = std::array<PlainLines, kPlainLines>;

}  // namespace ringside::audit
