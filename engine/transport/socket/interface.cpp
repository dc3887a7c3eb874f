#include "engine/transport/socket/interface.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "engine/transport/socket/name_rule.h"
#include "engine/transport/socket/raw_address.h"

namespace ringside {
namespace {

const char* name_of(SocketAddress::Family family) {
  return family == SocketAddress::Family::V4 ? "AF_INET" : "AF_INET6";
}

/// "lo (127.0.0.1), eth0 (10.0.0.1, down)"
std::string list_of(std::span<const Interface> there) {
  std::vector<std::string> texts;
  for (const Interface& one : there) {
    const std::string address = to_string(one.address);
    texts.push_back(fmt::format("{} ({}{})", one.name, address.substr(0, address.rfind(':')),
                                one.is_up ? "" : ", down"));
  }
  return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

bool is_link_local(const SocketAddress& address) {
  return address.family == SocketAddress::Family::V6 && address.ip[0] == 0xfe &&
         (address.ip[1] & 0xc0) == 0x80;
}

}  // namespace

Result<std::vector<Interface>> local_interfaces() {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0) return system_error("cannot list network interfaces", errno);
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(found, ::freeifaddrs);
  std::vector<Interface> interfaces;
  for (const ifaddrs* entry = found; entry != nullptr; entry = entry->ifa_next) {
    const std::optional<SocketAddress> address = from_raw(entry->ifa_addr);
    if (!address || is_link_local(*address)) continue;
    constexpr unsigned kUp = IFF_UP | IFF_RUNNING;
    interfaces.push_back(
        {entry->ifa_name, with_port(*address, 0), (entry->ifa_flags & kUp) == kUp});
  }
  return interfaces;
}

Result<InterfaceSettings> interface_settings_from(const Environment& environment,
                                                  bool is_single_host) {
  InterfaceSettings settings;
  settings.is_single_host = is_single_host;
  settings.names = environment("NCCL_SOCKET_IFNAME").value_or("");
  const std::string family = environment("NCCL_SOCKET_FAMILY").value_or("");
  if (family == "AF_INET") {
    settings.family = SocketAddress::Family::V4;
  } else if (family == "AF_INET6") {
    settings.family = SocketAddress::Family::V6;
  } else if (!family.empty()) {
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("environment variable NCCL_SOCKET_FAMILY='{}' is no address family", family),
        "give AF_INET or AF_INET6, or unset it"};
  }
  return settings;
}

Result<Interface> choose_interface(std::span<const Interface> there,
                                   const InterfaceSettings& settings) {
  const auto first_that_fits = [&](const NameRule& rule) -> const Interface* {
    const auto found = std::ranges::find_if(there, [&](const Interface& one) {
      return one.is_up && rule.fits(one.name) &&
             (!settings.family || one.address.family == *settings.family);
    });
    return found == there.end() ? nullptr : &*found;
  };
  const auto loopback = [&]() -> const Interface* {
    const auto found = std::ranges::find_if(there, [&](const Interface& one) {
      return one.is_up && is_loopback(one.address) &&
             (!settings.family || one.address.family == *settings.family);
    });
    return found == there.end() ? nullptr : &*found;
  };

  if (!settings.names.empty()) {
    if (const Interface* chosen = first_that_fits(read_name_rule(settings.names))) return *chosen;
    return Error{
        ErrorCode::System,
        fmt::format("no interface that is up fits NCCL_SOCKET_IFNAME='{}'{}; there are: {}",
                    settings.names,
                    settings.family ? fmt::format(" with {}", name_of(*settings.family)) : "",
                    list_of(there)),
        "name one of these, or unset NCCL_SOCKET_IFNAME"};
  }
  const Interface* chosen = settings.is_single_host ? loopback() : nullptr;
  for (const char* rule : {"ib", "^docker,lo,virbr", "docker"}) {
    if (chosen == nullptr) chosen = first_that_fits(read_name_rule(rule));
  }
  if (chosen == nullptr) chosen = loopback();
  if (chosen != nullptr) return *chosen;
  return Error{
      ErrorCode::System,
      fmt::format("no network interface is up{}; there are: {}",
                  settings.family ? fmt::format(" with {}", name_of(*settings.family)) : "",
                  list_of(there)),
      "bring one up (ip link set lo up serves ranks on one host)"};
}

}  // namespace ringside
