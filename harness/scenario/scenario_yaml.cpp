#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/shipped_file.h"
#include "base/suggest.h"
#include "base/text.h"
#include "engine/faults/fault_text.h"
#include "engine/topology/sources/description_file.h"
#include "engine/topology/sources/yaml_mapping.h"
#include "harness/hangs/fault.h"
#include "harness/hangs/outline_yaml.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/schema.h"
#include "harness/scenario/workload.h"

namespace ringside {
namespace {

constexpr int kMostRanks = 65536;
constexpr std::size_t kMostParallel = 6;  ///< Chosen: Megatron-LM has five dimensions

/// Reads one scenario; ProgramReader reads the steps of the ranks.
class ScenarioReader {
 public:
  ScenarioReader(const YamlMapping& root, const ScenarioReading& reading)
      : root_(root), reading_(reading) {}

  Result<Scenario> read() {
    RINGSIDE_TRY(check_yaml_document(root_, "scenario/1",
                                     "a job, its faults, and its expected outcome",
                                     names_of(scenario_keys())));
    RINGSIDE_TRY(scenario_.name, root_.word("name", "skipped-collective"));
    if (root_.has("about")) {
      RINGSIDE_TRY(scenario_.about, root_.word("about", "one rank leaves"));
    }
    for (const std::string* const text : {&scenario_.name, &scenario_.about}) {
      const bool is_plain =
          std::ranges::none_of(*text, [](unsigned char c) { return c < ' ' || c == 127; });
      if (!is_plain) {
        return root_.bad(root_.node(), "name or about: what steers a terminal", "leave it out");
      }
    }
    RINGSIDE_TRY(read_cluster());
    if (root_.has("workload")) {
      RINGSIDE_TRY(read_workload());
    } else {
      RINGSIDE_TRY(read_program());
    }
    if (root_.has("watchdog")) {
      RINGSIDE_TRY(scenario_.watchdog, read_watchdog());
    }
    if (root_.has("absent")) {
      RINGSIDE_TRY(scenario_.absent, read_rank_list(root_, "absent"));
    }
    RINGSIDE_TRY(scenario_.faults.seed, read_fault_seed(root_));
    if (root_.has("faults")) {
      RINGSIDE_TRY(read_faults_of_groups());
    }
    if (root_.has("expect")) {
      RINGSIDE_TRY(read_expectation());
    }
    return std::move(scenario_);
  }

 private:
  Status read_cluster() {
    if (!reading_.on.empty()) {
      scenario_.on = reading_.on;
      scenario_.cluster_place = "--on " + reading_.on;
      return {};
    }
    if (!root_.has("cluster")) return {};
    constexpr const char* kExample = "{on: dgx-h100, nodes: 2}";
    RINGSIDE_TRY(const YamlMapping cluster,
                 root_.child("cluster", kExample, names_of(cluster_keys())));
    RINGSIDE_TRY(scenario_.on, cluster.word("on", "dgx-h100"));
    RINGSIDE_TRY(const YAML::Node at, cluster.find("on", "dgx-h100"));
    scenario_.cluster_place = place_of(at);
    if (cluster.has("nodes")) {
      RINGSIDE_TRY(scenario_.nodes, cluster.whole("nodes", 1, kMostRanks, "2"));
    }
    if (cluster.has("broken")) {
      RINGSIDE_TRY(scenario_.broken, cluster.word("broken", "ib-disable"));
    }
    if (!cluster.has("set")) return {};
    RINGSIDE_TRY(const YAML::Node set, cluster.find("set", "{NCCL_ALGO: Ring}"));
    if (!set.IsMap()) return cluster.bad(set, "set maps variables to values", "{NCCL_ALGO: Ring}");
    for (const auto& entry : set) {
      if (!entry.first.IsScalar() || !entry.second.IsScalar()) {
        return cluster.bad(entry.first, "set maps variables to values", "{NCCL_ALGO: Ring}");
      }
      scenario_.set.push_back(entry.first.Scalar() + "=" + entry.second.Scalar());
    }
    return {};
  }

  /// Returns the place of a value that a later reader may refuse.
  [[nodiscard]] std::string place_of(const YAML::Node& at) const {
    return fmt::format("{}:{}", root_.where(), at.Mark().line + 1);
  }

