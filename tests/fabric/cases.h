#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/fabric/cluster_file.h"
#include "sim/fabric/kinds.h"

/// Fabrics for tests, as a file has them.
namespace ringside {

inline constexpr BytesPerSecond kNic{50e9};

/// nics  of each host, of 50 GB/s
inline Result<std::unique_ptr<const Fabric>> fabric_of(const std::string& fabric, int hosts,
                                                       int nics = 2) {
  RINGSIDE_TRY(ClusterFile file,
               parse_cluster("ringside: cluster/1\nname: test\nnodes: [any x" +
                                 std::to_string(hosts) + "]\nfabric: " + fabric + "\n",
                             "test.yaml"));
  return make_fabric(std::move(file.fabric),
                     {{.count = hosts, .nics = std::vector(static_cast<std::size_t>(nics), kNic)}});
}

struct FabricCase {
  const char* name;
  const char* fabric;
  int hosts;
  int nics;
  bool joins_rails = true;  ///< NICs of different numbers, too
};

inline void PrintTo(const FabricCase& one, std::ostream* out) { *out << one.name; }

inline std::vector<FabricCase> fabric_cases() {
  return {
      {"one_switch", "{kind: switch}", 6, 2},
      {"one_switch_a_rail", "{kind: switch, rails: only}", 6, 2, false},
      {"leaf_spine", "{kind: leaf_spine, hosts_per_leaf: 2}", 8, 2},
      {"leaf_spine_few_spines",
       "{kind: leaf_spine, hosts_per_leaf: 4, spines: 3, oversubscription: 1}", 16, 2},
      {"leaf_spine_2_to_1", "{kind: leaf_spine, hosts_per_leaf: 4, oversubscription: 2}", 16, 2},
      {"leaf_spine_faster_links",
       "{kind: leaf_spine, hosts_per_leaf: 4, oversubscription: 2, rate: 800Gbit/s}", 16, 2},
      {"rail_optimised",
       "{kind: leaf_spine, rails: optimised, hosts_per_leaf: 4, oversubscription: 4}", 16, 4},
      {"rail_only", "{kind: leaf_spine, rails: only, hosts_per_leaf: 4}", 16, 4, false},
      {"fat_tree", "{kind: fat_tree, hosts_per_leaf: 2, hosts_per_pod: 4}", 16, 2},
      {"fat_tree_oversubscribed",
       "{kind: fat_tree, hosts_per_leaf: 2, hosts_per_pod: 8, spines: 2, oversubscription: 2, "
       "spine_oversubscription: 4}",
       32, 4},
      {"fat_tree_with_rails",
       "{kind: fat_tree, rails: optimised, hosts_per_leaf: 2, hosts_per_pod: 4, "
       "spine_oversubscription: 2}",
       16, 2},
      {"fat_tree_rail_only", "{kind: fat_tree, rails: only, hosts_per_leaf: 2, hosts_per_pod: 4}",
       16, 2, false},
      {"dragonfly_plus", "{kind: dragonfly_plus, hosts_per_leaf: 2, hosts_per_pod: 8}", 32, 2},
      {"dragonfly_plus_few_cables",
       "{kind: dragonfly_plus, hosts_per_leaf: 2, hosts_per_pod: 4, global_links: 1}", 16, 2},
      {"torus", "{kind: torus, dims: [2, 3, 4]}", 24, 1},
      {"torus_of_two_dimensions", "{kind: torus, dims: [4, 4], rate: 100Gbit/s}", 16, 2},
      {"a_row_of_two", "{kind: torus, dims: [2]}", 2, 1},
  };
}

}  // namespace ringside
