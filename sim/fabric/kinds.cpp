#include "sim/fabric/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "sim/fabric/clos.h"
#include "sim/fabric/platform_fabric.h"
#include "sim/fabric/torus.h"

namespace ringside {
namespace {

constexpr std::array<std::string_view, 7> kCommonKeys{
    "kind", "nic_rate", "hop_latency", "routing", "degraded", "background", "seed"};

const std::array<FabricKindRow, 6>& table() {
  static const std::array<FabricKindRow, 6> rows{{
      {FabricKind::Switch, "switch", "one switch without contention", {"rails"}, make_clos},
      {FabricKind::LeafSpine,
       "leaf_spine",
       "leaves, and spines that join them",
       {"rails", "rate", "hosts_per_leaf", "oversubscription", "spines"},
       make_clos},
      {FabricKind::FatTree,
       "fat_tree",
       "leaves and spines in pods, and cores that join pods",
       {"rails", "rate", "hosts_per_leaf", "oversubscription", "spines", "hosts_per_pod",
        "spine_oversubscription", "core_rate", "core_latency"},
       make_clos},
      {FabricKind::DragonflyPlus,
       "dragonfly_plus",
       "leaves and spines in groups, each group joined with each other one",
       {"rails", "rate", "hosts_per_leaf", "oversubscription", "spines", "hosts_per_pod",
        "spine_oversubscription", "global_links", "core_rate", "core_latency"},
       make_clos},
      {FabricKind::Torus,
       "torus",
       "a router a host, in rows that close to rings",
       {"rate", "dims"},
       make_torus},
      {FabricKind::Platform,
       "platform",
       "links and routes as SimGrid's XML has them",
       {"kind", "file"},
       make_platform_fabric,
       true},
  }};
  return rows;
}

const FabricKindRow& row_of(FabricKind kind) {
  const auto row = std::ranges::find(table(), kind, &FabricKindRow::kind);
  RINGSIDE_ASSERT(row != table().end(), "no row for kind of fabric {}", static_cast<int>(kind));
  return *row;
}

}  // namespace

std::span<const FabricKindRow> fabric_kinds() { return table(); }

std::span<const std::string_view> common_fabric_keys() { return kCommonKeys; }

Result<std::unique_ptr<const Fabric>> make_fabric(FabricSettings settings,
                                                  std::vector<FabricHosts> hosts) {
  std::int64_t all = 0;
  bool has_nics = true;
  for (const FabricHosts& run : hosts) {
    all += run.count;
    has_nics = has_nics && !run.nics.empty();
  }
  const auto bad = [&](const std::string& what, const std::string& help) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: {}", settings.where, what), help};
  };
  if (all < 1 || all > kMostFabricHosts) {
    return bad(fmt::format("{} hosts", all), fmt::format("give 1 to {}", kMostFabricHosts));
  }
  if (!has_nics) return bad("a host without a NIC", "give hosts with NICs: these join the fabric");
  const auto make = row_of(settings.kind).make;
  RINGSIDE_TRY(auto fabric, make(std::move(settings), std::move(hosts)));
  RINGSIDE_TRY(fabric->check_rules());
  return Result<std::unique_ptr<const Fabric>>{std::move(fabric)};
}

const char* to_string(FabricKind kind) { return row_of(kind).name.data(); }

const char* to_string(Rails rails) {
  constexpr std::array<const char*, 3> kNames{"none", "optimised", "only"};
  return kNames[static_cast<std::size_t>(rails)];
}

const char* to_string(Routing routing) {
  return routing == Routing::Adaptive ? "adaptive" : "static";
}

}  // namespace ringside