  Status read_program() {
    RINGSIDE_TRY(const int ranks, read_ranks());
    int ranks_per_host = std::min(ranks, 8);
    if (root_.has("ranks_per_host")) {
      RINGSIDE_TRY(ranks_per_host, root_.whole("ranks_per_host", 1, ranks, "8"));
    }
    int iterations = 1;
    if (root_.has("iterations")) {
      RINGSIDE_TRY(iterations, hangs::read_iterations(root_, 1));
    }
    scenario_.outline = hangs::outline_of(scenario_.name, ranks, ranks_per_host, iterations);
    add_parallel_groups(parallel_, scenario_.outline);
    return hangs::read_program(root_, scenario_.outline);
  }

  /// Returns the value of `ranks`, or the product of the dimensions.
  Result<int> read_ranks() {
    if (!root_.has("parallel")) return root_.whole("ranks", 1, kMostRanks, "8");
    constexpr const char* kExample = "{tensor: 2, pipeline: 2, data: 2}";
    RINGSIDE_TRY(const YAML::Node dims, root_.find("parallel", kExample));
    if (!dims.IsMap() || dims.size() == 0 || dims.size() > kMostParallel) {
      return root_.bad(dims, "parallel maps names of groups to their sizes, innermost first",
                       kExample);
    }
    std::int64_t ranks = 1;
    for (const auto& entry : dims) {
      const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : std::string{};
      const auto size = parse_int(entry.second.IsScalar() ? entry.second.Scalar() : std::string{});
      if (name.empty() || name == "world" || !size || *size < 1 || *size > kMostRanks) {
        return root_.bad(entry.first, fmt::format("'{}' is no dimension with a size", name),
                         kExample);
      }
      parallel_.push_back({name, static_cast<int>(*size)});
      ranks *= *size;
      if (ranks > kMostRanks) {
        return root_.bad(dims, fmt::format("more than {} ranks", kMostRanks), "give fewer");
      }
    }
    if (root_.has("ranks")) {
      RINGSIDE_TRY(const int given, root_.whole("ranks", 1, kMostRanks, "8"));
      if (given != ranks) {
        return root_.bad(dims,
                         fmt::format("the dimensions make {} ranks, and ranks: {}", ranks, given),
                         "remove ranks");
      }
    }
    return static_cast<int>(ranks);
  }

  /// A workload as the file gives it.
  struct GivenWorkload {
    YAML::Node name;
    WorkloadKeys keys;
    std::map<std::string, YAML::Node, std::less<>> places;  ///< of the keys

    /// Returns whether the keys state how fast a GPU computes.
    [[nodiscard]] bool names_gpu() const {
      return keys.contains("gpu") || keys.contains("gpu_tflops");
    }
  };

  Result<GivenWorkload> read_workload_keys() {
    constexpr const char* kExample =
        "{megatron: {model: llama-70b, tensor: 8, pipeline: 4, data: 32}}";
    RINGSIDE_TRY(const YAML::Node node, root_.find("workload", kExample));
    if (!node.IsMap() || node.size() != 1 || !node.begin()->first.IsScalar() ||
        !node.begin()->second.IsMap()) {
      return root_.bad(node, "a workload is one name with its keys", kExample);
    }
    GivenWorkload given;
    given.name = node.begin()->first;
    // The iterator's node is destroyed with the iterator.
    const YAML::Node values = node.begin()->second;
    for (const auto& entry : values) {
      if (!entry.first.IsScalar() || !entry.second.IsScalar()) {
        return root_.bad(entry.first, "keys and values of a workload are words", kExample);
      }
      if (!given.keys.emplace(entry.first.Scalar(), entry.second.Scalar()).second) {
        return root_.bad(entry.first, fmt::format("key '{}' appears twice", entry.first.Scalar()),
                         "keep one of them");
      }
      given.places[entry.first.Scalar()] = entry.first;
    }
    return given;
  }

  /// Adds the keys that the hosts determine: their GPU. The file's own GPU takes precedence, unless other hosts were
  /// requested than those of the file.
  Status add_keys_of_hosts(GivenWorkload& given) {
    const bool has_other_hosts = !reading_.on.empty();
    if (!reading_.keys_of_hosts || scenario_.on.empty()) return {};
    if (given.names_gpu() && !has_other_hosts) return {};
    auto found = reading_.keys_of_hosts(scenario_.on);
    if (!found) {
      return Error{found.error().code,
                   fmt::format("{}: {}", scenario_.cluster_place, found.error().message),
                   found.error().help};
    }
    if (has_other_hosts && !found->empty()) {
      for (const char* const key : {"gpu", "gpu_tflops", "gpu_memory_gb"}) given.keys.erase(key);
    }
    if (given.names_gpu()) return {};
    if (given.name.Scalar() == "inference") found->erase("gpu_memory_gb");
    given.keys.merge(*found);
    return {};
  }

