#include "sim/fabric/cluster_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <span>

#include "base/suggest.h"
#include "base/text.h"
#include "engine/topology/sources/yaml_mapping.h"
#include "sim/fabric/kinds.h"
#include "sim/fabric/platform.h"

namespace ringside {
namespace {

// Limits beyond any cluster, so that a malformed file is refused before it takes much memory or makes a number that the
// simulation cannot hold.
constexpr std::size_t kMostRules = 256;
constexpr double kLeastLeft = 1e-6;  // smallest share of its rate that a link that is up can have
// Bytes of the file: from a larger one, yaml-cpp would allocate 60 bytes per entry before entries can be counted.
constexpr std::size_t kMostText = 1 << 20;
constexpr std::size_t kMostEntries = 1024;  // of `nodes`: aliases let a short text be a long list
constexpr double kMostRatio = 1000;
constexpr Seconds kMostLatency{1};
constexpr BytesPerSecond kLeastRate{1e3}, kMostRate{1e15};
constexpr std::string_view kFabric = "fabric.";

std::string place_of(const YamlMapping& root, const YAML::Node& node) {
  const YAML::Mark mark = node.Mark();
  return mark.is_null() ? root.where() : fmt::format("{}:{}", root.where(), mark.line + 1);
}

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Reads a number that may have a fraction.
Result<double> ratio(const YamlMapping& keys, const char* key, double least, double most,
                     const char* example) {
  RINGSIDE_TRY(const std::string text, keys.word(key, example));
  const auto value = number_in(text);
  if (value && *value >= least && *value <= most) return *value;
  RINGSIDE_TRY(const YAML::Node at, keys.find(key, example));
  return keys.bad(at, fmt::format("{}: '{}' is no number that can be meant", key, text),
                  fmt::format("give {:g} to {:g}", least, most));
}

/// Returns the index of a word among `names`.
Result<std::size_t> choice(const YamlMapping& keys, const char* key,
                           std::span<const std::string_view> names) {
  const std::string example(names.front());
  RINGSIDE_TRY(const std::string text, keys.word(key, example.c_str()));
  const auto found = std::ranges::find(names, text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  RINGSIDE_TRY(const YAML::Node at, keys.find(key, example.c_str()));
  return keys.bad(at, fmt::format("{}: unknown word '{}'", key, text), suggestion(text, names));
}

Status read_whole(const YamlMapping& keys, const char* key, int least, int most, int& into) {
  if (!keys.has(key)) return {};
  RINGSIDE_TRY(into, keys.whole(key, least, most, "32"));
  return {};
}

Status read_ratio(const YamlMapping& keys, const char* key, double& into) {
  if (!keys.has(key)) return {};
  RINGSIDE_TRY(into, ratio(keys, key, 1 / kMostRatio, kMostRatio, "2"));
  return {};
}

Status read_rate(const YamlMapping& keys, const char* key, std::optional<BytesPerSecond>& into) {
  if (!keys.has(key)) return {};
  RINGSIDE_TRY(into, keys.quantity<BytesPerSecond>(key, "400Gbit/s", parse_bandwidth));
  if (*into >= kLeastRate && *into <= kMostRate) return {};
  RINGSIDE_TRY(const YAML::Node at, keys.find(key, "400Gbit/s"));
  return keys.bad(at, fmt::format("{}: no link has that rate", key), "give 1KB/s to 1000TB/s");
}

Status read_latency(const YamlMapping& keys, const char* key, Seconds& into) {
  if (!keys.has(key)) return {};
  RINGSIDE_TRY(into, keys.quantity<Seconds>(key, "0.3us", parse_time));
  if (into <= kMostLatency) return {};
  RINGSIDE_TRY(const YAML::Node at, keys.find(key, "0.3us"));
  return keys.bad(at, fmt::format("{}: more than a second", key), "such as 0.3us");
}

/// Returns the list at `key`, which may be long.
Result<YAML::Node> list_at(const YamlMapping& keys, const char* key, const char* example,
                           std::size_t most) {
  RINGSIDE_TRY(YAML::Node list, keys.find(key, example));
  if (!list.IsSequence()) {
    return keys.bad(list, fmt::format("{} must be a list", key),
                    fmt::format("such as {}", example));
  }
  if (list.size() > most) {
    return keys.bad(list, fmt::format("{} has {} entries", key, list.size()),
                    fmt::format("at most {}", most));
  }
  return list;
}

/// Reads the rules of one key: `degraded` states the share that is left, `background` the share that is used.
/// changes  rules of another list, whose line numbers are not those of the file
Status read_rules(const YamlMapping& keys, const char* key, bool is_taken,
                  const std::vector<ClusterChange>& changes, std::vector<LinkRule>& rules) {
  if (!keys.has(key)) return {};
  constexpr std::string_view kKeys[] = {"link", "share"};
  const char* const example = "[{link: leaf 3 -> spine 2, share: 0.5}]";
  RINGSIDE_TRY(const YAML::Node list, list_at(keys, key, example, kMostRules));
  const std::string name = std::string(kFabric) + key;
  const bool is_set = std::ranges::find(changes, name, &ClusterChange::first) != changes.end();
  for (const YAML::Node& entry : list) {
    const YamlMapping one{entry, is_set ? "--set " + name : keys.where()};
    RINGSIDE_TRY(one.check(kKeys));
    RINGSIDE_TRY(const std::string text, one.word("link", "leaf 3 -> spine 2"));
    auto rule = parse_link_rule(text);
    if (!rule) return one.bad(entry, rule.error().message, rule.error().help);
    RINGSIDE_TRY(const double share, ratio(one, "share", 0, 1, "0.5"));
    rule->share = is_taken ? 1 - share : share;
    if (rule->share > 0 && rule->share < kLeastLeft) {
      RINGSIDE_TRY(const YAML::Node at, one.find("share", "0.5"));
      return one.bad(at, fmt::format("share: '{}' leaves next to nothing of a link", at.Scalar()),
                     is_taken ? "give less" : "give 0 (it is down), or 0.000001 to 1");
    }
    rule->where = is_set ? one.where() : place_of(keys, entry);
    if (is_taken && share == 1) {
      return one.bad(entry, "background traffic that takes all of a link", "give less than 1");
    }
    rules.push_back(*std::move(rule));
  }
  return {};
}

Status read_dims(const YamlMapping& keys, std::vector<int>& dims) {
  constexpr std::size_t kMostAxes = 3;
  RINGSIDE_TRY(const YAML::Node list, list_at(keys, "dims", "[4, 4, 2]", kMostAxes));
  for (const YAML::Node& entry : list) {
    const auto size = parse_int(entry.IsScalar() ? entry.Scalar() : std::string{});
    if (!size || *size < 1 || *size > kMostFabricHosts) {
      return keys.bad(entry, "a size of dims must be a whole number",
                      fmt::format("give 1 to {}", kMostFabricHosts));
    }
    dims.push_back(static_cast<int>(*size));
  }
  if (dims.empty()) return keys.bad(list, "dims without a size", "such as [4, 4, 2]");
  return {};
}

Result<FabricSettings> read_fabric(const YAML::Node& node, const std::string& where,
                                   const std::vector<ClusterChange>& changes) {
  const YamlMapping keys{node, where};
  if (!node.IsMap()) {
    return keys.bad(node, "fabric must be a mapping", "such as fabric: {kind: switch}");
  }
  std::vector<std::string_view> names;
  for (const FabricKindRow& row : fabric_kinds()) names.push_back(row.name);
  RINGSIDE_TRY(const std::size_t kind, choice(keys, "kind", names));
  const FabricKindRow& row = fabric_kinds()[kind];
  std::vector<std::string_view> known;
  if (!row.is_elsewhere) known.assign(common_fabric_keys().begin(), common_fabric_keys().end());
  known.insert(known.end(), row.keys.begin(), row.keys.end());
  RINGSIDE_TRY(keys.check(known));

  FabricSettings fabric{.kind = row.kind};
  fabric.where = place_of(keys, node);
  if (row.is_elsewhere) {
    RINGSIDE_TRY(fabric.file, keys.word("file", "platform.xml"));
  }
  if (keys.has("rails")) {
    constexpr std::string_view kNames[] = {"none", "optimised", "only"};
    RINGSIDE_TRY(const std::size_t rails, choice(keys, "rails", kNames));
    fabric.rails = static_cast<Rails>(rails);
  }
  if (keys.has("routing")) {
    constexpr std::string_view kNames[] = {"static", "adaptive"};
    RINGSIDE_TRY(const std::size_t routing, choice(keys, "routing", kNames));
    fabric.routing = static_cast<Routing>(routing);
  }
  if (keys.has("seed")) {
    RINGSIDE_TRY(const int seed, keys.whole("seed", 0, 1 << 30, "1"));
    fabric.seed = static_cast<std::uint64_t>(seed);
  }
  const bool has_leaves = std::ranges::find(row.keys, "hosts_per_leaf") != row.keys.end();
  const bool has_pods = std::ranges::find(row.keys, "hosts_per_pod") != row.keys.end();
  if (has_leaves) {
    RINGSIDE_TRY(fabric.hosts_per_leaf, keys.whole("hosts_per_leaf", 1, kMostFabricHosts, "4"));
  }
  if (has_pods) {
    RINGSIDE_TRY(fabric.hosts_per_pod, keys.whole("hosts_per_pod", 1, kMostFabricHosts, "256"));
  }
  RINGSIDE_TRY(read_ratio(keys, "oversubscription", fabric.oversubscription));
  RINGSIDE_TRY(read_ratio(keys, "spine_oversubscription", fabric.spine_oversubscription));
  RINGSIDE_TRY(read_whole(keys, "spines", 1, kMostFabricHosts, fabric.spines));
  RINGSIDE_TRY(read_whole(keys, "global_links", 1, kMostFabricHosts, fabric.global_links));
  if (row.kind == FabricKind::Torus) {
    RINGSIDE_TRY(read_dims(keys, fabric.dims));
  }
  RINGSIDE_TRY(read_rate(keys, "nic_rate", fabric.nic_rate));
  RINGSIDE_TRY(read_rate(keys, "rate", fabric.rate));
  RINGSIDE_TRY(read_rate(keys, "core_rate", fabric.core_rate));
  RINGSIDE_TRY(read_latency(keys, "hop_latency", fabric.hop_latency));
  RINGSIDE_TRY(read_latency(keys, "core_latency", fabric.core_latency));
  RINGSIDE_TRY(read_rules(keys, "degraded", false, changes, fabric.rules));
  RINGSIDE_TRY(read_rules(keys, "background", true, changes, fabric.rules));
  return fabric;
}

/// Reads `{count: 32, like: dgx-h100, nics: {...}}`: a host description instead of the name of one.
Result<ClusterFile::Nodes> read_described_nodes(const YamlMapping& root, const YAML::Node& entry) {
  const YamlMapping given{entry, root.where()};
  ClusterFile::Nodes one{.source = "nodes", .where = place_of(root, entry)};
  if (given.has("count")) {
    RINGSIDE_TRY(one.count, given.whole("count", 1, kMostFabricHosts, "32"));
  }
  YAML::Node host(YAML::NodeType::Map);
  host["ringside"] = "host/1";
  if (!given.has("name")) host["name"] = "node";
  for (const auto& key : entry) {
    if (!key.first.IsScalar()) return root.bad(entry, "a key must be a word", "such as like");
    if (key.first.Scalar() != "count") host[key.first.Scalar()] = key.second;
  }
  one.description = YAML::Dump(host);
  return one;
}

/// Reads `dgx-h100 x16`.
Result<std::vector<ClusterFile::Nodes>> read_nodes(const YamlMapping& root) {
  RINGSIDE_TRY(const YAML::Node list, list_at(root, "nodes", "[dgx-h100 x16]", kMostEntries));
  std::vector<ClusterFile::Nodes> nodes;
  std::int64_t all = 0;
  for (const YAML::Node& entry : list) {
    if (entry.IsMap()) {
      RINGSIDE_TRY(nodes.emplace_back(), read_described_nodes(root, entry));
      all += nodes.back().count;
      continue;
    }
    const std::string text = entry.IsScalar() ? entry.Scalar() : std::string{};
    const std::size_t blank = text.rfind(' ');
    const std::string last = blank == std::string::npos ? "" : text.substr(blank + 1);
    ClusterFile::Nodes one{.source = text, .where = place_of(root, entry)};
    if (last.starts_with('x')) {
      const auto count = parse_int(last.substr(1));
      if (!count || *count < 1 || *count > kMostFabricHosts) {
        return root.bad(entry, fmt::format("'{}' is no count of nodes", last),
                        fmt::format("give x1 to x{}", kMostFabricHosts));
      }
      one.source = text.substr(0, text.find_last_not_of(' ', blank) + 1);
      one.count = static_cast<int>(*count);
    }
    all += one.count;
    if (one.source.find_first_not_of(' ') == std::string::npos) {
      return root.bad(entry, "an entry of nodes without a name", "such as dgx-h100 x16");
    }
    nodes.push_back(std::move(one));
  }
  if (all < 1 || all > kMostFabricHosts) {
    return root.bad(list, fmt::format("{} nodes", all),
                    fmt::format("give 1 to {}", kMostFabricHosts));
  }
  return nodes;
}

/// Reads `packed`, `scattered`, `scattered 7`, or a list.
Result<Placement> read_placement(const YamlMapping& root) {
  Placement placement;
  if (!root.has("placement")) return placement;
  RINGSIDE_TRY(const YAML::Node node, root.find("placement", "packed"));
  placement.where = place_of(root, node);
  if (node.IsSequence()) {
    placement.kind = Placement::Kind::Listed;
    RINGSIDE_TRY(const YAML::Node list, list_at(root, "placement", "[3, 1, 7]", kMostFabricHosts));
    if (list.size() == 0) {
      return root.bad(node, "a placement that lists no node", "such as [3, 1, 7], or packed");
    }
    for (const YAML::Node& entry : list) {
      const auto number = parse_int(entry.IsScalar() ? entry.Scalar() : std::string{});
      if (!number || *number < 0 || *number >= kMostFabricHosts) {
        return root.bad(entry, "an entry of placement must be a node's number",
                        "such as [3, 1, 7]");
      }
      placement.list.push_back(static_cast<int>(*number));
    }
    return placement;
  }
  const std::string text = node.IsScalar() ? node.Scalar() : std::string{};
  const std::size_t blank = text.find(' ');
  const std::string word = text.substr(0, blank);
  constexpr std::string_view kNames[] = {"packed", "scattered"};
  const auto found = std::ranges::find(kNames, word);
  if (found == std::end(kNames)) {
    return root.bad(node, fmt::format("unknown placement '{}'", text),
                    suggestion(word, kNames) + ", or a list of nodes");
  }
  placement.kind = found == kNames ? Placement::Kind::Packed : Placement::Kind::Scattered;
  if (blank == std::string::npos) return placement;
  const auto seed = parse_int(text.substr(blank + 1));
  if (!seed || *seed < 0 || placement.kind == Placement::Kind::Packed) {
    return root.bad(node, fmt::format("unknown placement '{}'", text), "such as scattered 7");
  }
  placement.seed = static_cast<std::uint64_t>(*seed);
  return placement;
}

Status change(YAML::Node& document, const ClusterChange& one) {
  const auto& [name, value] = one;
  // Errors of a word cannot refer to lines of their own.
  const bool is_word = value.empty() || (value.front() != '[' && value.front() != '{');
  const YAML::Node node = is_word ? YAML::Node(value) : YAML::Load(value);
  if (name.starts_with(kFabric)) {
    YAML::Node fabric = document["fabric"];
    if (!fabric.IsMap()) return {};  // the reader reports this error
    fabric[name.substr(kFabric.size())] = node;
    return {};
  }
  document[name] = node;
  return {};
}

Result<ClusterFile> read_cluster(YAML::Node document, const std::string& where,
                                 const std::vector<ClusterChange>& changes) {
  constexpr std::string_view kKeys[] = {"ringside",   "name",   "nodes",
                                        "nvl_domain", "fabric", "placement"};
  const YamlMapping root{document, where};
  RINGSIDE_TRY(check_yaml_document(root, "cluster/1", "a cluster", kKeys));
  for (const ClusterChange& one : changes) {
    RINGSIDE_TRY(change(document, one));
  }
  ClusterFile cluster;
  RINGSIDE_TRY(cluster.name, root.word("name", "my-cluster"));
  RINGSIDE_TRY(cluster.nodes, read_nodes(root));
  if (root.has("nvl_domain")) {
    RINGSIDE_TRY(cluster.nvl_domain, root.whole("nvl_domain", 1, kMostFabricHosts, "18"));
    RINGSIDE_TRY(const YAML::Node node, root.find("nvl_domain", "18"));
    cluster.nvl_domain_where = place_of(root, node);
  }
  RINGSIDE_TRY(const YAML::Node fabric, root.find("fabric", "{kind: switch}"));
  RINGSIDE_TRY(cluster.fabric, read_fabric(fabric, where, changes));
  RINGSIDE_TRY(cluster.placement, read_placement(root));
  return cluster;
}

}  // namespace

Result<ClusterFile> parse_cluster(const std::string& text, const std::string& where,
                                  const std::vector<ClusterChange>& changes) {
  if (text.size() > kMostText) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: {} bytes", where, text.size()),
                 fmt::format("a cluster's file has {} at most: {} nodes, {} rules, a placement",
                             kMostText, kMostEntries, kMostRules)};
  }
  try {
    RINGSIDE_TRY(const YAML::Node document, load_yaml_document(text, where));
    return read_cluster(document, where, changes);
  } catch (const YAML::Exception& exception) {
    return yaml_error(exception, where);
  }
}

