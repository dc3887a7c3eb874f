#include "harness/probe/read_pci.h"

#include <cstdint>
#include <cstdlib>

#include "base/fd.h"
#include "base/folder.h"
#include "harness/probe/files.h"

namespace ringside::probe {
namespace {

// Values of /sys/bus/pci/devices/*/class and vendor, as text. A class is 0xBBSSPP: base class, subclass, interface.
// source  PCI Code and ID Assignment Specification, 1; pci.ids
constexpr const char* kNetworkClass = "0x02";
constexpr const char* kDisplayClass = "0x03";
constexpr const char* kAcceleratorClass = "0x12";  ///< Instinct cards: "processing accelerators"
constexpr const char* kBridgeClass =
    "0x0604";  ///< PCI-to-PCI bridges, so also root and switch ports
constexpr const char* kNvidia = "0x10de";
constexpr const char* kAmd = "0x1002";

/// Reads `count` bytes at `at` as a little-endian number.  shape  at + count <= bytes.size(), count <= 4
std::uint32_t little_endian(const std::string& bytes, std::size_t at, int count) {
  std::uint32_t value = 0;
  for (int i = count - 1; i >= 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  }
  return value;
}

/// Returns the control register of the ACS capability; nullopt if there is none.
/// config  the whole configuration space, 4096 bytes
/// source  PCI Express Base Specification, 7.6.3 (a list of capabilities from 0x100 on: bits 0-15 of each head are the
///         id, bits 20-31 the next offset), 7.7.11 (ACS, capability 0x000D; the control register is at offset 6)
std::optional<unsigned> acs_control(const std::string& config) {
  constexpr std::uint32_t kAcs = 0x000d;
  std::size_t at = 0x100;
  constexpr int kMostCapabilities = 64;  // a broken device may return a list that is a cycle
  for (int left = kMostCapabilities; left > 0 && at >= 0x100 && at + 8 <= config.size(); --left) {
    const std::uint32_t head = little_endian(config, at, 4);
    if (head == 0 || head == 0xffffffff) return std::nullopt;
    if ((head & 0xffff) == kAcs) return little_endian(config, at + 6, 2);
    at = head >> 20;
  }
  return std::nullopt;
}

/// Returns the model of a GPU, as reported by the driver.
std::string model_of(const std::string& root, const std::string& pci) {
  const Result<std::string> text =
      read_file(root + "/proc/driver/nvidia/gpus/" + pci + "/information");
  if (!text) return {};
  const std::size_t at = text->find("Model:");
  if (at == std::string::npos) return {};
  const std::size_t begin = text->find_first_not_of(" \t", at + 6);
  if (begin == std::string::npos) return {};
  return text->substr(begin, text->find('\n', begin) - begin);
}

}  // namespace

void read_pci(const std::string& root, Machine& machine) {
  const std::string devices = root + "/sys/bus/pci/devices";
  bool has_bridge = false, is_cut = false;
  for (const std::string& pci : names_or_none(devices)) {
    const std::string folder = devices + "/" + pci;
    const std::string kind = read_line(folder + "/class");  // 0x030200
    const std::string vendor = read_line(folder + "/vendor");
    const bool is_nvidia = vendor == kNvidia;
    const bool is_amd = vendor == kAmd;
    const bool is_gpu = (kind.starts_with(kDisplayClass) && (is_nvidia || is_amd)) ||
                        (kind.starts_with(kAcceleratorClass) && is_amd);
    const bool is_nic = kind.starts_with(kNetworkClass);
    if (is_gpu) {
      machine.gpus.push_back(
          {.pci = pci,
           .vendor = is_nvidia ? "nvidia" : "amd",
           .model = is_nvidia ? model_of(root, pci) : std::string(),
           .numa = static_cast<int>(leading_value(read_line(folder + "/numa_node"), -1))});
    }
    if (is_gpu || is_nic) {
      const std::string type = read_line(folder + "/iommu_group/type");
      if (!type.empty()) machine.iommu[pci] = type;
    }
    if (!kind.starts_with(kBridgeClass)) continue;
    has_bridge = true;
    const Result<std::string> config = read_file(folder + "/config");
    constexpr std::size_t kWhole = 4096;  // without root, the kernel returns the first 64 bytes
    if (!config || config->size() < kWhole) {
      is_cut = true;
      continue;
    }
    // Bits 0, 2 and 3 (source validation, redirection of requests and of completions) send peer-to-peer traffic to the
    // root complex.
    if (const auto control = acs_control(*config); control && (*control & 0b1101) != 0) {
      machine.acs.push_back({pci, *control});
    }
  }
  if (has_bridge && is_cut) machine.acs_note = "not all bridges can be read: that takes root";
  if (!has_bridge) machine.acs_note = "no PCI bridge is seen";
}

}  // namespace ringside::probe
