#include "engine/transport/rdma/rdma_ports.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/folder.h"
#include "engine/transport/rdma/rdma_message.h"
#include "engine/transport/socket/name_rule.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

/// Returns the first line of a sysfs file; empty if it cannot be read.
std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

int leading_number(std::string_view text, int otherwise) {
  int value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Returns the card's PCI address without the function ("0000:3b:00.1" -> "0000:3b:00"); for a device without a bus
/// (rxe), its name.
std::string card_at(const fs::path& device) {
  std::error_code ignored;
  const fs::path real = fs::canonical(device / "device", ignored);
  if (ignored || real.empty()) return device.filename();
  std::string name = real.filename();
  const std::size_t dot = name.rfind('.');
  const bool is_on_pci = name.find(':') != std::string::npos && dot != std::string::npos;
  if (is_on_pci) name.resize(dot);
  return is_on_pci ? name : device.filename().string();
}

std::vector<RdmaPort::Entry> read_gids(const fs::path& port) {
  std::vector<RdmaPort::Entry> gids;
  for (const std::string& index : names_or_none(port / "gids")) {
    const std::optional<Gid> gid = parse_gid(first_line(port / "gids" / index));
    if (!gid) continue;
    // The kernel lists both InfiniBand GIDs and RoCE v1 GIDs as v1.
    const std::string type = first_line(port / "gid_attrs" / "types" / index);
    gids.push_back({leading_number(index, 0), *gid,
                    type == "RoCE v2" ? GidType::RoceV2 : GidType::RoceV1,
                    first_line(port / "gid_attrs" / "ndevs" / index)});
  }
  std::ranges::sort(gids, {}, &RdmaPort::Entry::index);
  return gids;
}

RdmaPort read_port(const fs::path& device, const fs::path& path) {
  RdmaPort port;
  port.device = device.filename();
  port.number = leading_number(path.filename().string(), 1);
  port.is_ethernet = first_line(path / "link_layer") == "Ethernet";
  const std::string state = first_line(path / "state");  // "4: ACTIVE"
  port.state = state.substr(std::min(state.size(), state.find(' ') + 1));
  port.card = card_at(device);
  port.numa = leading_number(first_line(device / "device" / "numa_node"), -1);
  double gigabits = 0;
  const std::string rate = first_line(path / "rate");  // "2.5 Gb/sec (1X SDR)"
  std::from_chars(rate.data(), rate.data() + rate.size(), gigabits);
  port.megabits = static_cast<int>(gigabits * 1000);
  port.gids = read_gids(path);
  if (!port.is_ethernet) {
    for (RdmaPort::Entry& entry : port.gids) entry.type = GidType::InfiniBand;
  }
  return port;
}

bool is_own(const RdmaPort::Entry& entry, std::span<const Gid> own) {
  return std::ranges::find(own, entry.gid) != own.end();
}

bool has_own(const RdmaPort& port, std::span<const Gid> own) {
  return std::ranges::any_of(port.gids,
                             [&](const RdmaPort::Entry& entry) { return is_own(entry, own); });
}

/// Returns the preference for a GID; higher is better. Each criterion outweighs all later ones together: choose_gid().
int worth(const RdmaPort::Entry& entry, const RdmaSettings& settings, std::span<const Gid> own) {
  const GidType version = settings.roce_version == 1 ? GidType::RoceV1 : GidType::RoceV2;
  return (entry.type == version ? 8 : 0) + (is_own(entry, own) ? 4 : 0) +
         (entry.gid.is_ipv4() != settings.wants_ipv6 ? 2 : 0) + (entry.gid.is_link_local() ? 0 : 1);
}

}  // namespace

bool Gid::is_ipv4() const {
  const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
  return std::all_of(bytes.begin(), bytes.begin() + 10, is_zero) && bytes[10] == 0xff &&
         bytes[11] == 0xff;
}

bool Gid::is_link_local() const { return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80; }

std::string to_string(const Gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, gid.bytes.data(), text.data(), text.size());
  return text.data();
}

const char* to_string(GidType type) {
  switch (type) {
    case GidType::InfiniBand:
      return "InfiniBand";
    case GidType::RoceV1:
      return "RoCE v1";
    case GidType::RoceV2:
      return "RoCE v2";
  }
  return "";
}

std::optional<Gid> parse_gid(const std::string& text) {
  Gid gid;
  if (::inet_pton(AF_INET6, text.c_str(), gid.bytes.data()) != 1) return std::nullopt;
  // Unused entries also hold a prefix, followed by zeros.
  const bool is_used = std::any_of(gid.bytes.begin() + 8, gid.bytes.end(),
                                   [](std::uint8_t byte) { return byte != 0; });
  return is_used ? std::optional(gid) : std::nullopt;
}

Gid gid_of(const SocketAddress& address) {
  Gid gid;
  if (address.family == SocketAddress::Family::V4) {
    gid.bytes[10] = gid.bytes[11] = 0xff;
    std::copy_n(address.ip.begin(), 4, gid.bytes.begin() + 12);
  } else {
    std::copy_n(address.ip.begin(), gid.bytes.size(), gid.bytes.begin());
  }
  return gid;
}

