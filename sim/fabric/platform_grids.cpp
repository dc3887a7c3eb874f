#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "sim/fabric/platform.h"

namespace ringside {
namespace {

enum Direction : int { Up = 0, Down = 1 };
enum Size : std::size_t { Groups, Chassis, Blades, Nodes };

int product(const std::vector<int>& of, std::size_t from, std::size_t to) {
  return std::accumulate(of.begin() + static_cast<std::ptrdiff_t>(from),
                         of.begin() + static_cast<std::ptrdiff_t>(to), 1, std::multiplies<>());
}

// ---- fat tree ----------------------------------------------------------------------------------
// A node of level i (0: a host, else a switch) has a digit for each level, the lowest first: of those below i as many
// values as a child has parents, of the others as a parent has children. A parent differs from its child in digit i
// alone.

int nodes_of_level(const PlatformZone& tree, std::size_t level) {
  return product(tree.ups, 0, level) * product(tree.downs, level, tree.downs.size());
}

/// Returns the link from a node of `level` to its parent whose digit is `parent`.
int tree_link(const PlatformZone& tree, std::size_t level, int child, int parent, int port,
              Direction direction) {
  int before = 0;
  for (std::size_t i = 0; i < level; ++i) {
    before += nodes_of_level(tree, i) * tree.ups[i] * tree.ports[i];
  }
  const int number = before + (child * tree.ups[level] + parent) * tree.ports[level] + port;
  return tree.first_link + number * tree.each + (tree.each == 2 ? direction : 0);
}

/// Replaces one digit of a node's number, in the numbering of the level above or below.
struct Digits {
  int low, digit, high;
};
Digits digits_of(int node, int below, int values) {
  return {node % below, node / below % values, node / below / values};
}
int node_of(const Digits& digits, int below, int values) {
  return digits.low + below * (digits.digit + values * digits.high);
}

std::vector<int> route_in_tree(const PlatformZone& tree, int from, int to) {
  std::vector<int> links;
  const auto holds = [&](std::size_t level, int node) {
    return level > 0 && node / product(tree.ups, 0, level) == to / product(tree.downs, 0, level);
  };
  std::size_t level = 0;
  int at = from;
  for (; !holds(level, at); ++level) {
    const int below = product(tree.ups, 0, level);
    const int parent = to / below % tree.ups[level];
    const int port = to / below / tree.ups[level] % tree.ports[level];
    links.push_back(tree_link(tree, level, at, parent, port, Up));
    Digits digits = digits_of(at, below, tree.downs[level]);
    digits.digit = parent;
    at = node_of(digits, below, tree.ups[level]);
  }
  while (level > 0) {
    --level;
    const int below = product(tree.ups, 0, level);
    Digits digits = digits_of(at, below, tree.ups[level]);
    const int parent = digits.digit;
    digits.digit = to / product(tree.downs, 0, level) % tree.downs[level];
    at = node_of(digits, below, tree.downs[level]);
    links.push_back(tree_link(tree, level, at, parent, from % tree.ports[level], Down));
  }
  return links;
}

// ---- torus -------------------------------------------------------------------------------------

int next_on(int at, int size, int stride, int by) {
  const int place = at / stride % size;
  return at + ((place + by + size) % size - place) * stride;
}

int torus_link(const PlatformZone& torus, int router, std::size_t axis, Direction direction) {
  const int number = router * static_cast<int>(torus.sizes.size()) + static_cast<int>(axis);
  return torus.first_link + number * torus.each + (torus.each == 2 ? direction : 0);
}

std::vector<int> route_in_torus(const PlatformZone& torus, int from, int to) {
  std::vector<int> links;
  int at = from, stride = 1;
  for (std::size_t axis = 0; axis < torus.sizes.size(); ++axis) {
    const int size = torus.sizes[axis];
    const int target = to / stride % size, start = from / stride % size;
    const int ahead = (target - start + size) % size;
    // If both directions are equally long, the position decides, as in TorusZone::get_local_route.
    const bool is_ahead = (target > start && target <= start + size / 2) ||
                          (start > size / 2 && (start + size / 2) % size >= target);
    const int behind = (size - ahead) % size;
    for (int steps = is_ahead ? ahead : behind; steps > 0; --steps) {
      const int next = next_on(at, size, stride, is_ahead ? 1 : -1);
      links.push_back(is_ahead ? torus_link(torus, at, axis, Up)
                               : torus_link(torus, next, axis, Down));
      at = next;
    }
    stride *= size;
  }
  return links;
}

// ---- dragonfly ---------------------------------------------------------------------------------
// Links: of each host to its blade; of each chassis' blades by pairs; of each group's blades of one number by pairs of
// chassis; of groups by pairs, from chassis 0 and the blade that has the other group's number.

struct Fly {
  explicit Fly(const PlatformZone& of)
      : zone(of),
        groups(of.sizes[Groups]),
        chassis(of.sizes[Chassis]),
        blades(of.sizes[Blades]),
        nodes(of.sizes[Nodes]) {}
  const PlatformZone& zone;
  int groups, chassis, blades, nodes;

