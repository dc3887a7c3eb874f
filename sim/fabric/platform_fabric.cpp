#include "sim/fabric/platform_fabric.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/wording.h"
#include "sim/fabric/platform.h"

namespace ringside {
namespace {

constexpr std::size_t kMostPartsShown = 32;

/// Returns "400 Gbit/s" or "100 to 400 Gbit/s".
std::string rates_text(double least, double most) {
  constexpr double kGigabit = 1e9 / 8;
  const std::string text = fmt::format("{:g} Gbit/s", most / kGigabit);
  return least == most ? text : fmt::format("{:g} to {}", least / kGigabit, text);
}

class PlatformFabric : public Fabric {
 public:
  PlatformFabric(FabricSettings settings, std::vector<FabricHosts> hosts)
      : Fabric(std::move(settings), std::move(hosts)), platform_(*this->settings().platform) {}

  Status check() const;

  [[nodiscard]] std::vector<int> tier_starts() const override {
    return {0, first_link(), first_link() + static_cast<int>(platform_.links.size())};
  }
  [[nodiscard]] FabricShape shape() const override;
  [[nodiscard]] Wire wire(int id) const override;

 protected:
  [[nodiscard]] FabricRoute find_route(FabricPort from, FabricPort to,
                                       std::uint64_t flow) const override;

 private:
  enum Direction : int { Out = 0, In = 1 };
  [[nodiscard]] int first_link() const { return 2 * nhosts() * most_nics(); }
  [[nodiscard]] int cable(FabricPort port, Direction direction) const {
    return 2 * (port.host * most_nics() + port.nic) + direction;
  }
  [[nodiscard]] int zone_of(int host) const {
    const int point = platform_.hosts[static_cast<std::size_t>(host)].point;
    return platform_.points[static_cast<std::size_t>(point)].zone;
  }
  [[nodiscard]] BytesPerSecond between_halves() const;

  const Platform& platform_;
};

Status PlatformFabric::check() const {
  if (nhosts() > std::ssize(platform_.hosts)) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}: {} hosts, the platform has {}", settings().where, nhosts(),
                             platform_.hosts.size()),
                 "give fewer nodes, or more hosts in " + platform_.where};
  }
  for (const PlatformLink& link : platform_.links) {
    if (!link.is_fat || link.rate >= fastest_nic()) continue;
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}: {} holds each flow to a rate that is less than a NIC's, and "
                             "shares none: that is not supported",
                             link.where, link.name),
                 "give it SHARED or SPLITDUPLEX"};
  }
  return {};
}

Fabric::Wire PlatformFabric::wire(int id) const {
  Wire one;
  if (id < first_link()) {
    const FabricPort port{id / 2 / most_nics(), id / 2 % most_nics()};
    const FabricEnd host{{"host", port.host}, {"nic", port.nic}};
    const FabricEnd zone{{"zone", zone_of(port.host)}};
    one.from = id % 2 == Out ? host : zone;
    one.to = id % 2 == Out ? zone : host;
    one.rate = rate_of_nic(port);
    one.is_there = port.nic < nics_of(port.host);
    return one;
  }
  const PlatformLink& link = platform_.links[static_cast<std::size_t>(id - first_link())];
  one.from = link.from;
  one.to = link.to;
  one.rate = link.rate;
  one.tier = 1;
  one.name = link.name;
  return one;
}

FabricRoute PlatformFabric::find_route(FabricPort from, FabricPort to, std::uint64_t) const {
  FabricRoute route;
  const auto between =
      from.host == to.host ? std::vector<int>{} : platform_route(platform_, from.host, to.host);
  if (!between) return route;
  route.links.push_back(cable(from, Out));
  for (const int id : *between) {
    const PlatformLink& link = platform_.links[static_cast<std::size_t>(id)];
    const bool is_known = std::ranges::find(route.links, first_link() + id) != route.links.end();
    if (is_known) continue;
    route.latency += link.latency;
    if (!link.is_fat) route.links.push_back(first_link() + id);
  }
  route.links.push_back(cable(to, In));
  return route;
}

