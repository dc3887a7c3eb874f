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

/// How ranks of one host get at memory of each other's GPUs: what they say of theirs, and what crosses.
namespace ringside {

/// Which GPU, whatever a process numbers it: CUDA's UUID. 0: one whose memory no other process can open.
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
  bool has_multicast = false;   ///< a switch may join it with others': DeviceMulticast
};

/// How the ranks of a communicator may get at memory of each other's GPUs: of all of them alike.
struct MemorySettings {
  bool may_open = true;  ///< false: not at all, in one process neither
  /// Whether between processes it is by files (cuMem) or by CUDA IPC. None: by files where all ranks can.
  std::optional<bool> by_file = {};
  bool by_switch = true;          ///< whether a switch may join them
  GpuDirectSettings direct = {};  ///< how network adapters get at this rank's
};

/// What a rank reports of its GPU, with the user's settings applied, so that all choose alike.
/// errors  Unsupported: it does not share memory as it has to
Result<DevicePlace> with_settings(DevicePlace place, const MemorySettings& settings);

/// The one way between all processes, Ipc or File, on which ranks agree that have exchanged their places.
/// source  NCCL: cuMem where every rank has it
MemoryWay way_between_processes(std::span<const DevicePlace> places);

/// Whether one rank opens memory of another's GPU that its kernels reach.
/// between_processes  the way of all
bool can_open(const DevicePlace& mine, const DevicePlace& other, MemoryWay between_processes);

/// What one rank opens memory of another's GPU by. Plain bytes, but for a file that is sent with them.
struct DeviceHandle {
  MemoryWay way = MemoryWay::None;
  bool is_paged = false;  ///< the memory is cuMem's
  bool is_held = false;   ///< it stays while find_memory()'s answer does (process_memory.h)
  ProcessIdentity process{};
  DeviceId device{};
  std::uint64_t address = 0;  ///< where the allocation begins, in that process
  std::uint64_t size = 0;     ///< of the allocation
  std::uint64_t offset = 0;   ///< of what is shared, from there
  std::array<std::byte, 64> ipc{};
};

struct DeviceShare {
  DeviceHandle handle;
  UniqueFd file;  ///< where the way is File
};

}  // namespace ringside