  Status read_workload() {
    for (const char* const other : {"steps", "groups", "parallel", "ranks"}) {
      if (!root_.has(other)) continue;
      RINGSIDE_TRY(const YAML::Node at, root_.find(other, ""));
      return root_.bad(at, fmt::format("'{}' together with a workload", other),
                       "a workload makes its own ranks, groups and steps");
    }
    RINGSIDE_TRY(GivenWorkload given, read_workload_keys());
    RINGSIDE_TRY(add_keys_of_hosts(given));
    const auto bad = [&](std::string_view key, const std::string& what, const std::string& help) {
      const auto place = given.places.find(key);
      return root_.bad(place == given.places.end() ? given.name : place->second, what, help);
    };
    const std::string name = given.name.Scalar();
    RINGSIDE_TRY(scenario_.outline, make_workload(name, given.keys, bad));
    WorkloadKeys checked = given.keys;
    if (!reading_.checks_memory && name != "inference") checked["check_memory"] = "no";
    RINGSIDE_TRY(scenario_.training, training_facts(name, checked, bad));
    scenario_.workload = name;
    scenario_.workload_keys = std::move(given.keys);
    scenario_.outline.name = scenario_.name;
    if (root_.has("iterations")) {
      RINGSIDE_TRY(scenario_.outline.iterations, hangs::read_iterations(root_, 1));
    }
    if (root_.has("ranks_per_host")) {
      RINGSIDE_TRY(scenario_.outline.ranks_per_host,
                   root_.whole("ranks_per_host", 1, scenario_.outline.ranks, "8"));
    }
    return {};
  }

  Result<Seconds> read_watchdog() {
    RINGSIDE_TRY(const Seconds time, root_.quantity<Seconds>("watchdog", "30s", parse_time));
    if (time >= Seconds{0.1} && time <= Seconds{86400}) return time;
    RINGSIDE_TRY(const YAML::Node at, root_.find("watchdog", "30s"));
    return root_.bad(at, "a watchdog of less than 100 ms, or of more than a day", "such as 30s");
  }

  /// Reads different ranks of the job, ascending.
  Result<std::vector<int>> read_rank_list(const YamlMapping& from, const char* key) {
    RINGSIDE_TRY(const YAML::Node list, from.find(key, "[3]"));
    if (!list.IsSequence())
      return from.bad(list, fmt::format("{} are a list of ranks", key), "[3]");
    std::vector<int> ranks;
    for (const YAML::Node& node : list) {
      const auto rank = parse_int(node.IsScalar() ? node.Scalar() : std::string{});
      if (!rank || *rank < 0 || *rank >= scenario_.outline.ranks) {
        return from.bad(node, fmt::format("{}: no rank of the job", key),
                        fmt::format("give 0 to {}", scenario_.outline.ranks - 1));
      }
      ranks.push_back(static_cast<int>(*rank));
    }
    std::ranges::sort(ranks);
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }

  Status read_faults_of_groups() {
    RINGSIDE_TRY(scenario_.faults.faults, read_faults(root_));
    RINGSIDE_TRY(const YAML::Node at, root_.find("faults", ""));
    const std::vector<std::string_view> names = group_names();
    for (const Fault& fault : scenario_.faults.faults) {
      if (!fault.on.empty() && std::ranges::find(names, fault.on) == names.end()) {
        return root_.bad(at, fmt::format("a fault on unknown groups '{}'", fault.on),
                         suggestion(fault.on, names));
      }
      for (const std::optional<int>& rank : {fault.rank, fault.from, fault.to}) {
        if (!rank || *rank < scenario_.outline.ranks) continue;
        return root_.bad(
            at, fmt::format("a fault of rank {} in a job of {}", *rank, scenario_.outline.ranks),
            fmt::format("give 0 to {}", scenario_.outline.ranks - 1));
      }
    }
    return {};
  }

