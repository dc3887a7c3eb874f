#include "sim/simgrid/platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>

#include "sim/merge_links.h"
#include "sim/simgrid/simgrid_words.h"

namespace ringside {
namespace {

namespace sg4 = simgrid::s4u;
namespace routing = simgrid::kernel::routing;

constexpr double kHostFlops = 1e9;  // hosts compute nothing; SimGrid requires a value

std::uint64_t key_of(const routing::NetPoint* from, const routing::NetPoint* to) {
  return (static_cast<std::uint64_t>(from->id()) << 32) | static_cast<std::uint64_t>(to->id());
}

}  // namespace

/// One zone with a route for each pair of hosts that has one; SimGrid's full zone would keep a table of all pairs.
class SimgridPlatform::Routes : public routing::NetZoneImpl {
 public:
  Routes() : NetZoneImpl("ringside") {}

  using Links = std::vector<simgrid::kernel::resource::StandardLinkImpl*>;
  std::unordered_map<std::uint64_t, Links> links_of;

  void get_local_route(const routing::NetPoint* from, const routing::NetPoint* to,
                       routing::Route* into, double* /*latency*/) override {
    const auto found = links_of.find(key_of(from, to));
    if (found != links_of.end()) into->link_list_ = found->second;
  }
};

SimgridPlatform::SimgridPlatform() : zone_(new Routes) {
  // SimGrid 4 has a root before there is any zone; in SimGrid 3 the first zone is the root.
  auto* const root = sg4::Engine::get_instance()->get_netzone_root()->get_impl();
  if (root != zone_) zone_->set_parent(root);
}

sg4::Host* SimgridPlatform::add_host() {
  return ringside::add_host(*zone_->get_iface(), fmt::format("host{}", hosts_++), kHostFlops)
      ->seal();
}

void SimgridPlatform::add_route(const sg4::Host* from, const sg4::Host* to,
                                std::vector<int> links) {
  routes_[key_of(from->get_netpoint(), to->get_netpoint())] = std::move(links);
}

void SimgridPlatform::finish(const SimNetwork& network) {
  // In the order of the hosts, so that equal requests make equal platforms.
  std::vector<std::uint64_t> keys;
  keys.reserve(routes_.size());
  for (const auto& [key, links] : routes_) keys.push_back(key);
  std::ranges::sort(keys);
  std::vector<std::vector<int>> routes;
  routes.reserve(keys.size());
  for (const std::uint64_t key : keys) routes.push_back(std::move(routes_[key]));
  const MergedLinks merged = merge_links(routes, network);
  std::vector<simgrid::kernel::resource::StandardLinkImpl*> made;
  made.reserve(merged.rates.size());
  for (std::size_t i = 0; i < merged.rates.size(); ++i) {
    made.push_back(
        add_link(*zone_->get_iface(), fmt::format("link{}", merged.ids[i]), merged.rates[i].value)
            ->set_latency(0)
            ->seal()
            ->get_impl());
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Routes::Links& list = zone_->links_of[keys[i]];
    for (const int link : merged.routes[i]) list.push_back(made[static_cast<std::size_t>(link)]);
  }
  zone_->get_iface()->seal();
}

}  // namespace ringside
