#include "study/sweep/sweep_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/assert.h"
#include "base/shipped_file.h"
#include "base/suggest.h"
#include "engine/topology/sources/description_file.h"
#include "engine/topology/sources/yaml_mapping.h"
#include "harness/scenario/scenario.h"

namespace ringside::study {
namespace {

namespace fs = std::filesystem;
using KeyValues = std::vector<std::pair<std::string, std::string>>;

// More than a person compares; they keep the grid of a damaged file small.
constexpr std::size_t kMostClusters = 256, kMostWorkloads = 256, kMostAxes = 8;

bool is_plain(const std::string& text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c < ' ' || c == 127; });
}

/// A unit, with its factor relative to the unit of the stored figure.
struct FigureUnit {
  std::string_view name;
  double factor;
};
constexpr std::array<FigureUnit, 3> kWatts{{{"W", 1}, {"kW", 1e3}, {"MW", 1e6}}};
constexpr std::array<FigureUnit, 1> kPercent{{{"%", 1}}};

/// Returns the names of a kind's keys.
/// kind  one of workload_kinds()
const auto& keys_of(std::string_view kind) {
  const auto& kinds = workload_kinds();
  const auto found = std::ranges::find(kinds, kind, &WorkloadKind::name);
  RINGSIDE_ASSERT(found != kinds.end(), "no kind of workload '{}'", kind);
  return found->keys;
}

bool has_key(std::string_view kind, std::string_view key) {
  const auto& keys = keys_of(kind);
  return std::ranges::find(keys, key) != keys.end();
}

/// Checks that each workload has the varied key; of a key of the cluster, that each value is valid on its own.
/// errors  InvalidArgument
Status check_vary(const VaryAxis& axis, const std::vector<SweepWorkload>& workloads) {
  if (is_workload_setting(axis.key)) {
    for (const SweepWorkload& workload : workloads) {
      if (workload.kind.empty()) {
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("{} of workload {}, a scenario", axis.key, workload.name),
                     "its steps are given one by one: vary the cluster, or give it a workload"};
      }
      const std::string key =
          axis.key == kLayoutKey ? "tensor" : axis.key.substr(kWorkloadPrefix.size());
      if (has_key(workload.kind, key)) continue;
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{}: {} has no '{}'", axis.key, workload.kind, key),
                   axis.key == kLayoutKey ? "layout is for megatron and moe"
                                          : suggestion(key, keys_of(workload.kind))};
    }
    return {};
  }
  for (const std::string& value : axis.values) {
    SimQuestion tried;
    if (const Status set = apply_setting(tried, axis.key, value); !set) {
      return Error{ErrorCode::InvalidArgument, set.error().message,
                   set.error().help + ", workload.KEY of a workload, layout=auto"};
    }
  }
  return {};
}

/// Reads one sweep.
class SweepReader {
 public:
  explicit SweepReader(const YamlMapping& root) : root_(root) {}

  Result<Sweep> read() {
    RINGSIDE_TRY(check_yaml_document(
        root_, "sweep/1", "a sweep over clusters, workloads and settings",
        std::array<std::string_view, 11>{"ringside", "name", "about", "currency", "tokens",
                                         "compute_error", "one_job", "clusters", "workloads",
                                         "vary", "assumptions"}));
    sweep_.where = root_.where();
    RINGSIDE_TRY(sweep_.name, plain_word(root_, "name", "four-clusters"));
    RINGSIDE_TRY(sweep_.about, optional_word(root_, "about", "which one is fastest?"));
    RINGSIDE_TRY(sweep_.currency, optional_word(root_, "currency", "EUR"));
    RINGSIDE_TRY(sweep_.tokens, figure(root_, "tokens", "1e12", {}));
    RINGSIDE_TRY(sweep_.compute_error, figure(root_, "compute_error", "10 %", kPercent));
    RINGSIDE_TRY(sweep_.is_one_job, yes(root_, "one_job", false));
    RINGSIDE_TRY(read_clusters());
    RINGSIDE_TRY(read_workloads());
    RINGSIDE_TRY(read_vary());
    RINGSIDE_TRY(read_assumptions());
    return std::move(sweep_);
  }

 private:
  static Result<std::string> plain_word(const YamlMapping& from, const char* key,
                                        const char* example) {
    RINGSIDE_TRY(std::string word, from.word(key, example));
    if (is_plain(word)) return word;
    RINGSIDE_TRY(const YAML::Node at, from.find(key, example));
    return from.bad(at, fmt::format("{} has control characters", key), "remove them");
  }

