#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/env.h"
#include "base/fd.h"
#include "base/result.h"
#include "engine/topology/path_type.h"
#include "engine/transport/shm/shared_memory.h"

/// Decides whether network adapters read and write the memory of a GPU directly (GPUDirect RDMA), so that messages of
/// its kernels need no copy in host memory.
namespace ringside {

/// The user's settings, from NCCL's variables.
struct GpuDirectSettings {
  PathType level = PathType::Pxb;  ///< NCCL_NET_GDR_LEVEL: the largest distance of an adapter
  std::optional<bool> reads = {};  ///< NCCL_NET_GDR_READ: also to send; nullopt: may_lend()
  bool uses_dmabuf = true;         ///< NCCL_DMABUF_ENABLE
};
/// Reads the settings.
/// errors  InvalidArgument: a variable's value is invalid
Result<GpuDirectSettings> gpu_direct_settings(const Environment& environment = env_text);

/// The access to GPU memory that a GPU and its driver permit adapters.
struct AdapterAccess {
  /// How data that an adapter has written becomes visible to kernels that are notified afterwards.
  enum class Flush {
    Needless,  ///< the GPU keeps the order
    ByHost,    ///< DeviceMemory::flush_arrived()
    None,
  };
  bool is_there = false;
  std::string place = {};      ///< on PCI: "0000:18:00.0"
  int compute_capability = 0;  ///< 80: sm_80
  Flush flush = Flush::None;
  bool has_nvlink_peer = false;  ///< NVLink connects it with another GPU in sight
  bool is_only_gpu = false;      ///< this process sees no other
};

/// Returns whether slots of a receiving, or of a sending, end may lie in the GPU's memory.
///
/// Unless the user sets it, slots of a sending end lie there from sm_80 on, and on an older GPU that NVLink connects with
/// another one or that is the only one. NCCL counts the job's GPUs of the host, this those that the process sees.
/// errors  Unsupported: why not
Status may_lend(const GpuDirectSettings& settings, const AdapterAccess& access, bool receives);

/// Returns the distance from a GPU to an adapter: Pix, Pxb, Phb or Sys; Sys if the kernel lists no bus for either.
/// root  "/sys", or a test's folder
/// gpu   as the kernel writes it: "0000:18:00.0"
/// card  the adapter, without the function: "0000:3b:00"
PathType pci_distance(const std::string& root, const std::string& gpu, const std::string& card);

/// GPU memory that may be registered with adapters.
struct AdapterMemory {
  std::byte* data = nullptr;  ///< owned by the allocator, which outlives this object
  std::size_t size = 0;
  UniqueFd dmabuf = {};     ///< empty: the driver exports none
  bool is_of_host = false;  ///< whether processors can read it too
};

/// Makes the region by which transports know the memory.
std::shared_ptr<const SharedRegion> adapter_region(AdapterMemory memory,
                                                   const GpuDirectSettings& settings,
                                                   const AdapterAccess& access);

}  // namespace ringside
