#include "sim/simgrid/platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>

#include "sim/simgrid/simgrid_words.h"

namespace ringside {
namespace {

namespace sg4 = simgrid::s4u;
namespace routing = simgrid::kernel::routing;

constexpr double kHostFlops = 1e9;  // nothing computes; SimGrid wants a number

std::uint64_t key_of(const routing::NetPoint* from, const routing::NetPoint* to) {
  return (static_cast<std::uint64_t>(from->id()) << 32) | static_cast<std::uint64_t>(to->id());
}

/// A number that stands for the route in the sum of a set of routes.
/// source  the last steps of splitmix64
std::uint64_t scattered(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

}  // namespace

/// One zone with a route for each pair that has one: SimGrid's full zone keeps a table of all pairs.
class Platform::Routes : public routing::NetZoneImpl {
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

Platform::Platform() : zone_(new Routes) {
  // SimGrid 4 has a root before there is any zone; for SimGrid 3 the first zone is the root.
  auto* const root = sg4::Engine::get_instance()->get_netzone_root()->get_impl();
  if (root != zone_) zone_->set_parent(root);
}

sg4::Host* Platform::add_host() {
  return ringside::add_host(*zone_->get_iface(), fmt::format("host{}", hosts_++), kHostFlops)
      ->seal();
}

void Platform::add_route(const sg4::Host* from, const sg4::Host* to, std::vector<int> links) {
  routes_[key_of(from->get_netpoint(), to->get_netpoint())] = std::move(links);
}

void Platform::finish(const SimNetwork& network) {
  std::unordered_map<int, std::uint64_t> sets;  // by link: the sum of the routes that it is on
  for (const auto& [key, links] : routes_) {
    for (const int link : links) sets[link] += scattered(key + 1);
  }
  std::unordered_map<std::uint64_t, double> rates;  // of each set: the narrowest link's
  for (const auto& [link, set] : sets) {
    const double rate = network.link(link).rate.value;
    const auto [place, is_first] = rates.try_emplace(set, rate);
    if (!is_first) place->second = std::min(place->second, rate);
  }
  // In the order of links, so that the same request makes the same platform.
  std::vector<int> ids;
  ids.reserve(sets.size());
  for (const auto& [link, set] : sets) ids.push_back(link);
  std::ranges::sort(ids);
  std::unordered_map<std::uint64_t, simgrid::kernel::resource::StandardLinkImpl*> made;
  for (const int id : ids) {
    auto& link = made[sets[id]];
    if (link != nullptr) continue;
    link = add_link(*zone_->get_iface(), fmt::format("link{}", id), rates[sets[id]])
               ->set_latency(0)
               ->seal()
               ->get_impl();
  }
  for (const auto& [key, links] : routes_) {
    Routes::Links& list = zone_->links_of[key];
    for (const int id : links) {
      auto* const link = made[sets[id]];
      if (std::ranges::find(list, link) == list.end()) list.push_back(link);
    }
  }
  zone_->get_iface()->seal();
}

}  // namespace ringside
