#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/suggest.h"
#include "base/text.h"
#include "sim/fabric/kinds.h"
#include "sim/fabric/platform_reader.h"

namespace ringside {

Result<PlatformReader::Members> PlatformReader::members_of(const XmlElement& element) {
  Members members{element.text_or_empty("prefix"), element.text_or_empty("suffix"), {}};
  RINGSIDE_TRY(const std::string radical, element.text("radical", "0-15"));
  for (const std::string& part : parts_between(radical, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = parse_int(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_int(part.substr(dash + 1));
    const bool is_range = first && last && *first >= 0 && *last >= *first;
    if (!is_range || *last > (1 << 30)) {
      return element.bad(fmt::format("radical=\"{}\" is no list of numbers", radical),
                         "such as radical=\"0-15,20\"");
    }
    if (*last - *first + std::ssize(members.numbers) >= kMostFabricHosts) {
      return element.bad(fmt::format("more than {} hosts", kMostFabricHosts), "give fewer");
    }
    for (std::int64_t i = *first; i <= *last; ++i) members.numbers.push_back(static_cast<int>(i));
  }
  return members;
}

Status PlatformReader::add_spoke(const XmlElement& element, const std::string& name,
                                 const std::string& link, int in, const std::string& node,
                                 BytesPerSecond rate, Seconds latency, Sharing sharing) {
  RINGSIDE_TRY(const int host, add_host(element, name, in, node));
  RINGSIDE_TRY(
      add_link(element, link, {.name = {}, .rate = rate, .latency = latency, .zone = in}, sharing));
  PlatformZone::Spoke& spoke = zone(in).spokes[host];
  append(links_.at(link), false, spoke.up);
  append(links_.at(link), true, spoke.down);
  join(links_.at(link), host, zone(in).point);
  return {};
}

Status PlatformReader::read_cabinet(const XmlElement& element, int in, const std::string& node) {
  RINGSIDE_TRY(element.check_attributes());
  if (zone(in).kind != ZoneKind::Star) {
    return element.bad("a cabinet in a zone without a hub", "give the zone routing=\"Cluster\"");
  }
  RINGSIDE_TRY(const Members members, members_of(element));
  RINGSIDE_TRY(const BytesPerSecond rate, platform_rate(element, "bw"));
  RINGSIDE_TRY(const Seconds latency, platform_latency(element, "lat"));
  for (const int number : members.numbers) {
    const std::string name = fmt::format("{}{}{}", members.prefix, number, members.suffix);
    RINGSIDE_TRY(
        add_spoke(element, name, "link_" + name, in, node, rate, latency, Sharing::SplitDuplex));
  }
  return {};
}

Status PlatformReader::read_cluster_zone(const XmlElement& element, int in,
                                         const std::string& outside) {
  RINGSIDE_TRY(element.check_attributes());
  constexpr std::string_view kInside[] = {"prop"};
  constexpr const char* kNot[] = {"limiter_link"};
  RINGSIDE_TRY(refuse(element, kNot, "leave it out, and give bw what a host may have"));
  RINGSIDE_TRY(const std::string node, node_of(element, outside, kInside));
  RINGSIDE_TRY(const std::string name, element.text("id", "cluster0"));
  constexpr std::string_view kKinds[] = {"FLAT", "FAT_TREE", "TORUS", "DRAGONFLY"};
  const std::string asked = element.has("topology") ? element.text_or_empty("topology") : "FLAT";
  const auto kind = std::ranges::find(kKinds, asked) - std::begin(kKinds);
  if (kind == std::ssize(kKinds)) {
    return element.bad(fmt::format("topology=\"{}\"", asked), suggestion(asked, kKinds));
  }
  constexpr ZoneKind kZones[] = {ZoneKind::Star, ZoneKind::FatTree, ZoneKind::Torus,
                                 ZoneKind::Dragonfly};
  RINGSIDE_TRY(const Members members, members_of(element));
  RINGSIDE_TRY(const BytesPerSecond rate, platform_rate(element, "bw"));
  RINGSIDE_TRY(const Seconds latency, platform_latency(element, "lat"));
  RINGSIDE_TRY(const Sharing sharing,
               platform_sharing(element, "sharing_policy", Sharing::SplitDuplex));
  RINGSIDE_TRY(const int number, open_zone(element, name, kZones[kind], in));
  std::string router = element.text_or_empty("router_id");
  if (router.empty()) router = members.prefix + name + "_router" + members.suffix;
  const auto host_name = [&](int i) {
    return fmt::format("{}{}{}", members.prefix, i, members.suffix);
  };
  if (kZones[kind] != ZoneKind::Star) {
    if (sharing == Sharing::FatPipe) {
      return element.bad("grid links without sharing are not supported",
                         "give SPLITDUPLEX or SHARED");
    }
    PlatformZone& grid = zone(number);
    grid.nhosts = static_cast<int>(members.numbers.size());
    grid.each = sharing == Sharing::SplitDuplex ? 2 : 1;
    std::vector<int> multiples;
    RINGSIDE_TRY(read_grid(element, grid, multiples));
    grid.first_host = static_cast<int>(platform_.hosts.size());
    grid.first_link = static_cast<int>(platform_.links.size());
    for (const int i : members.numbers) {
      RINGSIDE_TRY(add_host(element, host_name(i), number, node));
    }
    lay_grid(platform_, number, rate, latency, multiples, place(element));
  } else {
    for (const int i : members.numbers) {
      RINGSIDE_TRY(add_spoke(element, host_name(i), fmt::format("{}_link_{}", name, i), number,
                             node, rate, latency, sharing));
    }
    if (element.has("bb_bw")) {
      RINGSIDE_TRY(read_backbone(element, name, number));
    }
  }
  RINGSIDE_TRY(const int gateway, add_point(element, Kind::Router, router, number));
  if (zone(number).kind == ZoneKind::Star) {
    zone(number).spokes[gateway];
    add_backbone(number);
  }
  return {};
}

Status PlatformReader::read_backbone(const XmlElement& element, const std::string& name, int in) {
  RINGSIDE_TRY(const BytesPerSecond rate, platform_rate(element, "bb_bw"));
  RINGSIDE_TRY(const Seconds latency, platform_latency(element, "bb_lat"));
  RINGSIDE_TRY(const Sharing sharing,
               platform_sharing(element, "bb_sharing_policy", Sharing::Shared));
  if (sharing == Sharing::SplitDuplex) {
    return element.bad("a backbone of two directions", "give it SHARED or FATPIPE");
  }
  backbones_[static_cast<std::size_t>(in)] = {static_cast<int>(platform_.links.size())};
  return add_link(element, name + "_backbone",
                  {.name = {}, .rate = rate, .latency = latency, .zone = in}, sharing);
}

void PlatformReader::add_backbone(int number) {
  for (auto& [at, spoke] : zone(number).spokes) {
    for (const int link : backbones_[static_cast<std::size_t>(number)]) {
      spoke.up.push_back(link);
      spoke.down.insert(spoke.down.begin(), link);
    }
  }
}

Status PlatformReader::read_grid(const XmlElement& element, PlatformZone& grid,
                                 std::vector<int>& multiples) {
  const bool is_tree = grid.kind == ZoneKind::FatTree, is_fly = grid.kind == ZoneKind::Dragonfly;
  const char* const example = is_tree ? "2;4,4;1,2;1,1" : is_fly ? "3,4;4,3;5,1;2" : "4,4,2";
  RINGSIDE_TRY(const std::string text, element.text("topo_parameters", example));
  const auto bad = [&](const std::string& what) {
    return element.bad(
        fmt::format("topo_parameters=\"{}\": {}", text, what),
        fmt::format("such as topo_parameters=\"{}\", each 1 to {}", example, kMostGridSize));
  };
  std::vector<std::vector<int>> lists;
  constexpr std::size_t kMostLevels = 32;
  for (const std::string& part : parts_between(text, ';')) {
    const auto numbers = whole_numbers(part);
    if (!numbers) return bad(fmt::format("'{}' is no list of numbers", part));
    if (numbers->size() > kMostLevels) return bad("too many of them");
    lists.push_back(*numbers);
  }
  double hosts = 1;
  if (is_tree) {
    const auto levels = static_cast<std::size_t>(lists[0][0]);
    const auto fits = [&](const std::vector<int>& list) { return list.size() == levels; };
    if (lists.size() != 4 || lists[0].size() != 1 ||
        !std::all_of(lists.begin() + 1, lists.end(), fits)) {
      return bad("levels; children; parents; ports, of each level one");
    }
    grid.downs = lists[1];
    grid.ups = lists[2];
    grid.ports = lists[3];
    for (const int size : grid.downs) hosts *= size;
  } else if (is_fly) {
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (lists.size() != 4 || lists[i].size() != (i < 3 ? 2U : 1U)) {
        return bad("groups,links; chassis,links; blades,links; nodes");
      }
      grid.sizes.push_back(lists[i][0]);
      multiples.push_back(lists[i].back());
      hosts *= lists[i][0];
    }
    if (grid.sizes[0] > grid.sizes[2]) {
      return bad("more groups than a chassis has blades, each of which joins one other group");
    }
  } else {
    if (lists.size() != 1) return bad("the sizes of the dimensions");
    grid.sizes = lists[0];
    for (const int size : grid.sizes) hosts *= size;
  }
  if (hosts != grid.nhosts) {
    return bad(fmt::format("room for {:.0f} hosts, radical names {}", hosts, grid.nhosts));
  }
  if (links_of_grid(grid) + std::ssize(platform_.links) > kMostPlatformLinks) {
    return bad(fmt::format("more than {} links", kMostPlatformLinks));
  }
  return {};
}

}  // namespace ringside
