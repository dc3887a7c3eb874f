#include "engine/cuda/device/gpu_direct.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/topology/parameters.h"

namespace ringside {
namespace {

/// From this compute capability on, adapters read a GPU's memory whatever connects it with other GPUs.
/// source  NCCL 2.30.7 graph/paths.cc: ncclTopoCheckGdr
constexpr int kReadFrom = 80;

/// Returns the kernel's folder of a device on PCI. One without a function is the function 0.
std::filesystem::path folder_of(const std::string& root, const std::string& place) {
  const bool has_function = place.find('.') != std::string::npos;
  return std::filesystem::path(root) / "bus/pci/devices" / (has_function ? place : place + ".0");
}

/// Returns the bridges and the device, from the root of the bus on; empty if the kernel does not list them.
std::vector<std::string> pci_path(const std::string& root, const std::string& place) {
  namespace fs = std::filesystem;
  std::error_code missing;
  const fs::path real = fs::canonical(folder_of(root, place), missing);
  std::vector<std::string> parts;
  if (missing) return parts;
  for (const fs::path& part : real) {
    if (!parts.empty() || part.string().starts_with("pci")) parts.push_back(part);
  }
  return parts;
}

/// Returns the device's NUMA node; -1: the kernel lists none.
int numa_of(const std::string& root, const std::string& place) {
  std::ifstream file(folder_of(root, place) / "numa_node");
  int node = -1;
  file >> node;
  return file ? node : -1;
}

class AdapterRegion final : public SharedRegion {
 public:
  AdapterRegion(AdapterMemory memory, const GpuDirectSettings& settings, std::string place)
      : memory_(std::move(memory)), settings_(settings), place_(std::move(place)) {}

  [[nodiscard]] std::uint64_t id() const override { return id_; }
  [[nodiscard]] int fd() const override { return memory_.dmabuf ? memory_.dmabuf.get() : -1; }
  [[nodiscard]] std::byte* data() const override { return memory_.data; }
  [[nodiscard]] std::size_t size() const override { return memory_.size; }
  [[nodiscard]] bool is_device() const override { return !memory_.is_of_host; }
  [[nodiscard]] Status suits(std::string_view card) const override {
    const PathType distance = pci_distance("/sys", place_, std::string(card));
    if (distance <= settings_.level) return {};
    return Error{ErrorCode::Unsupported,
                 fmt::format("the path from GPU {} to {} is {}; GPUDirect is used up to {}", place_,
                             card, to_string(distance), to_string(settings_.level)),
                 "raise NCCL_NET_GDR_LEVEL, or use an adapter next to the GPU"};
  }

 private:
  const std::uint64_t id_ = fresh_region_id();
  AdapterMemory memory_;
  GpuDirectSettings settings_;
  std::string place_;
};

}  // namespace

Result<GpuDirectSettings> gpu_direct_settings(const Environment& environment) {
  RINGSIDE_TRY(const TopologyParameters topology, parse_topology_parameters(environment));
  RINGSIDE_TRY(const std::optional<std::int64_t> dmabuf,
               env_int(environment, "NCCL_DMABUF_ENABLE", 0, 1));
  return GpuDirectSettings{.level = topology.gdr_level.value_or(PathType::Pxb),
                           .reads = topology.gdr_read,
                           .uses_dmabuf = dmabuf.value_or(1) != 0};
}

Status may_lend(const GpuDirectSettings& settings, const AdapterAccess& access, bool receives) {
  const auto no = [](std::string why, std::string fix) {
    return Error{ErrorCode::Unsupported, std::move(why), std::move(fix)};
  };
  if (settings.level == PathType::Loc) {
    return no("NCCL_NET_GDR_LEVEL turns it off", "set NCCL_NET_GDR_LEVEL=PXB, or unset it");
  }
  if (!access.is_there) {
    return no("the GPU's driver lets no adapter reach its memory",
              "load nvidia_peermem, or use a driver that exports dma-bufs");
  }
  if (receives) {
    if (access.flush != AdapterAccess::Flush::None) return {};
    return no("nothing makes kernels see what an adapter has written",
              "use a driver that offers cudaDeviceFlushGPUDirectRDMAWrites");
  }
  if (settings.reads == false) {
    return no("NCCL_NET_GDR_READ turns it off for what is sent", "set NCCL_NET_GDR_READ=1");
  }
  const bool reads = settings.reads.value_or(access.compute_capability >= kReadFrom ||
                                             access.has_nvlink_peer || access.is_only_gpu);
  if (reads) return {};
  return no("a GPU before sm_80 without NVLink, next to others, is not read unless requested",
            "set NCCL_NET_GDR_READ=1");
}

PathType pci_distance(const std::string& root, const std::string& gpu, const std::string& card) {
  const std::vector<std::string> from = pci_path(root, gpu);
  const std::vector<std::string> to = pci_path(root, card);
  const auto shared = static_cast<std::size_t>(std::ranges::mismatch(from, to).in1 - from.begin());
  if (from.empty() || to.empty()) return PathType::Sys;
  if (shared == 0) {
    const int numa = numa_of(root, gpu);
    return numa >= 0 && numa == numa_of(root, card) ? PathType::Phb : PathType::Sys;
  }
  // If only the root complex is shared, the path goes through the CPU. If more is shared, the two devices are behind
  // one port of it, and so behind a switch: one bridge up and one down to each device.
  // source  NCCL 2.30.7 graph/xml.cc: ncclTopoGetXmlFromSys counts these two levels as one
  if (shared == 1) return PathType::Phb;
  const std::size_t longest = std::max(from.size(), to.size()) - shared;
  return longest <= 2 ? PathType::Pix : PathType::Pxb;
}

std::shared_ptr<const SharedRegion> adapter_region(AdapterMemory memory,
                                                   const GpuDirectSettings& settings,
                                                   const AdapterAccess& access) {
  if (!settings.uses_dmabuf) memory.dmabuf = {};
  return std::make_shared<const AdapterRegion>(std::move(memory), settings, access.place);
}

}  // namespace ringside
