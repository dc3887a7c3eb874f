#include "gui/model/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

#include "base/text.h"

namespace ringside::gui {
namespace {

using PlaceKind = MachinePlace::Kind;

/// `node 3: GPU 0 -> NVSwitch`: a link's name consists of its ends.
struct LinkEnds {
  std::int32_t node = -1;
  std::string from, to;
};

std::optional<LinkEnds> ends_of(std::string_view name) {
  LinkEnds ends;
  if (name.starts_with("node ")) {
    const auto colon = name.find(": ");
    const auto node = parse_int(name.substr(5, colon == std::string_view::npos ? 0 : colon - 5));
    if (!node) return std::nullopt;
    ends.node = static_cast<std::int32_t>(*node);
    name.remove_prefix(colon + 2);
  }
  const auto arrow = name.find(" -> ");
  if (arrow == std::string_view::npos) return std::nullopt;  // a GPU's link of one channel
  // The limit of both directions together of a host bridge, whose own link is also there.
  if (name.ends_with(", both ways")) return std::nullopt;
  ends.from = name.substr(0, arrow);
  ends.to = name.substr(arrow + 4);
  return ends;
}

PlaceKind place_kind_of(std::int32_t node, std::string_view name) {
  if (node < 0) return PlaceKind::Fabric;
  if (name.starts_with("GPU ")) return PlaceKind::Gpu;
  if (name.starts_with("NVSwitch")) return PlaceKind::NvSwitch;
  if (name.starts_with("PCI ")) return PlaceKind::Pci;
  if (name.starts_with("CPU ")) return PlaceKind::Cpu;
  return PlaceKind::Nic;
}

/// Returns whether it is a NIC, whose port has a name of its own.
bool is_card(std::string_view name) { return name.starts_with("NIC "); }
/// Returns whether it is the fabric's name for a port.
bool is_port(std::string_view name) { return name.starts_with("host "); }

}  // namespace

class Machine::Maker {
 public:
  Maker(const Job& job, const SimNetwork& network) : job_(job), network_(network) {}

  Machine run(const Replay& replay) {
    for (std::size_t node = 0; node < job_.nodes.size(); ++node) add_node(node);
    for (const auto& [from, to, channel] : messages_of(replay)) {
      if (from == to || std::max(from, to) >= job_.nranks()) continue;
      add_way(from, to, channel);
    }
    return std::move(made_);
  }

 private:
  std::uint32_t place(PlaceKind kind, std::int32_t node, const std::string& name) {
    const auto [found, is_new] = numbers_.try_emplace({node, name}, made_.places_.size());
    if (is_new) made_.places_.push_back({.kind = kind, .node = node, .name = name});
    return static_cast<std::uint32_t>(found->second);
  }

  void add_node(std::size_t node) {
    const JobNode& here = job_.nodes[node];
    const System& system = job_.systems[static_cast<std::size_t>(here.report)];
    const auto number = static_cast<std::int32_t>(node);
    made_.node_titles_.push_back(
        system.nhosts > 1
            ? fmt::format("rack {}: one NVLink domain of {} hosts", node, system.nhosts)
            : fmt::format("node {}", node));
    for (std::size_t gpu = 0; gpu < here.ranks.size(); ++gpu) {
      const std::string name = gpu < system.gpus.size()
                                   ? fmt::format("GPU {}", system.gpus[gpu].dev)
                                   : fmt::format("rank {}", here.ranks[gpu]);
      // In a domain of several hosts each has a GPU 0.
      MachinePlace one{
          .kind = PlaceKind::Gpu, .node = number, .rank = here.ranks[gpu], .name = name};
      const auto at = static_cast<std::uint32_t>(made_.places_.size());
      gpu_of_[here.ranks[gpu]] = at;
      const auto [found, is_new] = gpu_named_.try_emplace({number, name}, at);
      if (!is_new) found->second.reset();
      made_.places_.push_back(std::move(one));
    }
    for (const NetInfo& net : system.nets) {
      if (!net.name.empty()) place(PlaceKind::Nic, number, net.name);
    }
  }

  static std::set<Message> messages_of(const Replay& replay) {
    constexpr std::size_t kFew = 4096;         // events of a lane to search: peers repeat
    constexpr std::size_t kMostWays = 50'000;  // further messages are drawn without a path
    std::set<Message> messages;
    std::vector<EventId> others;
    for (std::size_t i = 0; i < replay.lanes().size() && messages.size() < kMostWays; ++i) {
      if (replay.lanes()[i].channel == LaneKey::kCalls) continue;
      const auto events = replay.events(LaneId{static_cast<std::uint32_t>(i)});
      for (const EventId id : events.first(std::min(events.size(), kFew))) {
        const TraceEvent event = replay.event(id);
        if (event.kind != EventKind::Primitive || event.send_peer < 0) continue;
        messages.insert({event.rank, event.send_peer, event.channel});
        others.clear();
        replay.receivers_of(id, others);
        for (const EventId other : others)
          messages.insert({event.rank, replay.event(other).rank, event.channel});
      }
    }
    return messages;
  }

