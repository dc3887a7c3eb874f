#include "sim/fabric/fabric_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/suggest.h"
#include "engine/topology/host_edit.h"
#include "sim/fabric/kinds.h"

namespace ringside {
namespace {

constexpr const char* kWordExample =
    "such as leaf_spine, or leaf_spine:2:1 where uplinks have half";

Error bad_word(const std::string& word, const std::string& what, const std::string& help) {
  return {ErrorCode::InvalidArgument, fmt::format("--fabric {}: {}", word, what), help};
}

bool has_key(const FabricKindRow& row, std::string_view key) {
  return std::ranges::find(row.keys, key) != row.keys.end();
}

Result<const FabricKindRow*> kind_of(const std::string& word, std::string_view name) {
  std::vector<std::string_view> names;
  for (const FabricKindRow& row : fabric_kinds()) {
    if (row.name == name && row.is_elsewhere) {
      return bad_word(word, "a platform is a file", "give it as --on NODE@FILE.xml");
    }
    if (row.name == name) return &row;
    if (!row.is_elsewhere) names.push_back(row.name);
  }
  return bad_word(word, fmt::format("unknown kind of fabric '{}'", name), suggestion(name, names));
}

/// Reads the oversubscription `2:1` or `2`: rate into a leaf / rate out of it.
Result<double> ratio_of(const std::string& word, std::string_view text) {
  double above = 0;
  double below = 1;
  const char* const end = text.data() + text.size();
  const auto [colon, failed] = std::from_chars(text.data(), end, above);
  bool is_good = failed == std::errc{};
  if (is_good && colon != end) {
    is_good = *colon == ':';
    if (is_good) {
      const auto [last, failed_below] = std::from_chars(colon + 1, end, below);
      is_good = failed_below == std::errc{} && last == end;
    }
  }
  if (is_good && above > 0 && below > 0) return above / below;
  return bad_word(word, fmt::format("'{}' is no oversubscription", text), kWordExample);
}

/// Returns the largest number of NICs of a host.
int nics_of(JobHosts& hosts) {
  int most = 1;
  for (HostRun& run : hosts.runs) most = std::max(most, static_cast<int>(nets_of(run.host).size()));
  return most;
}

bool has_rails(const std::vector<ClusterChange>& changes) {
  return std::ranges::any_of(changes, [](const ClusterChange& one) {
    return one.first == "fabric.rails" && one.second != "none";
  });
}

}  // namespace

Result<Cluster> cluster_in_fabric(JobHosts hosts, const std::string& word,
                                  const std::vector<ClusterChange>& changes) {
  const std::size_t colon = word.find(':');
  RINGSIDE_TRY(const FabricKindRow* const row, kind_of(word, word.substr(0, colon)));
  const int hosts_per_leaf =
      has_rails(changes) ? kLeafPorts : std::max(1, kLeafPorts / nics_of(hosts));
  std::string keys = fmt::format("kind: {}", row->name);
  if (colon != std::string::npos) {
    RINGSIDE_TRY(const double ratio, ratio_of(word, std::string_view(word).substr(colon + 1)));
    if (!has_key(*row, "oversubscription")) {
      return bad_word(word, fmt::format("a {} has no oversubscription", row->name), kWordExample);
    }
    keys += fmt::format(", oversubscription: {}", ratio);
  }
  if (has_key(*row, "hosts_per_leaf")) keys += fmt::format(", hosts_per_leaf: {}", hosts_per_leaf);
  if (has_key(*row, "hosts_per_pod")) {
    keys += fmt::format(", hosts_per_pod: {}", hosts_per_leaf * kLeafPorts);
  }
  Cluster cluster;
  // The nodes are taken from `hosts`.
  RINGSIDE_TRY(cluster.file,
               parse_cluster(fmt::format("ringside: cluster/1\nname: hosts\nnodes: [hosts]\n"
                                         "fabric: {{{}}}\n",
                                         keys),
                             "--fabric " + word, changes));
  cluster.kinds = std::move(hosts.runs);
  cluster.hosts_per_domain = hosts.hosts_per_nvl_domain;
  return cluster;
}

}  // namespace ringside
