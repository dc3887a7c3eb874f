#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "engine/topology/sources/host_source.h"
#include "sim/fabric/kinds.h"
#include "sim/fabric/platform_reader.h"

namespace ringside {
namespace {

constexpr const char* kNodeProperty = "ringside_node";
constexpr int kMostDepth = 32;  // nesting depth of zones

}  // namespace

Result<Platform> PlatformReader::read(const XmlElement& root) {
  RINGSIDE_TRY(root.check_attributes());
  RINGSIDE_TRY(const std::string version, root.text("version", "4.1"));
  if (version != "4" && version != "4.0" && version != "4.1") {
    return root.bad(fmt::format("version {} of SimGrid's platforms", version),
                    "simgrid_update_xml makes a 4.1 of it");
  }
  constexpr std::string_view kInside[] = {"zone", "AS", "cluster", "config"};
  RINGSIDE_TRY(const auto children, root.children(kInside));
  for (const XmlElement& child : children) {
    if (child.name() == "config") continue;  // configures SimGrid's own run
    if (!platform_.zones.empty()) {
      return child.bad("a second zone on the outside", "put both into a <zone>");
    }
    RINGSIDE_TRY(read_zone(child, -1, {}));
  }
  if (platform_.hosts.empty()) return root.bad("no host in it", "add <host id=... speed=.../>");
  RINGSIDE_TRY(read_all_routes());
  return std::move(platform_);
}

Result<int> PlatformReader::add_point(const XmlElement& element, Kind kind, const std::string& name,
                                      int in) {
  const int number = static_cast<int>(platform_.points.size());
  if (!points_.emplace(name, number).second) {
    return element.bad(fmt::format("the name {} appears twice", name),
                       "give each an id of its own");
  }
  int index = static_cast<int>(platform_.zones.size());
  if (kind == Kind::Host) index = static_cast<int>(platform_.hosts.size());
  if (kind == Kind::Router) index = platform_.nrouters++;
  platform_.points.push_back({kind, name, in, index});
  return number;
}

Result<int> PlatformReader::add_host(const XmlElement& element, const std::string& name, int in,
                                     const std::string& node) {
  if (platform_.hosts.size() == kMostFabricHosts) {
    return element.bad(fmt::format("more than {} hosts", kMostFabricHosts), "give fewer");
  }
  RINGSIDE_TRY(const int number, add_point(element, Kind::Host, name, in));
  platform_.hosts.push_back({name, number, node, place(element)});
  return number;
}

Status PlatformReader::add_link(const XmlElement& element, const std::string& name,
                                PlatformLink link, Sharing sharing) {
  if (platform_.links.size() + 2 > kMostPlatformLinks) {
    return element.bad(fmt::format("more than {} links", kMostPlatformLinks), "give fewer");
  }
  const int first = static_cast<int>(platform_.links.size());
  const bool is_split = sharing == Sharing::SplitDuplex;
  if (!links_.emplace(name, LinkName{first, first + (is_split ? 1 : 0)}).second) {
    return element.bad(fmt::format("the link {} appears twice", name),
                       "give each an id of its own");
  }
  link.is_fat = sharing == Sharing::FatPipe;
  link.where = place(element);
  link.from = link.to = {{"zone", link.zone}};
  link.name = name + (is_split ? " up" : "");
  platform_.links.push_back(link);
  if (!is_split) return {};
  link.name = name + " down";
  platform_.links.push_back(std::move(link));
  return {};
}

Status PlatformReader::refuse(const XmlElement& element, std::span<const char* const> keys,
                              const char* help) {
  for (const char* const key : keys) {
    if (!element.text_or_empty(key).empty()) {
      return element.bad(fmt::format("{} of <{}> is not supported", key, element.name()), help);
    }
  }
  return {};
}

Result<std::string> PlatformReader::node_of(const XmlElement& element, const std::string& outside,
                                            std::span<const std::string_view> inside) {
  std::string node = outside;
  RINGSIDE_TRY(const auto children, element.children(inside));
  for (const XmlElement& child : children) {
    if (child.name() != "prop" || child.text_or_empty("id") != kNodeProperty) continue;
    RINGSIDE_TRY(node, child.text("value", "dgx-h100"));
  }
  return node;
}

Status PlatformReader::read_zone(const XmlElement& element, int in, const std::string& outside) {
  if (element.name() == "cluster") return read_cluster_zone(element, in, outside);
  RINGSIDE_TRY(element.check_attributes());
  constexpr std::string_view kInside[] = {"zone",      "AS",      "cluster",  "cabinet",   "host",
                                          "router",    "link",    "backbone", "host_link", "route",
                                          "zoneRoute", "ASroute", "prop"};
  RINGSIDE_TRY(const std::string name, element.text("id", "zone0"));
  RINGSIDE_TRY(const std::string routing, element.text("routing", "Full"));
  struct Word {
    std::string_view name;
    ZoneKind kind;
  };
  constexpr Word kWords[] = {
      {"Full", ZoneKind::Full},         {"Floyd", ZoneKind::Shortest},
      {"Dijkstra", ZoneKind::Shortest}, {"DijkstraCache", ZoneKind::Shortest},
      {"Star", ZoneKind::Star},         {"Cluster", ZoneKind::Star},
      {"None", ZoneKind::None},         {"Empty", ZoneKind::None}};
  const auto word = std::ranges::find(kWords, routing, &Word::name);
  if (word == std::end(kWords)) {
    std::vector<std::string_view> known;
    for (const Word& one : kWords) known.push_back(one.name);
    return element.bad(fmt::format("routing=\"{}\" is not supported", routing),
                       suggestion(routing, known));
  }
  RINGSIDE_TRY(const int number, open_zone(element, name, word->kind, in));
  RINGSIDE_TRY(const std::string node, node_of(element, outside, kInside));
  RINGSIDE_TRY(const auto children, element.children(kInside));
  bool has_hosts = false, has_zones = false;
  std::vector<XmlElement> written;
  for (const XmlElement& child : children) {
    const std::string_view what = child.name();
    if (what == "zone" || what == "AS" || what == "cluster") {
      has_zones = true;
      RINGSIDE_TRY(read_zone(child, number, node));
    } else if (what == "host") {
      has_hosts = true;
      RINGSIDE_TRY(read_host(child, number, node));
    } else if (what == "cabinet") {
      has_hosts = true;
      RINGSIDE_TRY(read_cabinet(child, number, node));
    } else if (what == "router") {
      RINGSIDE_TRY(const std::string id, child.text("id", "router0"));
      RINGSIDE_TRY(const int router, add_point(child, Kind::Router, id, number));
      if (zone(number).kind == ZoneKind::Star) zone(number).spokes[router];
    } else if (what == "link" || what == "backbone") {
      RINGSIDE_TRY(read_link(child, number));
    } else if (what != "prop") {
      written.push_back(child);
    }
  }
  if (has_hosts && has_zones) {
    return element.bad("hosts and zones in one zone", "put the hosts into a zone of their own");
  }
  routes_.push_back({number, std::move(written)});
  return {};
}

Result<int> PlatformReader::open_zone(const XmlElement& element, const std::string& name,
                                      ZoneKind kind, int in) {
  const int depth = in < 0 ? 0 : zone(in).depth + 1;
  if (depth == kMostDepth) {
    return element.bad(fmt::format("zones nested deeper than {}", kMostDepth), "flatten them");
  }
  RINGSIDE_TRY(const int at, add_point(element, Kind::Zone, name, in));
  PlatformZone opened;
  opened.kind = kind;
  opened.name = name;
  opened.point = at;
  opened.depth = depth;
  platform_.zones.push_back(std::move(opened));
  backbones_.emplace_back();
  return static_cast<int>(platform_.zones.size()) - 1;
}

Status PlatformReader::read_host(const XmlElement& element, int in, const std::string& outside) {
  RINGSIDE_TRY(element.check_attributes());
  constexpr std::string_view kInside[] = {"prop", "disk", "mount"};
  RINGSIDE_TRY(const std::string name, element.text("id", "host0"));
  constexpr const char* kNot[] = {"state_file"};
  RINGSIDE_TRY(refuse(element, kNot, "a host here is always up"));
  RINGSIDE_TRY(const std::string node, node_of(element, outside, kInside));
  RINGSIDE_TRY(add_host(element, name, in, node));
  return {};
}

Status PlatformReader::read_link(const XmlElement& element, int in) {
  RINGSIDE_TRY(element.check_attributes());
  constexpr std::string_view kInside[] = {"prop"};
  RINGSIDE_TRY(element.children(kInside));
  constexpr const char* kNot[] = {"bandwidth_file", "latency_file", "state_file",
                                  "availability_file"};
  RINGSIDE_TRY(refuse(element, kNot, "a link here has one rate: give bandwidth and latency"));
  RINGSIDE_TRY(const std::string name, element.text("id", "link0"));
  RINGSIDE_TRY(const BytesPerSecond rate, platform_rate(element, "bandwidth"));
  RINGSIDE_TRY(const Seconds latency, platform_latency(element, "latency"));
  RINGSIDE_TRY(const Sharing sharing, platform_sharing(element, "sharing_policy", Sharing::Shared));
  if (element.name() == "backbone") {
    if (zone(in).kind != ZoneKind::Star) {
      return element.bad("a backbone in a zone without a hub", "give the zone routing=\"Cluster\"");
    }
    if (sharing == Sharing::SplitDuplex) {
      return element.bad("a backbone of two directions", "give it SHARED or FATPIPE");
    }
    backbones_[static_cast<std::size_t>(in)] = {static_cast<int>(platform_.links.size())};
  }
  return add_link(element, name, {.name = {}, .rate = rate, .latency = latency, .zone = in},
                  sharing);
}

bool is_platform_text(std::string_view text) { return xml_root_name(text) == "platform"; }

Result<Platform> parse_platform(std::string_view text, const std::string& where) {
  const XmlSource source(text, where);
  pugi::xml_document document;
  RINGSIDE_TRY(
      const XmlElement root,
      open_xml(document, text, source, "platform",
               "SimGrid's platforms open with <platform version=\"4.1\">", XmlDoctype::Skipped));
  return PlatformReader(where).read(root);
}

}  // namespace ringside