  static Result<std::string> optional_word(const YamlMapping& from, const char* key,
                                           const char* example) {
    if (!from.has(key)) return std::string{};
    return plain_word(from, key, example);
  }

  /// Returns the text of a scalar, and refuses control characters.  what  name of the scalar, for
  /// messages
  static Result<std::string> scalar(const YamlMapping& from, const YAML::Node& node,
                                    const std::string& what, const char* example) {
    if (node.IsScalar() && !node.Scalar().empty() && is_plain(node.Scalar())) return node.Scalar();
    return from.bad(node, what + " must be one word", fmt::format("such as {}", example));
  }

  static Result<bool> yes(const YamlMapping& from, const char* key, bool usual) {
    if (!from.has(key)) return usual;
    RINGSIDE_TRY(const std::string word, from.word(key, "yes"));
    if (word == "yes" || word == "no") return word == "yes";
    RINGSIDE_TRY(const YAML::Node at, from.find(key, "yes"));
    return from.bad(at, fmt::format("{} is neither yes nor no", key), "yes or no");
  }

  // ---- figures ---------------------------------------------------------------------------------

  /// Reads a non-negative number with an optional unit, or a mapping {value, source, assumed}.
  static Result<std::optional<SweepFigure>> figure(const YamlMapping& from, const char* key,
                                                   const char* example,
                                                   std::span<const FigureUnit> units) {
    if (!from.has(key)) return std::optional<SweepFigure>{};
    RINGSIDE_TRY(const YAML::Node node, from.find(key, example));
    SweepFigure figure;
    if (!node.IsMap()) {
      RINGSIDE_TRY(figure.value, number(from, node, key, example, units));
      return std::optional(figure);
    }
    RINGSIDE_TRY(
        const YamlMapping given,
        from.child(key, example, std::array<std::string_view, 3>{"value", "source", "assumed"}));
    RINGSIDE_TRY(const YAML::Node value, given.find("value", example));
    RINGSIDE_TRY(figure.value, number(given, value, key, example, units));
    RINGSIDE_TRY(figure.source, optional_word(given, "source", "data sheet"));
    RINGSIDE_TRY(figure.is_assumed, yes(given, "assumed", true));
    if (!figure.is_assumed && figure.source.empty()) {
      return given.bad(node, fmt::format("{}: not assumed, and no source", key),
                       "add source: \"where it is from\"");
    }
    return std::optional(figure);
  }

