#pragma once

#include <fmt/format.h>

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/topology/sources/xml_element.h"
#include "sim/fabric/platform.h"
#include "sim/fabric/platform_words.h"

namespace ringside {

/// The link entries that a `<link>` name leads to, by direction.
struct LinkName {
  int up = 0, down = 0;  ///< equal if both directions share one entry
  bool has_ends = false;
};

/// Reads a SimGrid platform element by element: first hosts, links and zones, then the routes.
/// Implemented in platform_xml.cpp (zones, hosts, links), platform_clusters.cpp and
/// platform_routes.cpp.
class PlatformReader {
 public:
  explicit PlatformReader(const std::string& where) { platform_.where = where; }

  /// errors  Corrupt, `where:line: what`, with the fix
  Result<Platform> read(const XmlElement& root);

 private:
  using Kind = PlatformPoint::Kind;

  PlatformZone& zone(int number) { return platform_.zones[static_cast<std::size_t>(number)]; }
  PlatformPoint& point(int number) { return platform_.points[static_cast<std::size_t>(number)]; }
  std::string place(const XmlElement& element) const {
    return fmt::format("{}:{}", platform_.where, element.line());
  }

  // ---- hosts, links, zones --------------------------------------------------------------------

  Result<int> add_point(const XmlElement& element, Kind kind, const std::string& name, int in);

  Result<int> add_host(const XmlElement& element, const std::string& name, int in,
                       const std::string& node);

  Status add_link(const XmlElement& element, const std::string& name, PlatformLink link,
                  Sharing sharing);

  /// Refuses attributes that change over time or that only SimGrid supports.
  static Status refuse(const XmlElement& element, std::span<const char* const> keys,
                       const char* help);

  /// Returns the node type in the properties of an element, or the one given by the enclosing
  /// element.
  Result<std::string> node_of(const XmlElement& element, const std::string& outside,
                              std::span<const std::string_view> inside);

  Status read_zone(const XmlElement& element, int in, const std::string& outside);

  Result<int> open_zone(const XmlElement& element, const std::string& name, ZoneKind kind, int in);

  Status read_host(const XmlElement& element, int in, const std::string& outside);

  Status read_link(const XmlElement& element, int in);

  struct Members {
    std::string prefix, suffix;
    std::vector<int> numbers;
  };
  Result<Members> members_of(const XmlElement& element);

  /// Adds a host at the hub of a star, with a link of its own.
  Status add_spoke(const XmlElement& element, const std::string& name, const std::string& link,
                   int in, const std::string& node, BytesPerSecond rate, Seconds latency,
                   Sharing sharing);

  Status read_cabinet(const XmlElement& element, int in, const std::string& node);

  Status read_cluster_zone(const XmlElement& element, int in, const std::string& outside);

  Status read_backbone(const XmlElement& element, const std::string& name, int in);

  /// Adds the zone's backbone to each route over a hub. A link that appears twice counts once.
  void add_backbone(int number);

  Status read_grid(const XmlElement& element, PlatformZone& grid, std::vector<int>& multiples);

  // ---- routes ---------------------------------------------------------------------------------

  Status read_all_routes();

  Result<int> member(const XmlElement& element, const char* key, int of, bool is_zone);

  [[nodiscard]] Error unknown(const XmlElement& element, const std::string& name) const;

  Result<int> gateway(const XmlElement& element, const char* key, int of);

  void append(const LinkName& link, bool is_down, std::vector<int>& links) const {
    links.push_back(is_down ? link.down : link.up);
  }

  /// Records the ends of a link at its first use.
  void join(LinkName& link, int from, int to);

  FabricEnd end_of(int at) {
    constexpr std::string_view kWords[] = {"host", "router", "zone"};
    return {{kWords[static_cast<std::size_t>(point(at).kind)], point(at).index}};
  }

  struct ReadHop {
    std::vector<int> there, back;
    std::vector<LinkName*> names;
  };
  Result<ReadHop> read_hop(const XmlElement& element);

  static Result<bool> is_symmetrical(const XmlElement& element);

  Status read_route(const XmlElement& element, int of, bool is_of_zones);

  Status add_hop(const XmlElement& element, int of, int from, int to, PlatformHop hop,
                 bool is_back);

  /// Reads the route of one member to the hub (without `dst`) or from the hub (without `src`).
  Status read_spoke(const XmlElement& element, int of, bool is_of_zones, bool is_both,
                    const ReadHop& hop);

  Status read_host_link(const XmlElement& element, int of);

  /// Returns the link `name`, or one direction of it: `name_UP`, `name_DOWN`.
  [[nodiscard]] int link_named(const std::string& name, bool is_down) const;

  struct Written {
    int zone;
    std::vector<XmlElement> elements;
  };

  Platform platform_;
  std::map<std::string, int> points_;
  std::map<std::string, LinkName> links_;
  std::vector<std::vector<int>> backbones_;  ///< by zone: empty, or one link
  std::vector<Written> routes_;
};

}  // namespace ringside
