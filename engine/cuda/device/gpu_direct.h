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

/// Whether network adapters read and write the memory of a GPU itself (GPUDirect RDMA), so that messages of its kernels
/// take no way through the host's.
namespace ringside {

/// How it is wanted: NCCL's variables.
struct GpuDirectSettings {
  PathType level = PathType::Pxb;  ///< NCCL_NET_GDR_LEVEL: adapters no further than that
  std::optional<bool> reads =
      {};                   ///< NCCL_NET_GDR_READ: for what is sent, too; nothing: from sm_80 on
  bool uses_dmabuf = true;  ///< NCCL_DMABUF_ENABLE
};
/// errors  InvalidArgument: a variable
Result<GpuDirectSettings> gpu_direct_settings(const Environment& environment = env_text);

/// What a GPU and its driver let adapters do.
struct AdapterAccess {
  /// How data that an adapter has written become visible to kernels that are notified afterwards.
  enum class Flush {
    Needless,  ///< the GPU keeps the order
    ByHost,    ///< DeviceMemory::flush_arrived()
    None,
  };
  bool is_there = false;
  std::string place = {};      ///< on PCI: "0000:18:00.0"
  int compute_capability = 0;  ///< 80: sm_80
  Flush flush = Flush::None;
};

/// Whether slots of a receiving, or of a sending, end may lie in the GPU's memory.
/// errors  Unsupported: why not
Status may_lend(const GpuDirectSettings& settings, const AdapterAccess& access, bool receives);

/// From a GPU to an adapter: Pix, Pxb, Phb or Sys; Sys where either is on no bus that the kernel shows.
/// root    "/sys"
/// places  as the kernel names them: "0000:18:00.0"; of an adapter without the function: "0000:3b:00"
PathType pci_distance(const std::string& root, const std::string& gpu, const std::string& card);

/// Memory of a GPU that may be registered with adapters.
struct AdapterMemory {
  std::byte* data = nullptr;  ///< the owner's, which outlives what is made of it
  std::size_t size = 0;
  UniqueFd dmabuf = {};     ///< none: its driver exports none
  bool is_of_host = false;  ///< processors read it as well
};
/// What transports know it by.
std::shared_ptr<const SharedRegion> adapter_region(AdapterMemory memory,
                                                   const GpuDirectSettings& settings,
                                                   const AdapterAccess& access);

}  // namespace ringside
