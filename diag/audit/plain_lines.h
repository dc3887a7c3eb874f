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

/// Lines of programs other than NCCL that a rule reads, by words in them (reasons/words.def), and lines that state a
/// failure by themselves (reasons/all.def).
enum class PlainLine : std::uint16_t {
  Crash,               ///< a process died of a signal of its own
  CrashFrameOfPlugin,  ///< a frame of a network plugin or its library in a stack
  DeviceAssert,        ///< device-side assert
  OutOfGpuMemory,      ///< CUDA out of memory
  ShmOfLoader,         ///< a data loader's bus error because shared memory is full
  UniqueIdTimeout,     ///< the unique id did not come through the store
  SystemError,         ///< "unhandled system error", without more
  Occupied,  ///< read by job::occupation_in(): a checkpoint, a progress bar, a stack in file I/O
  LoopbackMesh,        ///< Gloo connects to itself on the loopback address
  CudaCallFailed,      ///< "unhandled cuda error", without more
  RemoteFailed,        ///< "remote process exited or there was a network error", without more
  OtherNcclError,      ///< invalid usage and internal errors, without more
  GpuName,             ///< lists of GPUs by product, as nvidia-smi -L prints them
  BusError,            ///< a process died of SIGBUS
  IommuFault,          ///< the kernel: a device's access was refused by the IOMMU
  NoVerbsDriver,       ///< libibverbs knows a device's driver in the kernel only
  LastError,           ///< what follows `Last error:`: NCCL's last warning
  NameWithoutAddress,  ///< a host name that does not resolve
  WorldSize,           ///< a program states how many ranks there are
  StackWord,   ///< a word of the communication stack: checked again if no rule reads the line
  ToolLine,    ///< a prompt, or a line of a tool's output that capability_lines.h reads
  Harmless,    ///< looks alarming, but healthy programs print it
  JobWord,     ///< a word of a program that only jobs of several processes run
  JaxTask,     ///< a task of a JAX job, named by the previous line
  RayRelease,  ///< which release of Ray a node has
  AmdWord,     ///< a word of ROCm: shows the GPUs' vendor, not a failure
#define RINGSIDE_REASON(name, id, severity, title, cause, fix) name,
#include "diag/audit/reasons/all.def"
  Count
};

/// The first PlainLine that is a reason.
inline constexpr std::size_t kFirstReason = static_cast<std::size_t>(PlainLine::AmdWord) + 1;

inline constexpr std::size_t kPlainLines = static_cast<std::size_t>(PlainLine::Count);

/// Bit PlainLine.
using PlainSet = std::bitset<kPlainLines>;

PlainSet plain_set(std::initializer_list<PlainLine> lines);

inline bool has_line(const PlainSet& set, PlainLine line) {
  return set[static_cast<std::size_t>(line)];
}

/// Words that occur in any program's lines, so that they do not identify the program.
const PlainSet& words_of_anybody();

/// The PlainLines that match a line.
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

/// Lines of the stack, by their prefix or by their words, that no rule has read.
struct UnreadLines {
  Evidence lines = {};     ///< all of them
  Evidence warnings = {};  ///< those after `NCCL WARN`
  Evidence texts = {};     ///< those without a prefix that report trouble
};

using AllPlainLines = std::array<PlainLines, kPlainLines>;

}  // namespace ringside::audit
