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
  None,      ///< not at all
  Full,      ///< each way is written down
  Shortest,  ///< hops are written down; the way of fewest links
  Star,      ///< each thing's links up, then the other's links down
  FatTree,   ///< by d-mod-k
  Torus,     ///< dimension by dimension
  Dragonfly  ///< minimal: within the chassis, within the group, to the other group
};
const char* to_string(ZoneKind kind);

/// What ways lead from and to: a host, a router, a zone in another one.
struct PlatformPoint {
  enum class Kind : std::uint8_t { Host, Router, Zone };
  Kind kind = Kind::Host;
  std::string name;
  int zone = -1;  ///< that contains it; -1: the outermost zone
  int index = 0;  ///< among the hosts, the routers, the zones
};

struct PlatformLink {
  std::string name;
  BytesPerSecond rate;
  Seconds latency{};
  bool is_fat = false;  ///< FATPIPE: each flow has the rate for itself
  int zone = 0;
  FabricEnd from = {}, to = {};  ///< its ends, as far as the file names them; for pictures
  std::string where = {};        ///< of the file; for messages
};

/// Links from one point to another. Between zones: from one's gateway to the other's.
struct PlatformHop {
  std::vector<int> links;
  int out = -1, in = -1;  ///< gateways, as points; -1: the ends themselves
};

struct PlatformZone {
  ZoneKind kind = ZoneKind::None;
  std::string name;
  int point = -1;
  int depth = 0;
  std::map<int, std::map<int, PlatformHop>> hops = {};  ///< Full, Shortest: by point, and point
  /// Star: by point; `up` and `down` of a zone begin and end at the gateway.
  struct Spoke {
    std::vector<int> up, down;
    int gateway = -1;
  };
  std::map<int, Spoke> spokes = {};

  // FatTree, Torus, Dragonfly: hosts and links are numbered by arithmetic.
  int first_host = 0;
  int nhosts = 0;
  int first_link = 0;
  int each = 2;                 ///< entries of a link: 2: one for each direction
  std::vector<int> sizes = {};  ///< Torus: dimensions. Dragonfly: groups, chassis, blades, nodes
  std::vector<int> downs = {}, ups = {}, ports = {};  ///< FatTree, by level
};

/// Hosts, links and ways, as SimGrid's XML has them (docs/reference/clusters.md).
struct Platform {
  struct Host {
    std::string name;
    int point = 0;
    std::string node;  ///< its type, as --on takes it; empty: not given
    std::string where;
  };
  std::string where;
  std::vector<Host> hosts;
  std::vector<PlatformPoint> points;
  std::vector<PlatformLink> links;
  std::vector<PlatformZone> zones;
  int nrouters = 0;
};

/// The links from one host to another, in their order; none: there is no way.
/// shape   two different hosts
/// source  SimGrid 3.32: NetZoneImpl::get_global_route and the zones' get_local_route, found again by asking it
std::optional<std::vector<int>> platform_way(const Platform& platform, int from, int to);

/// A platform of SimGrid's, version 4 and 4.1. `where` opens each message.
/// errors  Corrupt, `where:line: what`, with the fix: not such a file; an unsupported feature (profiles, WIFI, bypasses,
///         Vivaldi, limiters); names that are not there, or twice; a route whose ends or gateways are elsewhere
Result<Platform> parse_platform(std::string_view text, const std::string& where);

/// Whether the text opens as such a file does.
bool is_platform_text(std::string_view text);

inline constexpr int kMostPlatformLinks = 1 << 22;

/// Links, in both directions, that a cluster of that kind has; its fields say how large.
std::int64_t links_of_grid(const PlatformZone& zone);

/// Names and joins the links of a FatTree, a Torus, a Dragonfly.
void lay_grid(Platform& platform, int zone, BytesPerSecond rate, Seconds latency,
              const std::vector<int>& multiples, const std::string& where);

/// The way within one, by the numbers of its hosts.
std::vector<int> way_in_grid(const PlatformZone& zone, int from, int to);

}  // namespace ringside