  [[nodiscard]] static int pairs(int of) { return of * (of - 1) / 2; }
  /// Returns the number of a pair, the lower member first.
  [[nodiscard]] static int pair(int low, int high, int of) {
    return low * of - low * (low + 1) / 2 + high - low - 1;
  }
  [[nodiscard]] int hosts() const { return groups * chassis * blades * nodes; }
  [[nodiscard]] int first_black() const { return hosts() + groups * chassis * pairs(blades); }
  [[nodiscard]] int first_blue() const { return first_black() + groups * blades * pairs(chassis); }
  [[nodiscard]] int all() const { return first_blue() + pairs(groups); }

  [[nodiscard]] int link(int number, bool is_down) const {
    return zone.first_link + number * zone.each + (zone.each == 2 && is_down ? 1 : 0);
  }
  [[nodiscard]] int green(int group, int in, int from, int to) const {
    const int number = hosts() + (group * chassis + in) * pairs(blades) +
                       pair(std::min(from, to), std::max(from, to), blades);
    return link(number, from > to);
  }
  [[nodiscard]] int black(int group, int blade, int from, int to) const {
    const int number =
        first_black() +
        (group * pairs(chassis) + pair(std::min(from, to), std::max(from, to), chassis)) * blades +
        blade;
    return link(number, from > to);
  }
  [[nodiscard]] int blue(int from, int to) const {
    return link(first_blue() + pair(std::min(from, to), std::max(from, to), groups), from > to);
  }
};

struct Seat {
  int group, chassis, blade;
};

std::vector<int> route_in_dragonfly(const PlatformZone& zone, int from, int to) {
  const Fly fly(zone);
  const auto seat = [&](int host) {
    const int blade = host / fly.nodes;
    return Seat{blade / fly.blades / fly.chassis, blade / fly.blades % fly.chassis,
                blade % fly.blades};
  };
  Seat at = seat(from);
  const Seat end = seat(to);
  std::vector<int> links{fly.link(from, false)};
  const auto to_blade = [&](int blade) {
    if (at.blade != blade) links.push_back(fly.green(at.group, at.chassis, at.blade, blade));
    at.blade = blade;
  };
  const auto to_chassis = [&](int chassis) {
    if (at.chassis != chassis) links.push_back(fly.black(at.group, at.blade, at.chassis, chassis));
    at.chassis = chassis;
  };
  if (at.group != end.group) {
    to_blade(end.group);
    to_chassis(0);
    links.push_back(fly.blue(at.group, end.group));
    at = {end.group, 0, at.group};
  }
  to_blade(end.blade);
  to_chassis(end.chassis);
  links.push_back(fly.link(to, true));
  return links;
}

/// Appends the links of one layer.
class Layer {
 public:
  Layer(Platform& platform, int zone, BytesPerSecond rate, Seconds latency,
        const std::string& where)
      : platform_(platform),
        zone_(zone),
        name_(of().name),
        each_(of().each),
        rate_(rate),
        latency_(latency),
        where_(where) {}

  [[nodiscard]] const PlatformZone& of() const {
    return platform_.zones[static_cast<std::size_t>(zone_)];
  }
  [[nodiscard]] FabricEnd host(int number) const { return {{"host", of().first_host + number}}; }
  [[nodiscard]] FabricEnd device(std::string_view word, int number) const {
    return {{"zone", zone_}, {word, number}};
  }

  void add(const std::string& name, const FabricEnd& from, const FabricEnd& to, int times = 1) {
    PlatformLink link{.name = fmt::format("{}: {}", name_, name),
                      .rate = rate_ * times,
                      .latency = latency_,
                      .zone = zone_,
                      .from = from,
                      .to = to,
                      .where = where_};
    if (each_ == 1) {
      platform_.links.push_back(std::move(link));
      return;
    }
    PlatformLink back = link;
    link.name += " up";
    back.name += " down";
    std::swap(back.from, back.to);
    platform_.links.push_back(std::move(link));
    platform_.links.push_back(std::move(back));
  }

