#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/fd.h"
#include "base/result.h"
#include "engine/cuda/device/gpu_direct.h"
#include "engine/runtime/bootstrap/process_identity.h"

/// How ranks of one host access memory of each other's GPUs: the properties that they exchange, and the handles that
/// they send.
namespace ringside {

/// Identifies a GPU independently of a process's numbering: CUDA's UUID. 0: no other process can open its memory.
using DeviceId = std::array<std::byte, 16>;

/// How a rank opens memory of another rank's GPU.
enum class MemoryAccess : std::uint8_t {
  None,     ///< not at all
  Address,  ///< by its address: the ranks are threads of one process
  Ipc,      ///< by a handle of CUDA IPC
  File,     ///< by an open file: cuMem's
};

/// The properties of a rank's GPU, which it sends to the other ranks.
struct DevicePlace {
  DeviceId id{};
  ProcessIdentity process{};
  bool shares_by_ipc = false;   ///< with other processes
  bool shares_by_file = false;  ///< likewise
  bool has_multicast = false;   ///< a switch may combine it with others' memory: DeviceMulticast
};

/// The user's settings for access to memory of other ranks' GPUs; equal on all ranks.
struct MemorySettings {
  bool may_open = true;  ///< false: no rank opens another rank's memory, not even within a process
  /// How processes open each other's memory: true by files (cuMem), false by CUDA IPC; nullopt: by files if every rank
  /// supports it.
  std::optional<bool> by_file = {};
  bool by_switch = true;  ///< whether a switch may combine the GPUs' memory (DeviceMulticast)
  GpuDirectSettings direct = {};  ///< how network adapters access this rank's memory
};

/// Applies the user's settings to the properties of a rank's GPU, so that all ranks make the same choices.
/// errors  Unsupported: by_file is true, and the GPU does not share memory by files
Result<DevicePlace> with_settings(DevicePlace place, const MemorySettings& settings);

/// Returns how every process opens other processes' memory, Ipc or File, from the exchanged properties of all ranks.
/// source  NCCL: cuMem if every rank supports it
MemoryAccess access_between_processes(std::span<const DevicePlace> places);

/// Returns whether one rank can open memory of another rank's GPU.
/// shape  mine's kernels can access that GPU: DeviceMemory::reaches()
/// between_processes  the result of access_between_processes() for all ranks
bool can_open(const DevicePlace& mine, const DevicePlace& other, MemoryAccess between_processes);

/// The handle with which a rank opens memory of another rank's GPU. Plain bytes, except for a file that is sent with
/// them.
struct DeviceHandle {
  MemoryAccess access = MemoryAccess::None;
  bool is_paged = false;  ///< whether cuMem allocated the memory
  /// Whether find_memory() (process_memory.h) finds the memory, and so can keep it allocated
  bool is_held = false;
  ProcessIdentity process{};
  DeviceId device{};
  std::uint64_t address = 0;  ///< start of the allocation, in that process
  std::uint64_t size = 0;     ///< size of the allocation
  std::uint64_t offset = 0;   ///< offset of the shared part
  std::array<std::byte, 64> ipc{};
};

/// Memory that one process offers to another.
struct DeviceShare {
  DeviceHandle handle;
  UniqueFd file;  ///< only with MemoryAccess::File
};

}  // namespace ringside
