#include "engine/topology/sources/nvml_source.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace ringside {
namespace {

/// Shortens `00000000:1B:00.0` to the usual form, 0000:1b:00.0.
std::string short_bus_id(const std::string& long_id) {
  std::string text = lower_case(long_id);
  const auto colon = text.find(':');
  if (colon == 8 && text.starts_with("0000")) text.erase(0, 4);
  return text;
}

/// Returns one entry for each device at the far end of links, in the order of the links.
std::vector<HostNvLink> links_of(NvmlDriver& driver, int device, int sm,
                                 const std::map<std::string, std::uint32_t>& class_of) {
  std::vector<HostNvLink> links;
  for (int link = 0; link < max_nvlinks(sm); ++link) {
    const auto remote = driver.link_remote(device, link);
    if (!remote) continue;
    const std::string target = short_bus_id(*remote);
    const auto known = std::find_if(links.begin(), links.end(), [&](const HostNvLink& before) {
      return before.target == target;
    });
    if (known != links.end()) {
      ++known->count;
      continue;
    }
    const auto gpu = class_of.find(target);
    links.push_back({target, 1, gpu == class_of.end() ? kNvSwitchClass : gpu->second});
  }
  return links;
}

}  // namespace

int max_nvlinks(int sm) { return sm < 60 ? 0 : sm < 70 ? 4 : sm < 80 ? 6 : sm < 90 ? 12 : 18; }

Status add_nvml(FoundMachine& machine, NvmlDriver& driver) {
  std::vector<FoundDevice> shown;
  std::map<std::string, std::uint32_t> class_of;
  RINGSIDE_TRY(const int count, driver.device_count());
  for (int device = 0; device < count; ++device) {
    RINGSIDE_TRY(const std::string text, driver.bus_id(device));
    const std::string bus_id = short_bus_id(text);
    const auto found =
        std::find_if(machine.gpus.begin(), machine.gpus.end(),
                     [&](const FoundDevice& gpu) { return gpu.function.bus_id == bus_id; });
    FoundDevice gpu;
    if (found != machine.gpus.end()) {
      gpu = *found;
    } else {
      gpu.function.bus_id = bus_id;
      gpu.function.device_class = kGpuClass;
      gpu.function.gpu = HostGpu{.gdr = true};
    }
    RINGSIDE_TRY(gpu.function.gpu->sm, driver.compute_capability(device));
    class_of[bus_id] = gpu.function.device_class;
    shown.push_back(std::move(gpu));
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    HostGpu& gpu = *shown[i].function.gpu;
    const int device = static_cast<int>(i);
    gpu.nvlinks = links_of(driver, device, gpu.sm, class_of);
    gpu.c2c = driver.c2c(device);
  }
  machine.gpus = std::move(shown);
  return {};
}

}  // namespace ringside