bool is_cluster_text(std::string_view text) {
  constexpr std::string_view kKey = "ringside:";
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    std::string_view line = text.substr(from, end - from);
    from = end + 1;
    if (!line.starts_with(kKey)) continue;
    line.remove_prefix(kKey.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t\"'"), line.size()));
    return line.starts_with("cluster/");
  }
  return false;
}

Result<ClusterFile> cluster_of_platform(Platform platform, const std::string& node,
                                        const std::vector<ClusterChange>& changes) {
  ClusterFile cluster;
  cluster.name = std::filesystem::path(platform.where).stem().string();
  for (const Platform::Host& host : platform.hosts) {
    const std::string& source = host.node.empty() ? node : host.node;
    if (source.empty()) {
      return Error{ErrorCode::Corrupt,
                   fmt::format("{}: the node type of host {} is unknown", host.where, host.name),
                   "add <prop id=\"ringside_node\" value=\"dgx-h100\"/> to it or to its zone, or "
                   "give --on dgx-h100@" +
                       platform.where};
    }
    if (cluster.nodes.empty() || cluster.nodes.back().source != source) {
      if (cluster.nodes.size() == kMostEntries) {
        return Error{ErrorCode::Corrupt,
                     fmt::format("{}: more than {} runs of alike nodes", host.where, kMostEntries),
                     "order the hosts by their node"};
      }
      cluster.nodes.push_back({.source = source, .count = 0, .where = host.where});
    }
    ++cluster.nodes.back().count;
  }
  for (const auto& [name, value] : changes) {
    if (name != "placement") {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("--set {}: {} defines its whole fabric", name, platform.where),
                   "change the platform's file; placement can be set"};
    }
    try {
      YAML::Node document(YAML::NodeType::Map);
      RINGSIDE_TRY(change(document, {name, value}));
      RINGSIDE_TRY(cluster.placement, read_placement(YamlMapping{document, "--set"}));
    } catch (const YAML::Exception& error) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("--set placement={}: not YAML: {}", value, error.msg),
                   "packed, scattered 7 or [3, 1, 7]"};
    }
  }
  cluster.fabric.kind = FabricKind::Platform;
  cluster.fabric.where = platform.where;
  cluster.fabric.platform = std::make_shared<const Platform>(std::move(platform));
  return cluster;
}

bool is_cluster_key(std::string_view name) {
  return name == "placement" || name.starts_with(kFabric);
}

}  // namespace ringside