  Status read_expectation() {
    constexpr const char* kExample = "{hang: {kind: missing_rank, culprits: [3]}}";
    RINGSIDE_TRY(const YamlMapping expect,
                 root_.child("expect", kExample, names_of(expect_keys())));
    if (expect.has("hang") == expect.has("finished")) {
      return root_.bad(expect.node(), "a job hangs or is finished", kExample);
    }
    if (expect.has("findings")) {
      RINGSIDE_TRY(read_findings(expect));
    }
    if (expect.has("finished")) return read_finished(expect);
    scenario_.expect.outcome = Expectation::Outcome::Hang;
    RINGSIDE_TRY(const YamlMapping hang,
                 expect.child("hang", kExample, names_of(expect_hang_keys())));
    RINGSIDE_TRY(const YAML::Node kinds, hang.find("kind", "missing_rank"));
    if (kinds.IsScalar()) {
      RINGSIDE_TRY(add_kind(hang, kinds));
    } else if (kinds.IsSequence()) {
      for (const YAML::Node& kind : kinds) {
        RINGSIDE_TRY(add_kind(hang, kind));
      }
    }
    if (scenario_.expect.kinds.empty()) return hang.bad(kinds, "no kind of hang", kExample);
    if (hang.has("call")) {
      RINGSIDE_TRY(scenario_.expect.call, read_call(hang));
    }
    if (hang.has("culprits")) {
      RINGSIDE_TRY(scenario_.expect.culprits, read_rank_list(hang, "culprits"));
    }
    return {};
  }

  [[nodiscard]] std::vector<std::string_view> group_names() const {
    std::vector<std::string_view> names;
    for (const hangs::Family& family : scenario_.outline.families) names.push_back(family.name);
    return names;
  }

  /// Reads one of the words; an error suggests the closest one.
  static Result<std::string> one_of(const YamlMapping& from, const char* key,
                                    const std::vector<std::string_view>& words) {
    RINGSIDE_TRY(const std::string word, from.word(key, std::string(words.front()).c_str()));
    if (std::ranges::find(words, word) != words.end()) return word;
    RINGSIDE_TRY(const YAML::Node at, from.find(key, ""));
    return from.bad(at, fmt::format("{}: '{}' is not known", key, word), suggestion(word, words));
  }

  static std::vector<std::string_view> call_names() {
    std::vector<std::string_view> names;
    for (int op = 0; op <= static_cast<int>(hangs::Op::Recv); ++op) {
      names.emplace_back(hangs::to_string(static_cast<hangs::Op>(op)));
    }
    return names;
  }

  Result<ExpectedCall> read_call(const YamlMapping& hang) {
    static constexpr std::array<std::string_view, 3> kKeys{"call", "on", "number"};
    RINGSIDE_TRY(const YamlMapping call,
                 hang.child("call", "{call: all_reduce, on: world}", kKeys));
    ExpectedCall expected;
    if (call.has("call")) {
      RINGSIDE_TRY(expected.call, one_of(call, "call", call_names()));
    }
    if (call.has("on")) {
      RINGSIDE_TRY(expected.on, one_of(call, "on", group_names()));
    }
    if (call.has("number")) {
      RINGSIDE_TRY(expected.number, call.whole("number", 1, 1 << 30, "12"));
    }
    return expected;
  }

  Result<ExpectedBusbw> read_busbw(const YamlMapping& one) {
    static constexpr std::array<std::string_view, 4> kKeys{"call", "on", "at_least", "at_most"};
    RINGSIDE_TRY(one.check(kKeys));
    ExpectedBusbw expected;
    RINGSIDE_TRY(expected.call, one_of(one, "call", call_names()));
    RINGSIDE_TRY(expected.on, one_of(one, "on", group_names()));
    if (one.has("at_least")) {
      RINGSIDE_TRY(expected.at_least,
                   one.quantity<BytesPerSecond>("at_least", "300GB/s", parse_bandwidth));
    }
    if (one.has("at_most")) {
      RINGSIDE_TRY(expected.at_most,
                   one.quantity<BytesPerSecond>("at_most", "400GB/s", parse_bandwidth));
    }
    if (scenario_.on.empty()) {
      return one.bad(one.node(), "a bus bandwidth, and no cluster is given",
                     "add cluster: {on: dgx-h100, nodes: 2}");
    }
    return expected;
  }