  static Result<double> number(const YamlMapping& from, const YAML::Node& node, const char* key,
                               const char* example, std::span<const FigureUnit> units) {
    const std::string text = node.IsScalar() ? node.Scalar() : std::string{};
    const auto bad = [&](const std::string& what) {
      return from.bad(node, fmt::format("{}: {}", key, what), fmt::format("such as {}", example));
    };
    double value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || !std::isfinite(value) || value < 0 || value > 1e18) {
      return bad(fmt::format("'{}' is no number of 0 to 1e18", is_plain(text) ? text : "?"));
    }
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    if (units.empty() && unit.empty()) return value;
    const auto found = std::ranges::find(units, unit, &FigureUnit::name);
    if (found != units.end()) return value * found->factor;
    std::vector<std::string_view> names;
    for (const FigureUnit& one : units) names.push_back(one.name);
    return bad(names.empty() ? fmt::format("'{}' has a unit", is_plain(text) ? text : "?")
                             : fmt::format("'{}': its unit is not {}", is_plain(text) ? text : "?",
                                           fmt::join(names, ", ")));
  }

  // ---- clusters --------------------------------------------------------------------------------

  /// Returns the entries of a mapping of names, in order. Refuses repeated names and too many
  /// entries.
  Result<std::vector<std::pair<std::string, YAML::Node>>> named(const char* key,
                                                                const char* example,
                                                                std::size_t most) const {
    RINGSIDE_TRY(const YAML::Node node, root_.find(key, example));
    if (!node.IsMap() || node.size() == 0 || node.size() > most) {
      return root_.bad(node, fmt::format("{} maps 1 to {} names to what they are", key, most),
                       fmt::format("such as {}: {}", key, example));
    }
    std::vector<std::pair<std::string, YAML::Node>> all;
    for (const auto& entry : node) {
      RINGSIDE_TRY(std::string name, scalar(root_, entry.first, "a name", example));
      if (std::ranges::find(all, name, &std::pair<std::string, YAML::Node>::first) != all.end()) {
        return root_.bad(entry.first, fmt::format("'{}' appears twice in {}", name, key),
                         "keep one of them");
      }
      all.emplace_back(std::move(name), entry.second);
    }
    return all;
  }

  /// Reads keys and values as texts.
  static Result<KeyValues> pairs(const YamlMapping& from, const char* key, const char* example) {
    KeyValues all;
    if (!from.has(key)) return all;
    RINGSIDE_TRY(const YAML::Node node, from.find(key, example));
    return pairs_of(from, node, key, example);
  }

  static Result<KeyValues> pairs_of(const YamlMapping& from, const YAML::Node& node,
                                    const std::string& what, const char* example) {
    KeyValues all;
    if (!node.IsMap()) return from.bad(node, what + " maps keys to values", example);
    for (const auto& entry : node) {
      RINGSIDE_TRY(std::string name, scalar(from, entry.first, "a key of " + what, example));
      RINGSIDE_TRY(std::string value, scalar(from, entry.second, "a value of " + what, example));
      if (std::ranges::find(all, name, &KeyValues::value_type::first) != all.end()) {
        return from.bad(entry.first, fmt::format("key '{}' appears twice", name),
                        "keep one of them");
      }
      all.emplace_back(std::move(name), std::move(value));
    }
    return all;
  }

  Status read_clusters() {
    constexpr const char* kExample = "{h100: {on: dgx-h100}}";
    RINGSIDE_TRY(const auto all, named("clusters", kExample, kMostClusters));
    for (const auto& [name, node] : all) {
      const YamlMapping entry(node, root_.where());
      RINGSIDE_TRY(entry.check(std::array<std::string_view, 7>{"on", "about", "nodes", "set",
                                                               "workload", "price", "power"}));
      SweepCluster cluster{.name = name};
      cluster.line = node.Mark().line + 1;
      RINGSIDE_TRY(cluster.about, optional_word(entry, "about", "eight GPUs a host"));
      RINGSIDE_TRY(cluster.on, plain_word(entry, "on", "dgx-h100"));
      cluster.on = path_next_to_file(cluster.on);
      if (entry.has("nodes")) {
        RINGSIDE_TRY(cluster.nodes, entry.whole("nodes", 1, 65536, "16"));
      }
      RINGSIDE_TRY(cluster.set, pairs(entry, "set", "{NCCL_ALGO: Ring, nics: 4}"));
      for (const auto& [key, value] : cluster.set) {
        RINGSIDE_TRY(check_setting(entry, "set", key, value));
      }
      RINGSIDE_TRY(cluster.workload, pairs(entry, "workload", "{gpu: h100, efficiency: 0.4}"));
      RINGSIDE_TRY(cluster.price, read_price(entry));
      RINGSIDE_TRY(cluster.power, read_power(entry));
      sweep_.clusters.push_back(std::move(cluster));
    }
    return {};
  }

  /// Returns the path of a file next to the sweep file, if it exists; else the name unchanged.
  [[nodiscard]] std::string path_next_to_file(const std::string& word) const {
    const fs::path path = fs::path(root_.where()).parent_path() / word;
    std::error_code failed;
    return fs::is_regular_file(path, failed) ? path.lexically_normal().string() : word;
  }

  /// Checks that a key exists and that its value is valid on its own, without the other settings.
  static Status check_setting(const YamlMapping& from, const char* where, const std::string& key,
                              const std::string& value) {
    SimQuestion tried;
    const Status set = apply_setting(tried, key, value);
    if (set) return {};
    RINGSIDE_TRY(const YAML::Node at, from.find(where, ""));
    return from.bad(at, set.error().message, set.error().help);
  }

  Result<SweepPrice> read_price(const YamlMapping& cluster) const {
    SweepPrice price;
    if (!cluster.has("price")) return price;
    constexpr const char* kExample = "{gpu_hour: 2.50}";
    RINGSIDE_TRY(const YamlMapping given,
                 cluster.child("price", kExample,
                               std::array<std::string_view, 6>{"host_hour", "gpu_hour", "host",
                                                               "fabric", "years", "kwh"}));
    RINGSIDE_TRY(price.host_hour, figure(given, "host_hour", "20.00", {}));
    RINGSIDE_TRY(price.gpu_hour, figure(given, "gpu_hour", "2.50", {}));
    RINGSIDE_TRY(price.host, figure(given, "host", "280000", {}));
    RINGSIDE_TRY(price.fabric, figure(given, "fabric", "30000", {}));
    RINGSIDE_TRY(price.years, figure(given, "years", "4", {}));
    RINGSIDE_TRY(price.kwh, figure(given, "kwh", "0.15", {}));
    const int prices = (price.host_hour ? 1 : 0) + (price.gpu_hour ? 1 : 0) + (price.host ? 1 : 0);
    if (prices != 1) {
      return given.bad(given.node(), "a price is one of host_hour, gpu_hour, host", kExample);
    }
    if (price.host.has_value() != price.years.has_value() || (price.fabric && !price.host)) {
      return given.bad(given.node(), "a purchase price has host and years, and maybe fabric",
                       "{host: 280000, fabric: 30000, years: 4}");
    }
    if (price.years && price.years->value < 0.1) {
      return given.bad(given.node(), "years: less than 0.1", "such as 4");
    }
    if (sweep_.currency.empty()) {
      return given.bad(given.node(), "a price without a currency", "add currency: EUR at the top");
    }
    return price;
  }

  static Result<SweepPower> read_power(const YamlMapping& cluster) {
    SweepPower power;
    if (!cluster.has("power")) return power;
    constexpr const char* kExample = "{host: 10.2kW, overhead: 1.3}";
    RINGSIDE_TRY(const YamlMapping given,
                 cluster.child("power", kExample,
                               std::array<std::string_view, 3>{"host", "waiting", "overhead"}));
    RINGSIDE_TRY(power.host, figure(given, "host", "10.2kW", kWatts));
    RINGSIDE_TRY(power.waiting, figure(given, "waiting", "5kW", kWatts));
    RINGSIDE_TRY(power.overhead, figure(given, "overhead", "1.3", {}));
    if (!power.host) return given.bad(given.node(), "power without host", kExample);
    if (power.overhead && power.overhead->value < 1) {
      return given.bad(given.node(), "overhead: less than 1",
                       "give the power usage effectiveness (PUE), such as 1.3");
    }
    return power;
  }

  // ---- workloads and settings ------------------------------------------------------------------

  Status read_workloads() {
    constexpr const char* kExample = "{70B: {megatron: {model: llama3-70b, tensor: 8, data: 32}}}";
    RINGSIDE_TRY(const auto all, named("workloads", kExample, kMostWorkloads));
    std::vector<std::string_view> kinds{"scenario"};
    for (const WorkloadKind& kind : workload_kinds()) kinds.push_back(kind.name);
    for (const auto& [name, node] : all) {
      if (!node.IsMap() || node.size() != 1 || !node.begin()->first.IsScalar()) {
        return root_.bad(node, "a workload is one kind with its keys", kExample);
      }
      const YAML::Node key = node.begin()->first;  // the iterator's node is destroyed with it
      const YAML::Node value = node.begin()->second;
      SweepWorkload workload{.name = name};
      workload.line = node.Mark().line + 1;
      if (std::ranges::find(kinds, key.Scalar()) == kinds.end()) {
        return root_.bad(
            key, fmt::format("unknown workload '{}'", is_plain(key.Scalar()) ? key.Scalar() : "?"),
            suggestion(key.Scalar(), kinds));
      }
      if (key.Scalar() == "scenario") {
        RINGSIDE_TRY(const std::string file,
                     scalar(root_, value, "scenario", "training/ddp-8.yaml"));
        workload.scenario =
            (fs::path(root_.where()).parent_path() / file).lexically_normal().string();
      } else {
        workload.kind = key.Scalar();
        RINGSIDE_TRY(const KeyValues keys, pairs_of(root_, value, workload.kind, kExample));
        workload.keys = {keys.begin(), keys.end()};
        RINGSIDE_TRY(check_keys(value, workload, keys));
      }
      sweep_.workloads.push_back(std::move(workload));
    }
    return {};
  }

  /// Checks that the workload's kind has the given keys, and those that the clusters set. Their values are checked at
  /// each point.
  Status check_keys(const YAML::Node& at, const SweepWorkload& workload, const KeyValues& keys) {
    RINGSIDE_TRY(check_known(at, workload.kind, keys));
    for (const SweepCluster& cluster : sweep_.clusters) {
      for (const auto& [key, value] : cluster.workload) {
        if (has_key(workload.kind, key)) continue;
        return Error{ErrorCode::Corrupt,
                     fmt::format("{}:{}: cluster {}: {} has no key '{}'", root_.where(),
                                 cluster.line, cluster.name, workload.kind, key),
                     suggestion(key, keys_of(workload.kind))};
      }
    }
    return {};
  }

  Status check_known(const YAML::Node& at, const std::string& kind, const KeyValues& keys) const {
    for (const auto& [key, value] : keys) {
      if (has_key(kind, key)) continue;
      return root_.bad(at, fmt::format("{}: unknown key '{}'", kind, key),
                       suggestion(key, keys_of(kind)));
    }
    return {};
  }

  Status read_vary() {
    if (!root_.has("vary")) return {};
    constexpr const char* kExample = "[NCCL_ALGO=Ring,Tree, 'nics=4,8']";
    RINGSIDE_TRY(const YAML::Node list, root_.find("vary", kExample));
    if (!list.IsSequence() || list.size() > kMostAxes) {
      return root_.bad(list, fmt::format("vary is a list of at most {} KEY=V1,V2", kMostAxes),
                       "- nics=4,8");
    }
    for (const YAML::Node& node : list) {
      RINGSIDE_TRY(const std::string text, scalar(root_, node, "a line of vary", "nics=4,8"));
      auto axis = parse_vary(text);
      if (!axis) {
        return root_.bad(node, axis.error().message,
                         axis.error().help + ", in quotes if it is between [ and ]");
      }
      if (std::ranges::find(sweep_.vary, axis->key, &VaryAxis::key) != sweep_.vary.end()) {
        return root_.bad(node, fmt::format("{} appears twice", axis->key),
                         "give its values once, with commas between");
      }
      RINGSIDE_TRY(check_axis(node, *axis));
      if (axis->key == "on") {
        for (std::string& value : axis->values) value = path_next_to_file(value);
      }
      sweep_.vary.push_back(*std::move(axis));
    }
    return {};
  }

  [[nodiscard]] Status check_axis(const YAML::Node& node, const VaryAxis& axis) const {
    const Status checked = check_vary(axis, sweep_.workloads);
    return checked ? Status{} : root_.bad(node, checked.error().message, checked.error().help);
  }

  Status read_assumptions() {
    if (!root_.has("assumptions")) return {};
    RINGSIDE_TRY(const YAML::Node list, root_.find("assumptions", "[nothing fails]"));
    if (!list.IsSequence())
      return root_.bad(list, "assumptions are a list of texts", "- no failures");
    for (const YAML::Node& node : list) {
      RINGSIDE_TRY(std::string text, scalar(root_, node, "an assumption", "\"nothing fails\""));
      sweep_.assumptions.push_back(std::move(text));
    }
    return {};
  }

  const YamlMapping& root_;
  Sweep sweep_;
};

}  // namespace

