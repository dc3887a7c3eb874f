#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ringside {

/// The properties of a GPU that follow from its PCI device id.
struct GpuModel {
  std::uint16_t first_id, last_id;
  int sm;    ///< compute capability, 10 x major + minor
  bool gdr;  ///< the driver lets NICs reach its memory
  std::string_view name;
};

/// source  the PCI id database (pci-ids.ucw.cz), vendor 10de; NVIDIA's table of compute capabilities
/// returns nothing for an id that is in none of the ranges
std::optional<GpuModel> gpu_model(std::uint16_t device_id);

/// Returns the memory of a GPU, or 0 if it is unknown.
/// source  NVIDIA's data sheets
/// unit    GB, 10^9 bytes
int gpu_memory_gb(std::uint16_t device_id);

/// Returns the highest rate of a port of an RDMA NIC, for descriptions that have only its PCI ids.
/// source  as above, vendors 15b3 and 1d0f
/// unit    Mbit/s; 0: not known
int nic_mbits_per_second(std::uint16_t vendor_id, std::uint16_t device_id);

}  // namespace ringside
