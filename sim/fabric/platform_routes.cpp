#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "sim/fabric/platform_reader.h"

namespace ringside {

Status PlatformReader::read_all_routes() {
  for (const auto& [number, written] : routes_) {
    for (const XmlElement& one : written) {
      RINGSIDE_TRY(one.check_attributes());
      if (one.name() == "host_link") {
        RINGSIDE_TRY(read_host_link(one, number));
      } else {
        RINGSIDE_TRY(read_route(one, number, one.name() != "route"));
      }
    }
    add_backbone(number);
  }
  return {};
}

Result<int> PlatformReader::member(const XmlElement& element, const char* key, int of,
                                   bool is_zone) {
  RINGSIDE_TRY(const std::string name, element.text(key, is_zone ? "zone0" : "host0"));
  const auto found = points_.find(name);
  if (found == points_.end()) return unknown(element, name);
  const PlatformPoint& one = point(found->second);
  if (one.zone != of) {
    return element.bad(fmt::format("{} is not in zone {}", name, zone(of).name),
                       "put the route into its zone, or lead to the zone that contains it");
  }
  if ((one.kind == Kind::Zone) == is_zone) return found->second;
  return element.bad(fmt::format("{} is {} zone", name, is_zone ? "no" : "a"),
                     is_zone ? "a <route> joins hosts and routers"
                             : "a <zoneRoute> joins zones, with gw_src and gw_dst");
}

Error PlatformReader::unknown(const XmlElement& element, const std::string& name) const {
  constexpr std::size_t kMostNames = 20;  // of a platform's many names, to list
  std::vector<std::string_view> known;
  for (const auto& [one, number] : points_) known.push_back(one);
  if (const std::string_view near = nearest_word(name, known); !near.empty()) {
    std::iter_swap(known.begin(), std::ranges::find(known, near));
  }
  known.resize(std::min(known.size(), kMostNames));
  return element.bad(fmt::format("there is no {}", name), suggestion(name, known));
}

Result<int> PlatformReader::gateway(const XmlElement& element, const char* key, int of) {
  RINGSIDE_TRY(const std::string name, element.text(key, "router0"));
  const auto found = points_.find(name);
  if (found == points_.end()) return unknown(element, name);
  int at = found->second;
  while (point(at).zone >= 0 && at != of) at = zone(point(at).zone).point;
  if (at == of && found->second != of && point(found->second).kind != Kind::Zone) {
    return found->second;
  }
  return element.bad(fmt::format("{}: {} is no host or router of {}", key, name, point(of).name),
                     "give one of the zone");
}

void PlatformReader::join(LinkName& link, int from, int to) {
  if (std::exchange(link.has_ends, true)) return;
  PlatformLink& up = platform_.links[static_cast<std::size_t>(link.up)];
  PlatformLink& down = platform_.links[static_cast<std::size_t>(link.down)];
  up.from = down.to = end_of(from);
  up.to = down.from = end_of(to);
}

Result<PlatformReader::ReadHop> PlatformReader::read_hop(const XmlElement& element) {
  ReadHop hop;
  constexpr std::string_view kInside[] = {"link_ctn"};
  RINGSIDE_TRY(const auto children, element.children(kInside));
  for (const XmlElement& child : children) {
    RINGSIDE_TRY(child.check_attributes());
    RINGSIDE_TRY(const std::string name, child.text("id", "link0"));
    const auto found = links_.find(name);
    if (found == links_.end()) {
      std::vector<std::string_view> known;
      for (const auto& [one, link] : links_) {
        if (known.size() < 20) known.push_back(one);
      }
      return child.bad(fmt::format("there is no link {}", name), suggestion(name, known));
    }
    const std::string direction = child.text_or_empty("direction");
    LinkName& link = found->second;
    const bool is_split = link.up != link.down;
    if (!direction.empty() && direction != "UP" && direction != "DOWN" && direction != "NONE") {
      return child.bad(fmt::format("direction=\"{}\"", direction), "UP, DOWN or NONE");
    }
    if (is_split && direction != "UP" && direction != "DOWN") {
      return child.bad(fmt::format("{} has two directions", name),
                       "add direction=\"UP\" or direction=\"DOWN\"");
    }
    append(link, direction == "DOWN", hop.there);
    append(link, direction != "DOWN", hop.back);
    hop.names.push_back(&link);
  }
  std::ranges::reverse(hop.back);
  return hop;
}

Result<bool> PlatformReader::is_symmetrical(const XmlElement& element) {
  const std::string text = element.text_or_empty("symmetrical");
  if (text.empty() || text == "YES" || text == "yes") return true;
  if (text == "NO" || text == "no") return false;
  return element.bad(fmt::format("symmetrical=\"{}\"", text), "YES or NO");
}

Status PlatformReader::read_route(const XmlElement& element, int of, bool is_of_zones) {
  RINGSIDE_TRY(const bool is_both, is_symmetrical(element));
  RINGSIDE_TRY(ReadHop hop, read_hop(element));
  const ZoneKind kind = zone(of).kind;
  if (kind == ZoneKind::None) {
    return element.bad(fmt::format("zone {} has no routes", zone(of).name),
                       "give it routing=\"Full\"");
  }
  if (kind == ZoneKind::Star) return read_spoke(element, of, is_of_zones, is_both, hop);
  RINGSIDE_TRY(const int from, member(element, "src", of, is_of_zones));
  RINGSIDE_TRY(const int to, member(element, "dst", of, is_of_zones));
  PlatformHop there{.links = hop.there}, back{.links = hop.back};
  if (is_of_zones) {
    RINGSIDE_TRY(there.out, gateway(element, "gw_src", from));
    RINGSIDE_TRY(there.in, gateway(element, "gw_dst", to));
    back.out = there.in;
    back.in = there.out;
  }
  if (hop.names.size() == 1 && from != to) join(*hop.names.front(), from, to);
  if (from == to) return {};  // traffic within a host uses no link
  RINGSIDE_TRY(add_hop(element, of, from, to, std::move(there), false));
  if (is_both) return add_hop(element, of, to, from, std::move(back), true);
  return {};
}

Status PlatformReader::add_hop(const XmlElement& element, int of, int from, int to, PlatformHop hop,
                               bool is_back) {
  const auto [at, is_new] = zone(of).hops[from].try_emplace(to, std::move(hop));
  if (is_new) return {};
  return element.bad(fmt::format("a second route from {} to {}{}", point(from).name, point(to).name,
                                 is_back ? " (the opposite direction of a symmetrical route)" : ""),
                     "keep one of them, or give symmetrical=\"NO\"");
}

Status PlatformReader::read_spoke(const XmlElement& element, int of, bool is_of_zones, bool is_both,
                                  const ReadHop& hop) {
  const auto is_named = [&](const char* key) {
    const std::string name = element.text_or_empty(key);
    return !name.empty() && name != "*";
  };
  const bool is_up = is_named("src");
  if (is_up == is_named("dst")) {
    if (is_up && element.text_or_empty("src") == element.text_or_empty("dst")) return {};
    return element.bad("a route of a star has one end, the other is its hub", "remove src or dst");
  }
  RINGSIDE_TRY(const int at, member(element, is_up ? "src" : "dst", of, is_of_zones));
  PlatformZone::Spoke& spoke = zone(of).spokes[at];
  if (is_of_zones) {
    RINGSIDE_TRY(spoke.gateway, gateway(element, is_up ? "gw_src" : "gw_dst", at));
  }
  if (is_up || is_both) spoke.up = is_up ? hop.there : hop.back;
  if (!is_up || is_both) spoke.down = is_up ? hop.back : hop.there;
  if (hop.names.size() == 1) join(*hop.names.front(), at, zone(of).point);
  return {};
}

Status PlatformReader::read_host_link(const XmlElement& element, int of) {
  if (zone(of).kind != ZoneKind::Star) {
    return element.bad("a host_link in a zone without a hub", "give the zone routing=\"Cluster\"");
  }
  RINGSIDE_TRY(const std::string name, element.text("id", "host0"));
  const auto found = points_.find(name);
  if (found == points_.end()) return unknown(element, name);
  if (point(found->second).zone != of) {
    return element.bad(fmt::format("{} is not in zone {}", name, zone(of).name),
                       "put the host_link into its zone");
  }
  PlatformZone::Spoke& spoke = zone(of).spokes[found->second];
  for (const char* const key : {"up", "down"}) {
    RINGSIDE_TRY(const std::string link, element.text(key, "link0"));
    const bool is_down = *key == 'd';
    const int id = link_named(link, is_down);
    if (id < 0) {
      return element.bad(fmt::format("{}: there is no link {}", key, link),
                         "add a <link> with that id to the file");
    }
    (is_down ? spoke.down : spoke.up) = {id};
  }
  return {};
}

int PlatformReader::link_named(const std::string& name, bool is_down) const {
  const auto found = links_.find(name);
  if (found != links_.end()) return is_down ? found->second.down : found->second.up;
  for (const std::string_view end : {"_UP", "_DOWN"}) {
    if (!name.ends_with(end)) continue;
    const auto of = links_.find(name.substr(0, name.size() - end.size()));
    if (of != links_.end()) return end == "_UP" ? of->second.up : of->second.down;
  }
  return -1;
}

}  // namespace ringside
