#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ringside/units.h"
#include "sim/fabric/link_rules.h"

namespace ringside {

/// How a zone finds routes between its hosts, routers and zones.
enum class ZoneKind : std::uint8_t {
  None,      ///< has no routes
  Full,      ///< the file lists each route
  Shortest,  ///< the file lists hops; routes take the fewest links
  Star,      ///< the links up of one member, then the links down of the other
  FatTree,   ///< d-mod-k routing
  Torus,     ///< dimension by dimension
  Dragonfly  ///< minimal routes: within the chassis, within the group, to the other group
};
const char* to_string(ZoneKind kind);

/// The end of a route: a host, a router, or a zone within another zone.
struct PlatformPoint {
  enum class Kind : std::uint8_t { Host, Router, Zone };
  Kind kind = Kind::Host;
  std::string name;
  int zone = -1;  ///< zone that contains the point; -1: the point is the outermost zone
  int index = 0;  ///< number among the points of its kind
};

/// A link of a SimGrid platform.
struct PlatformLink {
  std::string name;
  BytesPerSecond rate;
  Seconds latency{};
  bool is_fat = false;  ///< FATPIPE: each flow gets the full rate
  int zone = 0;
  FabricEnd from = {}, to = {};  ///< ends of the link, if the file names them; for pictures
  std::string where = {};        ///< file:line, for messages
};

/// The links from one point to another. Between zones: from the gateway of one zone to the gateway
/// of the other.
struct PlatformHop {
  std::vector<int> links;
  int out = -1, in = -1;  ///< point numbers of the gateways; -1: no gateway
};

/// A zone of a SimGrid platform, and the routes between its members.
struct PlatformZone {
  ZoneKind kind = ZoneKind::None;
  std::string name;
  int point = -1;
  int depth = 0;
  /// Full, Shortest: by first and second point.
  std::map<int, std::map<int, PlatformHop>> hops = {};
  /// Only in a Star: the links of one member. `up` starts and `down` ends at the gateway if the
  /// member is a zone.
  struct Spoke {
    std::vector<int> up, down;
    int gateway = -1;
  };
  std::map<int, Spoke> spokes = {};

  // Only in FatTree, Torus and Dragonfly, which number hosts and links by arithmetic:
  int first_host = 0;
  int nhosts = 0;
  int first_link = 0;
  int each = 2;  ///< link entries per cable; 2: one per direction
  /// Torus: dimensions. Dragonfly: numbers of groups, chassis, blades, nodes.
  std::vector<int> sizes = {};
  std::vector<int> downs = {}, ups = {}, ports = {};  ///< FatTree: by level
};

/// Hosts, links and routes of a SimGrid XML platform (docs/reference/clusters.md).
struct Platform {
  struct Host {
    std::string name;
    int point = 0;
    std::string node;  ///< node type in the form of --on; empty: not given
    std::string where;
  };
  std::string where;
  std::vector<Host> hosts;
  std::vector<PlatformPoint> points;
  std::vector<PlatformLink> links;
  std::vector<PlatformZone> zones;
  int nrouters = 0;
};

/// Returns the links from one host to another in order, or nullopt if there is no route.
/// shape   two different hosts
/// source  SimGrid 3.32, NetZoneImpl::get_global_route and the zones' get_local_route; checked
///         against SimGrid's answers
std::optional<std::vector<int>> platform_route(const Platform& platform, int from, int to);

/// Parses a SimGrid platform of version 4 or 4.1.
/// where   file name; opens each error message
/// errors  Corrupt, as `where:line: problem` with the fix: not a platform; an unsupported feature
///         (profiles, WIFI, bypasses, Vivaldi, limiters); unknown or repeated names; a route whose
///         ends or gateways are outside its zone
Result<Platform> parse_platform(std::string_view text, const std::string& where);

/// Returns true if the text begins like a SimGrid platform.
bool is_platform_text(std::string_view text);

/// Links of a platform: some hundred bytes each, about a gigabyte in all.
inline constexpr int kMostPlatformLinks = 1 << 22;

/// Returns the number of links (both directions) of a FatTree, Torus or Dragonfly zone of the given
/// sizes.
std::int64_t links_of_grid(const PlatformZone& zone);

/// Adds the named links of a FatTree, Torus or Dragonfly zone to the platform.
void lay_grid(Platform& platform, int zone, BytesPerSecond rate, Seconds latency,
              const std::vector<int>& multiples, const std::string& where);

/// Returns the route between two hosts of such a zone, given by their numbers within the zone.
std::vector<int> route_in_grid(const PlatformZone& zone, int from, int to);

}  // namespace ringside