 private:
  Platform& platform_;
  int zone_;
  std::string name_;
  int each_;
  BytesPerSecond rate_;
  Seconds latency_;
  const std::string& where_;
};

void lay_tree(Layer& layer) {
  const PlatformZone tree = layer.of();
  int below_all = 0;  // switches of all lower levels
  for (std::size_t level = 0; level < tree.downs.size(); ++level) {
    const int children = nodes_of_level(tree, level);
    const int below = product(tree.ups, 0, level);
    for (int child = 0; child < children; ++child) {
      const FabricEnd from =
          level == 0 ? layer.host(child) : layer.device("switch", below_all - children + child);
      for (int parent = 0; parent < tree.ups[level]; ++parent) {
        Digits digits = digits_of(child, below, tree.downs[level]);
        digits.digit = parent;
        const int above = node_of(digits, below, tree.ups[level]);
        for (int port = 0; port < tree.ports[level]; ++port) {
          layer.add(fmt::format("level {} node {} to {} port {}", level, child, above, port), from,
                    layer.device("switch", below_all + above));
        }
      }
    }
    below_all += nodes_of_level(tree, level + 1);
  }
}

void lay_torus(Layer& layer) {
  const PlatformZone torus = layer.of();
  for (int host = 0; host < torus.nhosts; ++host) {
    int stride = 1;
    for (const int size : torus.sizes) {
      const int next = next_on(host, size, stride, 1);
      layer.add(fmt::format("{} to {}", host, next), layer.host(host), layer.host(next));
      stride *= size;
    }
  }
}

void lay_dragonfly(Layer& layer, const std::vector<int>& multiples) {
  const PlatformZone zone = layer.of();
  const Fly fly(zone);
  const auto blade = [&](int group, int chassis, int number) {
    return layer.device("switch", (group * fly.chassis + chassis) * fly.blades + number);
  };
  for (int host = 0; host < fly.hosts(); ++host) {
    layer.add(fmt::format("host {}", host), layer.host(host),
              layer.device("switch", host / fly.nodes));
  }
  for (int group = 0; group < fly.groups; ++group) {
    for (int chassis = 0; chassis < fly.chassis; ++chassis) {
      for (int low = 0; low < fly.blades; ++low) {
        for (int high = low + 1; high < fly.blades; ++high) {
          layer.add(fmt::format("green, group {} chassis {}: {} to {}", group, chassis, low, high),
                    blade(group, chassis, low), blade(group, chassis, high), multiples[Blades]);
        }
      }
    }
  }
  for (int group = 0; group < fly.groups; ++group) {
    for (int low = 0; low < fly.chassis; ++low) {
      for (int high = low + 1; high < fly.chassis; ++high) {
        for (int at = 0; at < fly.blades; ++at) {
          layer.add(fmt::format("black, group {} blade {}: {} to {}", group, at, low, high),
                    blade(group, low, at), blade(group, high, at), multiples[Chassis]);
        }
      }
    }
  }
  for (int low = 0; low < fly.groups; ++low) {
    for (int high = low + 1; high < fly.groups; ++high) {
      layer.add(fmt::format("blue, {} to {}", low, high), blade(low, 0, high), blade(high, 0, low),
                multiples[Groups]);
    }
  }
}

}  // namespace

std::int64_t links_of_grid(const PlatformZone& zone) {
  // Computed as double, because a file may request any number.
  double all = 0;
  if (zone.kind == ZoneKind::FatTree) {
    for (std::size_t level = 0; level < zone.downs.size(); ++level) {
      double nodes = 1;
      for (std::size_t i = 0; i < zone.downs.size(); ++i) {
        nodes *= i < level ? zone.ups[i] : zone.downs[i];
      }
      all += nodes * zone.ups[level] * zone.ports[level];
    }
  } else if (zone.kind == ZoneKind::Torus) {
    all = static_cast<double>(zone.nhosts) * static_cast<double>(zone.sizes.size());
  } else {
    const double groups = zone.sizes[Groups], chassis = zone.sizes[Chassis],
                 blades = zone.sizes[Blades], nodes = zone.sizes[Nodes];
    all = groups * chassis * blades * nodes + groups * chassis * blades * (blades - 1) / 2 +
          groups * blades * chassis * (chassis - 1) / 2 + groups * (groups - 1) / 2;
  }
  constexpr double kMost = 1e15;
  return static_cast<std::int64_t>(std::min(all, kMost)) * zone.each;
}

void lay_grid(Platform& platform, int zone, BytesPerSecond rate, Seconds latency,
              const std::vector<int>& multiples, const std::string& where) {
  Layer layer(platform, zone, rate, latency, where);
  const ZoneKind kind = layer.of().kind;
  if (kind == ZoneKind::FatTree) lay_tree(layer);
  if (kind == ZoneKind::Torus) lay_torus(layer);
  if (kind == ZoneKind::Dragonfly) lay_dragonfly(layer, multiples);
}

std::vector<int> route_in_grid(const PlatformZone& zone, int from, int to) {
  if (zone.kind == ZoneKind::FatTree) return route_in_tree(zone, from, to);
  if (zone.kind == ZoneKind::Torus) return route_in_torus(zone, from, to);
  return route_in_dragonfly(zone, from, to);
}

}  // namespace ringside
