#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/tuning/model.h"
#include "sim/surroundings.h"

namespace ringside {

/// What joins the GPUs of a host.
enum class GpuLink : std::uint8_t {
  NvSwitch,
  NvLink,  ///< bridges or a mesh
  Pcie,
  C2c,   ///< of Grace: a GPU has a coherent link to its CPU
  Alone  ///< one GPU a host
};
inline constexpr std::size_t kGpuLinks = 5;

/// In lower case: nvswitch, nvlink, pcie, c2c, alone.
const char* to_string(GpuLink link);

/// What systems must share for the measurements of one to predict the other: where a system is predicted from others, its
/// whole group is excluded.
struct SystemGroup {
  GpuClass gpu = GpuClass::Volta;
  GpuLink link = GpuLink::NvSwitch;
  std::optional<NetKind> net = {};  ///< none: one node
  friend auto operator<=>(const SystemGroup&, const SystemGroup&) = default;
};

/// "hopper nvswitch ib", "ampere pcie"
std::string to_string(const SystemGroup& group);

SystemGroup group_of(const Job& job, const Surroundings& surroundings);

}  // namespace ringside