  void add_way(std::int32_t from, std::int32_t to, std::int32_t channel) {
    const SimRoute route = network_.route(Rank{from}, Rank{to}, channel);
    std::vector<std::uint32_t> way{gpu_of_[from]};
    constexpr double kUnknown = std::numeric_limits<double>::infinity();
    double rate = kUnknown;  // of the links to the next place
    double last = kUnknown;  // an ideal network has no limit: use the wire's
    const auto go = [&](std::uint32_t next) {
      if (way.back() == next) return;
      last = rate == kUnknown ? last : rate;
      made_.rates_[{way.back(), next}] = last == kUnknown ? 0 : last;
      way.push_back(next);
      rate = kUnknown;
    };
    // Routes list a NIC's and a node's links together; a message crosses its own node, the fabric, the other node.
    std::vector<std::pair<LinkEnds, double>> links;  // and their rates
    for (const int id : route.links) {
      const SimLink link = network_.link(id);
      if (auto ends = ends_of(link.name)) links.emplace_back(*std::move(ends), link.rate.value);
    }
    const std::int32_t home = made_.places_[way.front()].node;
    std::ranges::stable_sort(links, {}, [&](const auto& link) {
      return link.first.node == home ? 0 : link.first.node < 0 ? 1 : 2;
    });
    for (const auto& [ends, link_rate] : links) {
      arrive(ends, ends.from, go, way);  // where the path enters a node
      rate = std::min(rate, link_rate);
      arrive(ends, ends.to, go, way);
    }
    if (way.size() == 1) return;  // no link has a name, so the path is unknown
    go(gpu_of_[to]);
    set_tiers(way);
    made_.ways_[{from, to, channel}] = std::move(way);
  }

  /// Handles one end of a link.
  template <typename Go>
  void arrive(const LinkEnds& ends, const std::string& name, const Go& go,
              const std::vector<std::uint32_t>& way) {
    if (is_card(name) || is_port(name)) return;
    const PlaceKind kind = place_kind_of(ends.node, name);
    if (kind == PlaceKind::Gpu) {
      const auto named = gpu_named_.find({ends.node, name});
      if (named != gpu_named_.end() && named->second) go(*named->second);
      return;
    }
    const MachinePlace& last = made_.places_[way.back()];
    const bool leaves = last.kind == PlaceKind::Nic && kind == PlaceKind::Nic;
    if (leaves && last.node != ends.node) go(place(PlaceKind::Fabric, -1, "network"));
    go(place(kind, ends.node, name));
  }

  /// Sets the tier of each switch: its least distance from a NIC.
  void set_tiers(const std::vector<std::uint32_t>& way) {
    const auto is_fabric = [&](std::uint32_t at) {
      return made_.places_[at].kind == PlaceKind::Fabric;
    };
    const auto first = std::ranges::find_if(way, is_fabric);
    const auto last = std::find_if_not(first, way.end(), is_fabric);
    const auto count = last - first;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const int tier = static_cast<int>(std::min(i, count - 1 - i)) + 1;
      int& known = made_.places_[first[i]].tier;
      known = known == 0 ? tier : std::min(known, tier);
    }
  }

  const Job& job_;
  const SimNetwork& network_;
  std::map<std::pair<std::int32_t, std::string>, std::size_t> numbers_;
  std::map<std::int32_t, std::uint32_t> gpu_of_;  ///< [rank]
  /// None: several GPUs have that name.
  std::map<std::pair<std::int32_t, std::string>, std::optional<std::uint32_t>> gpu_named_;
  Machine made_;
};

Machine Machine::make(const Job& job, const SimNetwork& network, const Replay& replay) {
  return Maker(job, network).run(replay);
}

std::span<const std::uint32_t> Machine::way(std::int32_t from, std::int32_t to,
                                            std::int32_t channel) const {
  const auto found = ways_.find({from, to, channel});
  return found == ways_.end() ? std::span<const std::uint32_t>{} : found->second;
}

double Machine::rate(Hop hop) const {
  const auto found = rates_.find(hop);
  return found == rates_.end() ? 0 : found->second;
}

std::string Machine::title_of(std::uint32_t place) const {
  const MachinePlace& one = places_[place];
  return one.node < 0 ? one.name : fmt::format("node {}: {}", one.node, one.name);
}

}  // namespace ringside::gui