/// Returns the rate if each host of one half sends to one of the other half on all its NICs; each flow gets its share
/// of its most loaded link.
BytesPerSecond PlatformFabric::between_halves() const {
  const int half = nhosts() / 2;
  std::vector<double> users(static_cast<std::size_t>(tier_starts().back()));
  std::vector<std::pair<double, std::vector<int>>> flows;
  for (int host = 0; host < half; ++host) {
    double nics = 0;
    for (int nic = 0; nic < nics_of(host); ++nic) nics += rate_of_nic({host, nic}).value;
    FabricRoute route = find_route({host, 0}, {host + half, 0}, 0);
    std::erase_if(route.links, [&](int id) { return id < first_link(); });
    for (const int id : route.links) ++users[static_cast<std::size_t>(id)];
    flows.emplace_back(nics, std::move(route.links));
  }
  double all = 0;
  for (const auto& [nics, links] : flows) {
    double rate = nics;
    for (const int id : links) {
      rate = std::min(rate, wire(id).rate.value / users[static_cast<std::size_t>(id)]);
    }
    all += rate;
  }
  return {all};
}

FabricShape PlatformFabric::shape() const {
  FabricShape shape;
  shape.hosts = nhosts();
  FabricTier nics{.name = "NIC - zone", .rate = fastest_nic()};
  for (int host = 0; host < nhosts(); ++host) nics.cables += nics_of(host);
  FabricTier links{.name = "link", .rate = {}};
  std::vector<int> hosts_of(platform_.zones.size()), links_of(platform_.zones.size());
  std::vector<std::pair<double, double>> rates(platform_.zones.size());  // lowest and highest rate
  for (int host = 0; host < nhosts(); ++host) ++hosts_of[static_cast<std::size_t>(zone_of(host))];
  for (const PlatformLink& link : platform_.links) {
    const auto zone = static_cast<std::size_t>(link.zone);
    const double rate = link.rate.value;
    auto& [least, most] = rates[zone];
    least = links_of[zone]++ == 0 ? rate : std::min(least, rate);
    most = std::max(most, rate);
    links.rate = std::max(links.rate, link.rate);
  }
  links.cables = std::ssize(platform_.links);
  shape.tiers = {std::move(nics), std::move(links)};
  shape.levels.push_back(
      {"zone", std::ssize(platform_.zones),
       plural(static_cast<std::size_t>(platform_.nrouters), "router", "routers") + " in all"});
  for (std::size_t i = 0; i < platform_.zones.size() && i < kMostPartsShown; ++i) {
    const PlatformZone& zone = platform_.zones[i];
    std::string text = fmt::format("zone {} {}: {}", i, zone.name, to_string(zone.kind));
    if (hosts_of[i] > 0) {
      text += ", " + plural(static_cast<std::size_t>(hosts_of[i]), "host", "hosts");
    }
    if (links_of[i] > 0) {
      text +=
          fmt::format(", {} of {}", plural(static_cast<std::size_t>(links_of[i]), "link", "links"),
                      rates_text(rates[i].first, rates[i].second));
    }
    shape.parts.push_back(std::move(text));
  }
  if (platform_.zones.size() > kMostPartsShown) {
    shape.parts.push_back(fmt::format("and {} more", platform_.zones.size() - kMostPartsShown));
  }
  shape.bisection = between_halves();
  return shape;
}

}  // namespace

Result<std::unique_ptr<const Fabric>> make_platform_fabric(FabricSettings settings,
                                                           std::vector<FabricHosts> hosts) {
  if (settings.platform == nullptr) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: its platform was not read", settings.where),
                 "give its file to load_cluster()"};
  }
  auto fabric = std::make_unique<PlatformFabric>(std::move(settings), std::move(hosts));
  RINGSIDE_TRY(fabric->check());
  return Result<std::unique_ptr<const Fabric>>{std::move(fabric)};
}

}  // namespace ringside
