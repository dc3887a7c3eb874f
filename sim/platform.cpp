#include "sim/platform.h"

#include <fmt/format.h>

namespace ringside {
namespace {

namespace sg4 = simgrid::s4u;

constexpr double kHostFlops = 1e9;  // nothing computes; SimGrid wants a number

/// One direction of traffic in and out of a port.
struct Port {
  sg4::Link* up;
  sg4::Link* down;
};

Port make_port(sg4::NetZone* zone, const std::string& name, BytesPerSecond rate) {
  return {zone->create_link(name + "_up", rate.value)->set_latency(0)->seal(),
          zone->create_link(name + "_down", rate.value)->set_latency(0)->seal()};
}

void add_one_way(sg4::NetZone* zone, simgrid::kernel::routing::NetPoint* from,
                 simgrid::kernel::routing::NetPoint* to, std::vector<sg4::LinkInRoute> links) {
  zone->add_route(from, to, nullptr, nullptr, links, false);
}

/// Ranks around one switch, each by one port: a star needs neither a table of all pairs nor, for each
/// chunk, a route pieced together from several zones.
std::vector<sg4::Host*> make_star(int ranks, BytesPerSecond rate) {
  std::vector<sg4::Host*> hosts;
  sg4::NetZone* zone = sg4::create_star_zone("switch");
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string name = fmt::format("rank{}", rank);
    sg4::Host* host = zone->create_host(name, kHostFlops)->seal();
    const Port port = make_port(zone, name, rate);
    add_one_way(zone, host->get_netpoint(), nullptr, {sg4::LinkInRoute(port.up)});
    add_one_way(zone, nullptr, host->get_netpoint(), {sg4::LinkInRoute(port.down)});
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

/// One of several nodes, a zone of its own: GPU to GPU over the GPUs' links, GPU to router over a NIC.
void make_node(sg4::NetZone* fabric, const NodeType& node, int index,
               std::vector<sg4::Host*>& hosts) {
  sg4::NetZone* zone = sg4::create_full_zone(fmt::format("node{}", index));
  zone->set_parent(fabric);
  auto* router = zone->create_router(fmt::format("router{}", index));
  std::vector<Port> nics;
  for (int nic = 0; nic < node.nics(); ++nic) {
    nics.push_back(make_port(zone, fmt::format("node{}_nic{}", index, nic), node.nic_bandwidth()));
  }
  std::vector<Port> ports;
  const std::size_t first = hosts.size();
  for (int gpu = 0; gpu < node.gpus; ++gpu) {
    const std::string name = fmt::format("node{}_gpu{}", index, gpu);
    hosts.push_back(zone->create_host(name, kHostFlops)->seal());
    ports.push_back(make_port(zone, name, node.gpu_link));
    const Port& nic = nics[static_cast<std::size_t>(node.nic_of(gpu))];
    auto* const gpu_point = hosts.back()->get_netpoint();
    add_one_way(zone, gpu_point, router, {sg4::LinkInRoute(nic.up)});
    add_one_way(zone, router, gpu_point, {sg4::LinkInRoute(nic.down)});
  }
  for (std::size_t a = 0; a < ports.size(); ++a) {
    for (std::size_t b = 0; b < ports.size(); ++b) {
      if (a == b) continue;
      add_one_way(zone, hosts[first + a]->get_netpoint(), hosts[first + b]->get_netpoint(),
                  {sg4::LinkInRoute(ports[a].up), sg4::LinkInRoute(ports[b].down)});
    }
  }
  zone->seal();
  fabric->add_route(zone->get_netpoint(), nullptr, router, nullptr, std::vector<sg4::LinkInRoute>{},
                    true);
}

}  // namespace

std::vector<sg4::Host*> make_platform(const Cluster& cluster) {
  const NodeType& node = cluster.node;
  if (cluster.nodes == 1) return make_star(node.gpus, node.gpu_link);
  if (node.gpus == 1) return make_star(cluster.nodes, node.nic_bandwidth());
  std::vector<sg4::Host*> hosts;
  sg4::NetZone* fabric = sg4::create_star_zone("fabric");
  for (int index = 0; index < cluster.nodes; ++index) make_node(fabric, node, index, hosts);
  fabric->seal();
  return hosts;
}

}  // namespace ringside
