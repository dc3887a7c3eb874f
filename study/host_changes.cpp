#include "study/host_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/wording.h"
#include "engine/topology/host_edit.h"

namespace ringside::study {
namespace {

// Descriptions have whole Mbit/s, as an int.
constexpr BytesPerSecond kLeastNicRate{1e6 / 8}, kMostNicRate{1e13};

Error too_few(const Host& host, int there, const std::string& help) {
  return {
      ErrorCode::InvalidArgument,
      fmt::format("{} has {}", host.name, plural(static_cast<std::size_t>(there), "NIC", "NICs")),
      help};
}

/// Keeps some of the host's NICs.
/// is_kept  [index in nets_of(host)]
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

Result<bool> on_or_off(const std::string& key, const std::string& value) {
  if (value == "on" || value == "off") return value == "on";
  return Error{ErrorCode::InvalidArgument,
               fmt::format("{}: '{}' is neither on nor off", key, value),
               fmt::format("such as {}=off", key)};
}

}  // namespace

bool is_host_key(std::string_view key) {
  return std::ranges::find(kHostKeys, key) != kHostKeys.end();
}

Status apply_host_setting(HostChanges& changes, const std::string& key, const std::string& value) {
  if (key == "gdr") {
    RINGSIDE_TRY(changes.gdr, on_or_off(key, value));
    return {};
  }
  if (key == "nic_rate") {
    const auto rate = parse_bandwidth(value);
    if (!rate || *rate < kLeastNicRate || *rate > kMostNicRate) {
      return Error{ErrorCode::InvalidArgument, fmt::format("{}: no NIC has '{}'", key, value),
                   fmt::format("such as {}=400Gbit/s", key)};
    }
    changes.nic_rate = *rate;
    return {};
  }
  RINGSIDE_TRY(const int count, parse_count(key, value));
  (key == "nics" ? changes.nics : changes.drop_rail) = count;
  return {};
}

Result<int> parse_count(const std::string& key, const std::string& value) {
  const auto number = parse_int(value);
  if (number && *number >= 0 && *number <= 1 << 20) return static_cast<int>(*number);
  return Error{ErrorCode::InvalidArgument, fmt::format("{}: '{}' is no count", key, value),
               fmt::format("such as {}=4", key)};
}

Status change_host(Host& host, const HostChanges& changes) {
  if (changes.drop_rail) {
    const int there = static_cast<int>(nets_of(host).size());
    if (*changes.drop_rail < 0 || *changes.drop_rail >= there || there == 1) {
      return too_few(host, there,
                     there > 1 ? fmt::format("drop one of 0 to {}", there - 1)
                               : std::string("none can be dropped"));
    }
    std::vector<bool> is_kept(static_cast<std::size_t>(there), true);
    is_kept[static_cast<std::size_t>(*changes.drop_rail)] = false;
    keep_numbers(host, is_kept);
  }
  if (changes.nics) {
    const int there = static_cast<int>(nets_of(host).size());
    if (*changes.nics < 1 || *changes.nics > there) {
      return too_few(host, there, fmt::format("give 1 to {}", there));
    }
    std::vector<bool> is_kept(static_cast<std::size_t>(there));
    for (int i = 0; i < *changes.nics; ++i) {
      is_kept[static_cast<std::size_t>(i * there / *changes.nics)] = true;
    }
    keep_numbers(host, is_kept);
  }
  if (changes.nic_rate) {
    for (const HostNetPlace& place : nets_of(host)) {
      place.net->mbits_per_second =
          static_cast<int>(std::lround(changes.nic_rate->value * 8 / 1e6));
    }
  }
  if (!changes.gpus.empty()) {
    const int there = static_cast<int>(gpu_places_of(host).size());
    const int last = *std::ranges::max_element(changes.gpus);
    if (last >= there) {
      return Error{ErrorCode::InvalidArgument, fmt::format("{} has no GPU {}", host.name, last),
                   fmt::format("it has {}", there)};
    }
    keep_gpus(host, changes.gpus);
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
