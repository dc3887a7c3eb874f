#include "engine/topology/sources/system_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/fd.h"
#include "base/folder.h"
#include "base/peer_memory.h"
#include "base/text.h"

namespace ringside {
namespace {

/// Returns the number at the start of a text; 0 if there is none, or if it is not below 2^30.
int leading_int(const std::string& text) {
  const std::string digits = text.substr(0, text.find_first_not_of("0123456789"));
  const auto number = parse_int(digits);
  return number && *number < (1 << 30) ? static_cast<int>(*number) : 0;
}

double leading_number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

}  // namespace

std::string SystemFiles::read(const std::string& path) const {
  const auto file = read_file(root_ + "/" + path);
  std::string text = file ? *file : std::string{};
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

void SystemFiles::read_link(HostPci& function) const {
  std::error_code failed;
  const std::filesystem::path own =
      std::filesystem::canonical(root_ + "/bus/pci/devices/" + function.bus_id, failed);
  if (failed) return;
  std::string speed;
  int width = 0;
  // The parent folder of a function is the port above it. A link has the lower speed and width of its two ends.
  for (const auto& end : {own, own.parent_path()}) {
    const std::filesystem::path from = std::filesystem::relative(end, root_, failed);
    const std::string end_speed = read(from.string() + "/max_link_speed");
    const int end_width = leading_int(read(from.string() + "/max_link_width"));
    if (leading_number(end_speed) > 0 &&
        (speed.empty() || leading_number(end_speed) < leading_number(speed))) {
      speed = end_speed;
    }
    // The kernel reports 255 for a function without a link.
    if (end_width > 0 && end_width < 255 && (width == 0 || end_width < width)) width = end_width;
  }
  if (!speed.empty()) function.link_speed = speed;
  if (width > 0) function.link_width = width;
}

std::vector<HostNet> SystemFiles::rdma_ports(const std::string& device) const {
  const std::string ports = "class/infiniband/" + device + "/ports";
  std::vector<HostNet> up;
  for (const std::string& port : names_or_none(root_ + "/" + ports)) {
    if (leading_int(read(ports + "/" + port + "/state")) != 4) continue;  // "4: ACTIVE"
    HostNet net{.name = device};
    net.port = leading_int(port);
    net.mbits_per_second =
        static_cast<int>(leading_number(read(ports + "/" + port + "/rate")) * 1000);
    up.push_back(std::move(net));
  }
  std::sort(up.begin(), up.end(),
            [](const HostNet& a, const HostNet& b) { return a.port < b.port; });
  return up;
}

std::optional<HostNet> SystemFiles::interface(const std::string& name) const {
  const std::string folder = "class/net/" + name;
  if (read(folder + "/operstate") == "down") return std::nullopt;
  HostNet net{.name = name};
  net.port = 0;
  net.mbits_per_second = leading_int(read(folder + "/speed"));  // 0 for the -1 of an unknown speed
  return net;
}

std::vector<std::string> SystemFiles::interfaces() const {
  return names_or_none(root_ + "/class/net");
}

bool SystemFiles::has_peer_memory() const { return ringside::has_peer_memory(root_); }

}  // namespace ringside
