#include "engine/topology/paths/link_speeds.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "engine/topology/paths/build_system.h"

namespace ringside {
namespace {

/// source  NCCL 2.30.7 graph/topo.h
constexpr int kDefaultMbits = 10000;
constexpr int kDefaultLanes = 16;

/// Returns 1 for Zen 1 and 2, 2 for Zen 3 and 4, 3 for Zen 5. Dumps of older releases contain the family without the
/// extension added: 0x8F, 0xAF, 0xBF for 23, 25, 26.
/// source  NCCL 2.31.2 graph/topo.cc
int amd_generation(int family) {
  if (family == 25 || family == 0xAF) return 2;
  return family == 26 || family == 0xBF ? 3 : 1;
}

constexpr int kYongfeng = 1;  ///< CpuInfo::model of this Zhaoxin generation

/// Rates between two CPUs of a host, GB/s, that are the same in all releases.
/// source  NCCL 2.30.7 graph/topo.h
constexpr float kPower9SocketGbs = 32;
constexpr float kArmSocketGbs = 6;
constexpr float kZhaoxinSocketGbs = 6;
constexpr float kYongfengSocketGbs = 9;

/// Returns the speed of generation `model`; the list begins with generation 1.
float of_generation(const std::vector<float>& speeds, int model) {
  const int known = static_cast<int>(speeds.size());
  return speeds[static_cast<std::size_t>(std::clamp(model, 1, known) - 1)];
}

}  // namespace

float socket_bandwidth(const CpuInfo& cpu, const TopologyRules& rules) {
  switch (cpu.arch) {
    case CpuArch::Power:
      return kPower9SocketGbs;
    case CpuArch::Arm:
      return kArmSocketGbs;
    case CpuArch::X86:
      if (cpu.vendor == CpuVendor::Amd) return of_generation(rules.amd_socket_gbs, cpu.model);
      if (cpu.vendor == CpuVendor::Zhaoxin) {
        return cpu.model == kYongfeng ? kYongfengSocketGbs : kZhaoxinSocketGbs;
      }
      if (cpu.vendor == CpuVendor::Intel) return of_generation(rules.intel_socket_gbs, cpu.model);
      return kLocalBandwidth;
    default:
      return kLocalBandwidth;
  }
}

bool needs_amd_family(const TopologyRules& rules) { return rules.amd_socket_gbs.size() > 1; }

CpuInfo cpu_info(const HostCpu& cpu, const TopologyRules& rules) {
  CpuInfo info;
  if (cpu.arch == "arm64") info.arch = CpuArch::Arm;
  if (cpu.arch == "ppc64") info.arch = CpuArch::Power;
  if (cpu.arch != "x86_64") return info;
  info.arch = CpuArch::X86;
  if (cpu.vendor == "AuthenticAMD") {
    info.vendor = CpuVendor::Amd;
    if (needs_amd_family(rules)) info.model = amd_generation(cpu.family);
  }
  if (cpu.vendor == "CentaurHauls" || cpu.vendor == "  Shanghai  ") {
    info.vendor = CpuVendor::Zhaoxin;
    if (cpu.family == 7 && cpu.model == 0x5B) info.model = kYongfeng;
  }
  if (cpu.vendor == "GenuineIntel") {
    // Four groups of models of family 6: up to Broadwell; from Skylake (0x55), Sapphire Rapids (0x8F) and Emerald
    // Rapids (0xCF) on. Releases that do not know the last one end the list of speeds earlier.
    info.vendor = CpuVendor::Intel;
    info.model = 1;
    if (cpu.family == 6 && cpu.model >= 0x55) info.model = 2;
    if (cpu.family == 6 && cpu.model >= 0x8F) info.model = 3;
    const auto& late = rules.intel_emerald_models;
    const bool is_late =
        cpu.model >= 0xCF || std::find(late.begin(), late.end(), cpu.model) != late.end();
    if (cpu.family == 6 && is_late) info.model = 4;
    info.model = std::min(info.model, static_cast<int>(rules.intel_socket_gbs.size()));
  }
  return info;
}

// source  NCCL 2.30.7 graph/topo.cc: kvDictPciGen
float pci_bandwidth(const HostPci& function) {
  struct Generation {
    std::string_view speed;
    int per_lane;  ///< 100 Mbit/s, after encoding
  };
  constexpr Generation kGenerations[] = {{"2.5 GT/s", 15},   {"5 GT/s", 30},    {"5.0 GT/s", 30},
                                         {"8 GT/s", 60},     {"8.0 GT/s", 60},  {"16 GT/s", 120},
                                         {"16.0 GT/s", 120}, {"32 GT/s", 240},  {"32.0 GT/s", 240},
                                         {"64 GT/s", 480},   {"64.0 GT/s", 480}};
  int per_lane = 60;  // generation 3
  for (const Generation& generation : kGenerations) {
    if (function.link_speed.starts_with(generation.speed)) per_lane = generation.per_lane;
  }
  const int lanes = function.link_width == 0 ? kDefaultLanes : function.link_width;
  return static_cast<float>(lanes * per_lane / 80.0);  // 80 x 100 Mbit/s = 1 GB/s
}

bool is_connectx8(const HostPci& function) {
  // Vendor 0x15B3 (Mellanox), devices 0x1023 and 0x2100. source  NCCL 2.31.2 graph/topo.cc
  const std::uint64_t card = device_id(function) >> 32;
  return card == 0x15B31023 || card == 0x15B32100;
}

std::uint64_t device_id(const HostPci& function) {
  std::uint64_t id = 0;
  for (const std::string* part : {&function.vendor, &function.device, &function.subsystem_vendor,
                                  &function.subsystem_device}) {
    std::string_view digits = *part;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    id = (id << 16) | (value & 0xFFFF);
  }
  return id;
}

float nvlink_bandwidth(int sm, const NvLinkSpeeds& speeds) {
  if (sm >= 100) return speeds.blackwell;
  if (sm >= 90) return speeds.hopper;
  if (sm == 86) return speeds.ampere_86;
  if (sm >= 80) return speeds.ampere;
  if (sm >= 70) return speeds.volta;
  if (sm >= 60) return speeds.pascal;
  return speeds.other;
}

float net_bandwidth(const HostNet& net) {
  const int mbits = net.mbits_per_second <= 0 ? kDefaultMbits : net.mbits_per_second;
  return static_cast<float>(mbits / 8000.0);
}

float c2c_bandwidth(const HostC2c& c2c) {
  return static_cast<float>(c2c.mbytes_per_second * c2c.count / 1000.0);
}

}  // namespace ringside