  Status read_findings(const YamlMapping& expect) {
    RINGSIDE_TRY(const YAML::Node list, expect.find("findings", "[socket_fallback]"));
    if (!list.IsSequence()) {
      return expect.bad(list, "findings are a list of ids", "[socket_fallback]");
    }
    if (scenario_.on.empty()) {
      return expect.bad(list, "findings, and no cluster is given",
                        "add cluster: {on: dgx-h100, nodes: 2}");
    }
    for (const YAML::Node& id : list) {
      if (!id.IsScalar() || id.Scalar().empty()) {
        return expect.bad(id, "findings are a list of ids", "[socket_fallback]");
      }
      scenario_.expect.findings.push_back(id.Scalar());
    }
    return {};
  }

  Status add_kind(const YamlMapping& hang, const YAML::Node& node) {
    const std::string word = node.IsScalar() ? node.Scalar() : std::string{};
    if (const auto kind = hangs::parse_fault_class(word); !kind) {
      return hang.bad(node, kind.error().message, kind.error().help);
    }
    scenario_.expect.kinds.push_back(word);
    return {};
  }

  Status read_finished(const YamlMapping& expect) {
    scenario_.expect.outcome = Expectation::Outcome::Finished;
    RINGSIDE_TRY(const YAML::Node node, expect.find("finished", "{at_most: 20ms}"));
    if (node.IsNull() || (node.IsScalar() && node.Scalar() == "yes")) return {};
    RINGSIDE_TRY(const YamlMapping finished,
                 expect.child("finished", "{at_most: 20ms}", names_of(expect_finished_keys())));
    if (finished.has("at_least")) {
      RINGSIDE_TRY(scenario_.expect.at_least,
                   finished.quantity<Seconds>("at_least", "10ms", parse_time));
    }
    if (finished.has("at_most")) {
      RINGSIDE_TRY(scenario_.expect.at_most,
                   finished.quantity<Seconds>("at_most", "20ms", parse_time));
    }
    if (finished.has("busbw")) {
      RINGSIDE_TRY(const YAML::Node list, finished.find("busbw", ""));
      if (!list.IsSequence()) {
        return finished.bad(list, "busbw is a list of bounds",
                            "[{call: all_reduce, on: data, at_least: 300GB/s}]");
      }
      for (const YAML::Node& bound : list) {
        RINGSIDE_TRY(ExpectedBusbw one, read_busbw(YamlMapping(bound, root_.where())));
        scenario_.expect.busbw.push_back(std::move(one));
      }
    }
    if (scenario_.expect.at_least && scenario_.expect.at_most &&
        *scenario_.expect.at_least > *scenario_.expect.at_most) {
      return finished.bad(finished.node(), "at_least is more than at_most", "swap them");
    }
    return {};
  }

  const YamlMapping& root_;
  const ScenarioReading& reading_;
  Scenario scenario_;
  std::vector<ParallelDimension> parallel_;
};

}  // namespace

Result<Scenario> parse_scenario(const std::string& text, const std::string& where,
                                const ScenarioReading& reading) {
  try {
    RINGSIDE_TRY(YAML::Node document, load_yaml_document(text, where));
    const YamlMapping root(std::move(document), where);
    const auto is_of_schema = [&root](const char* schema) {
      return root.node().IsMap() && root.has("ringside") && root.node()["ringside"].IsScalar() &&
             root.node()["ringside"].Scalar() == schema;
    };
    if (is_of_schema("hang-program/1")) {  // the older format: a program alone
      Scenario scenario;
      RINGSIDE_TRY(scenario.outline, hangs::parse_outline(text, where));
      scenario.name = scenario.outline.name;
      return scenario;
    }
    if (is_of_schema("sweep/1")) {
      return root.bad(root.node(), "this is a sweep, not a scenario",
                      fmt::format("ringside sweep {}", where));
    }
    return ScenarioReader(root, reading).read();
  } catch (const YAML::Exception& exception) {
    return yaml_error(exception, where);
  }
}

Error with_shipped_files(Error error) {
  if (error.code == ErrorCode::NotFound && error.help.empty()) {
    error.help =
        "scenarios and sweeps that come with ringside are found from any folder by their path: "
        "scenarios/hangs/skipped-collective.yaml";
  }
  return error;
}

Result<Scenario> load_scenario(const std::string& path, const ScenarioReading& reading) {
  // Files of `scenario import` contain whole traces.
  constexpr Bytes kMostScenario{std::uint64_t{64} << 20};
  const std::string place = shipped_file(path).value_or(path);
  const auto text = read_description(place, kMostScenario);
  if (!text) return with_shipped_files(text.error());
  return parse_scenario(*text, place, reading);
}

}  // namespace ringside