std::string RdmaPort::text() const {
  return fmt::format("{}:{}/{}", device, number, is_ethernet ? "RoCE" : "IB");
}

std::vector<RdmaPort> read_rdma_ports(const std::string& root) {
  std::vector<RdmaPort> ports;
  for (const std::string& device : names_or_none(root)) {
    const fs::path folder = fs::path(root) / device;
    for (const std::string& port : names_or_none(folder / "ports")) {
      ports.push_back(read_port(folder, folder / "ports" / port));
    }
  }
  std::ranges::sort(ports, [](const RdmaPort& a, const RdmaPort& b) {
    return std::tie(a.device, a.number) < std::tie(b.device, b.number);
  });
  return ports;
}

Result<RdmaPort::Entry> choose_gid(const RdmaPort& port, const RdmaSettings& settings,
                                   std::span<const Gid> own) {
  if (settings.gid_index >= 0) {
    const auto found = std::ranges::find(port.gids, settings.gid_index, &RdmaPort::Entry::index);
    if (found != port.gids.end()) return *found;
    std::string there;
    for (const RdmaPort::Entry& entry : port.gids) {
      there +=
          fmt::format("{}{} ({})", there.empty() ? "" : ", ", entry.index, to_string(entry.gid));
    }
    return Error{ErrorCode::NotFound,
                 fmt::format("NCCL_IB_GID_INDEX={}: {} has no GID there; it has {}",
                             settings.gid_index, port.text(), there.empty() ? "none" : there),
                 "unset NCCL_IB_GID_INDEX, so that it is chosen, or give one of these"};
  }
  if (port.gids.empty()) {
    return Error{ErrorCode::Unsupported, fmt::format("{} has no GID", port.text()),
                 "give its network interface an address"};
  }
  // The first GID of an InfiniBand port is the port's own; the others are aliases.
  if (!port.is_ethernet) return port.gids.front();
  return *std::ranges::max_element(port.gids, [&](const auto& a, const auto& b) {
    return worth(a, settings, own) < worth(b, settings, own);
  });
}

Result<std::vector<RdmaPort>> choose_rdma_ports(std::span<const RdmaPort> there,
                                                const RdmaSettings& settings,
                                                std::span<const Gid> own) {
  const NameRule rule = read_name_rule(settings.names);
  std::vector<RdmaPort> used;
  std::string list;
  for (const RdmaPort& port : there) {
    const bool is_meant = settings.names.empty() || rule.fits(port.device, port.number);
    list += fmt::format("{}{} ({}{})", list.empty() ? "" : ", ", port.text(), port.state,
                        is_meant ? "" : ", not named by NCCL_IB_HCA");
    if (is_meant && port.is_active()) used.push_back(port);
  }
  if (used.empty()) {
    return Error{
        ErrorCode::Unsupported,
        fmt::format("no RDMA port can be used; there are: {}", list.empty() ? "none" : list),
        list.empty() ? "load the adapter's driver; in a container, pass /dev/infiniband on"
                     : "bring a port up, or name it in NCCL_IB_HCA"};
  }
  const auto is_anothers = [&](const RdmaPort& port) {
    return port.is_ethernet && !has_own(port, own);
  };
  if (std::ranges::any_of(used, [&](const RdmaPort& port) { return has_own(port, own); })) {
    std::erase_if(used, is_anothers);
  }
  // Both ends of a connection must have the same link layer. If a host has both, the other one is usually for storage
  // or logins.
  const bool has_infiniband =
      std::ranges::any_of(used, [](const RdmaPort& port) { return !port.is_ethernet; });
  if (has_infiniband) {
    std::erase_if(used, [](const RdmaPort& port) { return port.is_ethernet; });
  }
  std::ranges::stable_sort(used, {}, &RdmaPort::card);
  return used;
}

Result<std::vector<RdmaCard>> choose_rdma_cards(std::span<const RdmaPort> there,
                                                const RdmaSettings& settings,
                                                std::span<const Gid> own) {
  RINGSIDE_TRY(const std::vector<RdmaPort> used, choose_rdma_ports(there, settings, own));
  std::vector<RdmaCard> cards;
  for (const RdmaPort& port : used) {
    RINGSIDE_TRY(const RdmaPort::Entry gid, choose_gid(port, settings, own));
    RdmaCard* const last = cards.empty() ? nullptr : &cards.back();
    const bool joins = settings.merges_ports && last != nullptr &&
                       last->ports.size() < kMostRdmaPorts &&
                       last->ports.front().card == port.card &&
                       last->ports.front().is_ethernet == port.is_ethernet;
    if (!joins) cards.emplace_back();
    cards.back().ports.push_back(port);
    cards.back().gids.push_back(gid);
  }
  return cards;
}

}  // namespace ringside
