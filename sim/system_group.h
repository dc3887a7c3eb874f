#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/tuning/model.h"
#include "sim/surroundings.h"

namespace ringside {

/// The link between the GPUs of a host.
enum class GpuLink : std::uint8_t {
  NvSwitch,
  NvLink,  ///< bridges or a mesh
  Pcie,
  C2c,   ///< Grace: each GPU has a coherent link to its CPU
  Alone  ///< one GPU a host
};
inline constexpr std::size_t kGpuLinks = 5;

/// Returns the lower-case name: nvswitch, nvlink, pcie, c2c, alone.
const char* to_string(GpuLink link);

/// A group of systems that predict each other's measurements. A system is validated with constants
/// that were fitted without its group.
struct SystemGroup {
  GpuClass gpu = GpuClass::Volta;
  GpuLink link = GpuLink::NvSwitch;
  std::optional<NetKind> net = {};  ///< none: one node
  friend auto operator<=>(const SystemGroup&, const SystemGroup&) = default;
};

/// Returns a text such as "hopper nvswitch ib" or "ampere pcie".
std::string to_string(const SystemGroup& group);

SystemGroup group_of(const Job& job, const Surroundings& surroundings);

}  // namespace ringside
