#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/fd.h"
#include "engine/runtime/process_identity.h"

/// How ranks of one host get at memory of each other's GPUs: what they say of theirs, and what crosses.
namespace ringside {

/// Which GPU, whatever a process numbers it: CUDA's UUID. 0: one whose memory nobody else can open.
using DeviceId = std::array<std::byte, 16>;

/// How memory of one rank's GPU is opened by another rank.
enum class MemoryWay : std::uint8_t {
  None,     ///< not at all
  Address,  ///< by its address: the ranks are threads of one process
  Ipc,      ///< by a handle of CUDA IPC
  File,     ///< by an open file: cuMem's
};

/// What a rank says of its GPU, and goes by when it looks at the others'.
struct DevicePlace {
  DeviceId id{};
  ProcessIdentity process{};
  bool shares_by_ipc = false;   ///< with other processes
  bool shares_by_file = false;  ///< likewise
};

/// What one rank opens memory of another's GPU by. Plain bytes, but for a file that goes beside them.
struct DeviceHandle {
  MemoryWay way = MemoryWay::None;
  bool is_paged = false;  ///< the memory is cuMem's
  ProcessIdentity process{};
  DeviceId device{};
  std::uint64_t address = 0;  ///< where the memory begins, in that process
  std::uint64_t size = 0;     ///< 0: not known, nor asked for
  std::uint64_t offset = 0;   ///< from there
  std::array<std::byte, 64> ipc{};
};

struct DeviceShare {
  DeviceHandle handle;
  UniqueFd file;  ///< where the way is File
};

}  // namespace ringside
