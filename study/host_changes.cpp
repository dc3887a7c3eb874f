#include "study/host_changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/wording.h"
#include "engine/topology/host_edit.h"

namespace ringside::study {
namespace {

Error no_such(const Host& host, const std::string& asked, int there) {
  return {ErrorCode::InvalidArgument,
          fmt::format("{}: {} has {}", asked, host.name,
                      plural(static_cast<std::size_t>(there), "NIC", "NICs")),
          there > 1 ? fmt::format("give {} to {}", asked.starts_with("nics") ? 1 : 0,
                                  asked.starts_with("nics") ? there : there - 1)
                    : "nothing can be taken from that"};
}

/// Keeps those of these numbers, in the order of devices.
void keep_numbers(Host& host, const std::vector<bool>& is_kept) {
  const std::vector<HostNetPlace> all = nets_of(host);
  std::vector<int> devices;  // numbers may have gaps
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_kept[i]) devices.push_back(all[i].net->dev);
  }
  keep_nets(host, [&](const HostNet& net) {
    return std::ranges::find(devices, net.dev) != devices.end();
  });
}

}  // namespace

Status change_host(Host& host, const HostChanges& changes) {
  if (changes.drop_rail) {
    const int there = static_cast<int>(nets_of(host).size());
    if (*changes.drop_rail < 0 || *changes.drop_rail >= there || there == 1) {
      return no_such(host, fmt::format("drop_rail={}", *changes.drop_rail), there);
    }
    std::vector<bool> is_kept(static_cast<std::size_t>(there), true);
    is_kept[static_cast<std::size_t>(*changes.drop_rail)] = false;
    keep_numbers(host, is_kept);
  }
  if (changes.nics) {
    const int there = static_cast<int>(nets_of(host).size());
    if (*changes.nics < 1 || *changes.nics > there) {
      return no_such(host, fmt::format("nics={}", *changes.nics), there);
    }
    std::vector<bool> is_kept(static_cast<std::size_t>(there));
    for (int i = 0; i < *changes.nics; ++i) {
      is_kept[static_cast<std::size_t>(i * there / *changes.nics)] = true;
    }
    keep_numbers(host, is_kept);
  }
  if (changes.gdr) {
    for (const HostNetPlace& place : nets_of(host)) place.net->gdr = *changes.gdr;
    if (*changes.gdr) {
      for (const HostGpuPlace& place : gpu_places_of(host)) place.gpu->gdr = true;
    }
  }
  return {};
}

}  // namespace ringside::study
