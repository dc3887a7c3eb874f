#include <algorithm>
#include <queue>

#include "sim/fabric/platform.h"

namespace ringside {
namespace {

// Maximum hops between gateways, because zones may refer to each other endlessly.
constexpr int kMostHops = 100'000;

/// A search for one route. The route of a zone joins two of its children; if these are zones, further searches join their
/// gateways with the points within.
class RouteSearch {
 public:
  explicit RouteSearch(const Platform& platform) : platform_(platform) {}

  /// Appends the links from one point to another.
  /// returns  false: there is no route, or it has too many hops; `links` may have a part of it
  bool search(int from, int to, std::vector<int>& links) {
    if (++hops_ > kMostHops) return false;
    if (from == to) return true;
    const auto [zone, near, far] = meet(from, to);
    if (zone < 0) return false;
    std::optional<PlatformHop> hop = local(zone, near, far);
    if (!hop) return false;
    if (hop->out >= 0 && near != from && !search(from, hop->out, links)) return false;
    links.insert(links.end(), hop->links.begin(), hop->links.end());
    return hop->in < 0 || far == to || search(hop->in, to, links);
  }

 private:
  /// The innermost zone that contains both points, and its children that contain each of them.
  struct Meeting {
    int zone = -1;  ///< -1: no zone's route joins them
    int near = -1;
    int far = -1;
  };

  [[nodiscard]] const PlatformPoint& point(int number) const {
    return platform_.points[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] const PlatformZone& zone(int number) const {
    return platform_.zones[static_cast<std::size_t>(number)];
  }

  [[nodiscard]] Meeting meet(int a, int b) const {
    const auto depth = [this](int at) {
      return point(at).zone < 0 ? -1 : zone(point(at).zone).depth;
    };
    const auto out = [this](int at) { return zone(point(at).zone).point; };
    while (depth(a) > depth(b)) a = out(a);
    while (depth(b) > depth(a)) b = out(b);
    while (depth(a) >= 0 && point(a).zone != point(b).zone) {
      a = out(a);
      b = out(b);
    }
    // If one contains the other, no route of a zone joins them.
    if (depth(a) < 0 || a == b) return {};
    return {point(a).zone, a, b};
  }

  /// Returns the route of a zone between two of its children.
  [[nodiscard]] std::optional<PlatformHop> local(int number, int from, int to) {
    const PlatformZone& of = zone(number);
    switch (of.kind) {
      case ZoneKind::None:
        return std::nullopt;
      case ZoneKind::Full:
        return written(of, from, to);
      case ZoneKind::Shortest:
        return shortest(of, from, to);
      case ZoneKind::Star:
        return over_hub(of, from, to);
      case ZoneKind::FatTree:
      case ZoneKind::Torus:
      case ZoneKind::Dragonfly:
        break;
    }
    const auto is_router = [this](int at) { return point(at).kind == PlatformPoint::Kind::Router; };
    if (is_router(from) || is_router(to)) return PlatformHop{};
    return PlatformHop{.links = route_in_grid(of, point(from).index - of.first_host,
                                              point(to).index - of.first_host)};
  }

  [[nodiscard]] static const PlatformHop* find(const PlatformZone& of, int from, int to) {
    const auto row = of.hops.find(from);
    if (row == of.hops.end()) return nullptr;
    const auto hop = row->second.find(to);
    return hop == row->second.end() ? nullptr : &hop->second;
  }

  [[nodiscard]] static std::optional<PlatformHop> written(const PlatformZone& of, int from,
                                                          int to) {
    const PlatformHop* const hop = find(of, from, to);
    if (hop == nullptr) return std::nullopt;
    return *hop;
  }

  /// Returns a shortest path by number of links; among equal ones, the first found.
  /// source  Dijkstra, Numer. Math. 1 (1959)
  [[nodiscard]] std::optional<PlatformHop> shortest(const PlatformZone& of, int from, int to) {
    using Entry = std::pair<std::size_t, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
    std::map<int, std::pair<std::size_t, int>> best{
        {from, {0, from}}};  // number of links, and the predecessor
    next.emplace(0, from);
    while (!next.empty()) {
      const auto [length, at] = next.top();
      next.pop();
      if (at == to) break;
      if (length > best[at].first) continue;
      const auto row = of.hops.find(at);
      if (row == of.hops.end()) continue;
      for (const auto& [beyond, hop] : row->second) {
        const std::size_t there = length + hop.links.size();
        const auto known = best.find(beyond);
        if (known != best.end() && known->second.first <= there) continue;
        best[beyond] = {there, at};
        next.emplace(there, beyond);
      }
    }
    if (!best.contains(to)) return std::nullopt;
    std::vector<const PlatformHop*> hops;
    for (int at = to; at != from; at = best[at].second) {
      hops.push_back(find(of, best[at].second, at));
    }
    std::ranges::reverse(hops);
    PlatformHop whole{.links = {}, .out = hops.front()->out, .in = hops.back()->in};
    for (std::size_t i = 0; i < hops.size(); ++i) {
      // A zone is crossed from its entry gateway to its exit gateway.
      if (i > 0 && hops[i]->out >= 0 && hops[i - 1]->in >= 0 &&
          !search(hops[i - 1]->in, hops[i]->out, whole.links)) {
        return std::nullopt;
      }
      whole.links.insert(whole.links.end(), hops[i]->links.begin(), hops[i]->links.end());
    }
    return whole;
  }

  [[nodiscard]] static std::optional<PlatformHop> over_hub(const PlatformZone& of, int from,
                                                           int to) {
    const auto out = of.spokes.find(from), in = of.spokes.find(to);
    if (out == of.spokes.end() || in == of.spokes.end()) return std::nullopt;
    PlatformHop hop{.links = out->second.up, .out = out->second.gateway, .in = in->second.gateway};
    hop.links.insert(hop.links.end(), in->second.down.begin(), in->second.down.end());
    return hop;
  }

  const Platform& platform_;
  int hops_ = 0;
};

}  // namespace

std::optional<std::vector<int>> platform_route(const Platform& platform, int from, int to) {
  std::vector<int> links;
  const auto point = [&](int host) { return platform.hosts[static_cast<std::size_t>(host)].point; };
  if (!RouteSearch(platform).search(point(from), point(to), links)) return std::nullopt;
  return links;
}

const char* to_string(ZoneKind kind) {
  switch (kind) {
    case ZoneKind::None:
      return "no routes";
    case ZoneKind::Full:
      return "routes as written";
    case ZoneKind::Shortest:
      return "shortest routes";
    case ZoneKind::Star:
      return "star";
    case ZoneKind::FatTree:
      return "fat tree";
    case ZoneKind::Torus:
      return "torus";
    case ZoneKind::Dragonfly:
      break;
  }
  return "dragonfly";
}

}  // namespace ringside