Result<Sweep> parse_sweep(const std::string& text, const std::string& where) {
  try {
    RINGSIDE_TRY(const YAML::Node document, load_yaml_document(text, where));
    const YamlMapping root(document, where);
    return SweepReader(root).read();
  } catch (const YAML::Exception& exception) {
    return yaml_error(exception, where);
  }
}

Result<Sweep> sweep_of_scenario(const Scenario& scenario, const std::string& path,
                                const std::vector<std::string>& vary) {
  const auto bad = [](const std::string& what, const std::string& help) {
    return Error{ErrorCode::InvalidArgument, "--vary: " + what, help};
  };
  if (scenario.on.empty()) {
    return bad(path + " has no cluster", "add cluster: {on: dgx-h100}");
  }
  if (!scenario.faults.faults.empty() || !scenario.absent.empty() || !scenario.broken.empty()) {
    return bad(path + " has faults", "compare jobs that finish: remove the faults");
  }
  Sweep sweep{.name = scenario.name, .about = scenario.about, .where = path};
  SweepCluster cluster{.name = scenario.on, .on = scenario.on, .nodes = scenario.nodes};
  for (const std::string& setting : scenario.set) {
    const std::size_t equals = setting.find('=');
    cluster.set.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  sweep.clusters.push_back(std::move(cluster));
  SweepWorkload workload{.name = scenario.name, .kind = scenario.workload};
  if (scenario.workload.empty()) {
    workload.scenario = path;
  } else {
    workload.keys = scenario.workload_keys;
  }
  sweep.workloads.push_back(std::move(workload));
  for (const std::string& text : vary) {
    RINGSIDE_TRY(VaryAxis axis, parse_vary(text));
    if (std::ranges::find(sweep.vary, axis.key, &VaryAxis::key) != sweep.vary.end()) {
      return bad(axis.key + " appears twice", "give its values once, with commas between");
    }
    RINGSIDE_TRY(check_vary(axis, sweep.workloads));
    // The GPU of other hosts is another one.
    if (axis.key == "on") sweep.workloads.front().keys.erase("gpu");
    sweep.vary.push_back(std::move(axis));
  }
  return sweep;
}

Result<Sweep> load_sweep(const std::string& path) {
  const std::string place = shipped_file(path).value_or(path);
  const auto text = read_description(place);
  if (!text) return with_shipped_files(text.error());
  return parse_sweep(*text, place);
}

}  // namespace ringside::study
