#include "harness/hangs/outline_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "base/text.h"
#include "engine/topology/sources/yaml_mapping.h"
#include "harness/hangs/outline.h"
#include "harness/hangs/outline_schema.h"

namespace ringside::hangs {
namespace {

using OutlineKind = OutlineStep::Kind;

// Limits of a document, so that a few bytes of it cannot take all memory or overflow a time. They are far above real
// jobs.
constexpr int kMaxRanks = 4096;  ///< of a hang-program; scenario/1 has its own
constexpr int kMaxIterations = 100'000;
constexpr std::int64_t kMaxCount = 1LL << 40;
constexpr Seconds kMaxTime{86400};
constexpr int kMaxLoops = 8;
constexpr std::size_t kMaxLoopSteps = 1'000'000;

/// Reads the groups and steps of a program after its ranks are known.
/// source  the keys of each step: outline_schema.h; the grammar in words: docs/reference/scenarios.md
class ProgramReader {
 public:
  ProgramReader(const YamlMapping& root, Outline& outline) : root_(root), outline_(outline) {}

  Status read() {
    if (root_.has("groups")) {
      RINGSIDE_TRY(read_groups());
    }
    return read_steps();
  }

 private:
  Status read_groups() {
    const char* example = "groups: {tensor: [0-3, 4-7], data: [0 4, 1 5, 2 6, 3 7]}";
    RINGSIDE_TRY(const YAML::Node groups, root_.find("groups", example));
    if (!groups.IsMap()) return root_.bad(groups, "groups must map names to lists", example);
    for (const auto& entry : groups) {
      Family family;
      family.name = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (!is_word(family.name) || find_family(family.name) >= 0) {
        return root_.bad(entry.first, fmt::format("'{}' cannot name groups", family.name),
                         "letters, digits and _, each name once, and not world");
      }
      std::string upper = family.name;
      for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      family.desc = upper + "_PARALLEL_GROUP";
      if (!entry.second.IsSequence()) {
        return root_.bad(entry.first, "the groups of one name are a list", example);
      }
      std::vector<bool> is_taken(static_cast<std::size_t>(outline_.ranks), false);
      for (const YAML::Node& group : entry.second) {
        RINGSIDE_TRY(read_members(group, is_taken, family));
      }
      if (family.members.empty()) {
        return root_.bad(entry.first, fmt::format("'{}' names no groups", family.name), example);
      }
      outline_.families.push_back(std::move(family));
    }
    return {};
  }

  /// Reads one group of a family: `0-3` or `0 4 8`.
  /// is_taken  by rank: it is in a group of the family
  Status read_members(const YAML::Node& node, std::vector<bool>& is_taken, Family& family) {
    const char* example = "0-3, or 0 4 8";
    const std::string text = node.IsScalar() ? node.Scalar() : std::string{};
    std::vector<int> members;
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      const std::string word = text.substr(at, end - at);
      at = end + 1;
      if (word.empty()) continue;
      const std::size_t dash = word.find('-', 1);
      const auto first = parse_int(word.substr(0, dash));
      const auto last = dash == std::string::npos ? first : parse_int(word.substr(dash + 1));
      if (!first || !last || *first < 0 || *last >= outline_.ranks || *first > *last) {
        return root_.bad(
            node,
            fmt::format("'{}' is not a rank or a run of ranks of 0-{}", word, outline_.ranks - 1),
            example);
      }
      for (std::int64_t rank = *first; rank <= *last; ++rank) {
        const auto place = static_cast<std::size_t>(rank);
        if (is_taken[place]) {
          return root_.bad(node, fmt::format("rank {} is in two groups of '{}'", rank, family.name),
                           "each rank is in at most one group of a name");
        }
        is_taken[place] = true;
        members.push_back(static_cast<int>(rank));
      }
    }
    if (members.empty()) return root_.bad(node, "a group without ranks", example);
    std::sort(members.begin(), members.end());
    family.members.push_back(std::move(members));
    return {};
  }

  /// Reads all steps, then checks that every stream that a join names has a step.
  Status read_steps() {
    const char* example = "- all_reduce: {on: world, count: 4096}";
    RINGSIDE_TRY(const YAML::Node steps, root_.find("steps", example));
    RINGSIDE_TRY(read_list(steps, 0));
    for (const auto& [node, stream] : joined_) {
      const auto is_on_it = [&, number = stream](const OutlineStep& step) {
        return step.stream == number && step.kind != OutlineKind::Join;
      };
      if (std::ranges::any_of(outline_.steps, is_on_it)) continue;
      return root_.bad(node,
                       fmt::format("no step is on stream '{}'",
                                   outline_.streams[static_cast<std::size_t>(stream)]),
                       "join a stream that calls or kernels name");
    }
    if (!outline_.steps.empty()) return {};
    return root_.bad(steps, "steps must be a list", example);
  }

  /// depth  number of enclosing loops
  Status read_list(const YAML::Node& steps, int depth) {
    if (!steps.IsSequence()) {
      return root_.bad(steps, "steps must be a list", "- all_reduce: {on: world, count: 4096}");
    }
    for (const YAML::Node& node : steps) {
      if (is_step(node, "repeat")) {
        RINGSIDE_TRY(read_loop(node, depth + 1));
        continue;
      }
      if (is_step(node, "grouped")) {
        RINGSIDE_TRY(read_grouped(node));
        continue;
      }
      RINGSIDE_TRY(const OutlineStep step, read_step(node));
      outline_.steps.push_back(step);
    }
    return {};
  }

  /// Reads the body of a loop once; later iterations are copies.
  Status read_loop(const YAML::Node& node, int depth) {
    const char* example = "repeat: {times: 4, steps: [kernel: 1ms]}";
    if (depth > kMaxLoops) return root_.bad(node, "loops in too many loops", "write some out");
    // The iterator's node is destroyed with the iterator.
    const YAML::Node value = node.begin()->second;
    const YamlMapping loop(value, root_.where());
    RINGSIDE_TRY(loop.check(std::array<std::string_view, 2>{"times", "steps"}));
    RINGSIDE_TRY(const int times, loop.whole("times", 1, kMaxIterations, "4"));
    RINGSIDE_TRY(const YAML::Node steps, loop.find("steps", example));
    const std::size_t first = outline_.steps.size();
    RINGSIDE_TRY(read_list(steps, depth));
    const std::size_t length = outline_.steps.size() - first;
    if (length == 0) return loop.bad(node, "a loop without steps", example);
    if (first + length * static_cast<std::size_t>(times) > kMaxLoopSteps) {
      return loop.bad(node, fmt::format("a loop of {} steps, {} times", length, times),
                      fmt::format("{} steps at most in all", kMaxLoopSteps));
    }
    outline_.steps.reserve(first + length * static_cast<std::size_t>(times));
    for (int i = 1; i < times; ++i) {
      for (std::size_t step = 0; step < length; ++step) {
        OutlineStep copy = outline_.steps[first + step];
        // Steps of one bundle begin together, so each iteration needs numbers of its own.
        if (copy.bundle != 0) {
          const bool goes_on = step > 0 && outline_.steps[first + step - 1].bundle == copy.bundle;
          copy.bundle = goes_on ? bundles_ : ++bundles_;
        }
        outline_.steps.push_back(copy);
      }
    }
    return {};
  }

  static bool is_step(const YAML::Node& node, std::string_view word) {
    return node.IsMap() && node.size() == 1 && node.begin()->first.IsScalar() &&
           node.begin()->first.Scalar() == word;
  }

  /// Reads steps that begin together: each is a step with a common number.
  Status read_grouped(const YAML::Node& node) {
    const SchemaStep& schema = *std::ranges::find(step_schema(), "grouped", &SchemaStep::word);
    const YAML::Node value = node.begin()->second;
    if (!value.IsMap())
      return root_.bad(node, "grouped must be a mapping", std::string(schema.form));
    const YamlMapping keys(value, root_.where());
    RINGSIDE_TRY(keys.check(schema.keys));
    OutlineStep shared;
    RINGSIDE_TRY(read_only(keys, shared));
    RINGSIDE_TRY(read_order(keys, shared));
    RINGSIDE_TRY(
        const YAML::Node calls,
        keys.find("calls", "calls: [transfer: {on: pipeline, from: 0, to: 1, count: 64}]"));
    if (!calls.IsSequence() || calls.size() == 0) {
      return keys.bad(node, "calls must be a list", std::string(schema.form));
    }
    shared.bundle = ++bundles_;
    const std::size_t first = outline_.steps.size();
    for (const YAML::Node& call : calls) {
      if (is_step(call, "grouped") || is_step(call, "repeat")) {
        return root_.bad(call, "grouped are calls", "transfers, or collectives");
      }
      RINGSIDE_TRY(const OutlineStep step, read_step(call));
      RINGSIDE_TRY(add_grouped(call, step, shared, first));
    }
    return {};
  }

  /// first  the group's first step, if there already is one
  Status add_grouped(const YAML::Node& node, OutlineStep step, const OutlineStep& shared,
                     std::size_t first) {
    const bool is_transfer = step.kind == OutlineKind::Transfer;
    if (!is_transfer && step.kind != OutlineKind::Call) {
      return root_.bad(node, "grouped are calls", "transfers, or collectives");
    }
    if (step.at || step.async || step.stream >= 0) {
      return root_.bad(node, "only, async or stream of one call of a group",
                       "set it for the whole: grouped: {calls: [...], async: yes}");
    }
    if (first < outline_.steps.size()) {
      const OutlineStep& other = outline_.steps[first];
      if (other.kind != step.kind || other.family != step.family) {
        return root_.bad(node, "grouped calls are one kernel of one communicator",
                         "transfers alone, or collectives alone, all on the same groups");
      }
    }
    const auto is_same_direction = [&](const OutlineStep& other) {
      return is_transfer && other.from == step.from && other.to == step.to;
    };
    if (std::any_of(outline_.steps.begin() + static_cast<std::ptrdiff_t>(first),
                    outline_.steps.end(), is_same_direction)) {
      return root_.bad(node, fmt::format("two grouped transfers from {} to {}", step.from, step.to),
                       "one of both together");
    }
    step.bundle = shared.bundle;
    step.async = shared.async;
    step.stream = shared.stream;
    step.at = shared.at;
    outline_.steps.push_back(step);
    return {};
  }

  /// Reads a step that is neither a loop nor a group of calls.
  Result<OutlineStep> read_step(const YAML::Node& node) {
    OutlineStep step;
    if (node.IsScalar() && (node.Scalar() == "join" || node.Scalar() == "synchronize")) {
      step.kind = node.Scalar() == "join" ? OutlineKind::Join : OutlineKind::Synchronize;
      return step;
    }
    const std::vector<std::string_view> words = step_words();
    const bool is_pair = node.IsMap() && node.size() == 1 && node.begin()->first.IsScalar();
    const std::string word = is_pair           ? node.begin()->first.Scalar()
                             : node.IsScalar() ? node.Scalar()
                                               : std::string{};
    const auto schema = std::ranges::find(step_schema(), word, &SchemaStep::word);
    if (schema == step_schema().end() || !is_pair) {
      const bool lacks_keys = schema != step_schema().end();
      return root_.bad(node,
                       fmt::format("'{}' is not a step{}", word, lacks_keys ? " by itself" : ""),
                       lacks_keys ? std::string(schema->form) : suggestion(word, words));
    }
    const YAML::Node value = node.begin()->second;
    if (word == "compute" || word == "kernel") {
      step.kind = word == "compute" ? OutlineKind::Compute : OutlineKind::Kernel;
      return read_work(node, *schema, value, step);
    }
    if (word == "join" || word == "synchronize") {
      step.kind = word == "join" ? OutlineKind::Join : OutlineKind::Synchronize;
      const YamlMapping keys(value, root_.where());
      RINGSIDE_TRY(keys.check(schema->keys));
      RINGSIDE_TRY(read_only(keys, step));
      if (keys.has("stream")) {
        RINGSIDE_TRY(step.stream, read_stream(keys));
        joined_.emplace_back(node, step.stream);
      }
      if (!keys.has("on")) return step;
      RINGSIDE_TRY(step.family, read_family(keys));
      step.is_of_family = true;
      return step;
    }
    step.kind = word == "transfer"     ? OutlineKind::Transfer
                : word == "send_recv"  ? OutlineKind::Shift
                : word == "rendezvous" ? OutlineKind::Rendezvous
                                       : OutlineKind::Call;
    if (step.kind == OutlineKind::Call) {
      // The other words of the schema are names of Ops.
      while (to_string(step.op) != word) step.op = static_cast<Op>(static_cast<int>(step.op) + 1);
    }
    return read_call(YamlMapping(value, root_.where()), *schema, step);
  }

  static std::vector<std::string_view> step_words() {
    std::vector<std::string_view> words;
    for (const SchemaStep& one : step_schema()) words.push_back(one.word);
    return words;
  }

  /// Reads `only: {on: stages, at: 0}` if the key exists.
  Status read_only(const YamlMapping& keys, OutlineStep& step) {
    if (!keys.has("only")) return {};
    RINGSIDE_TRY(const YamlMapping only, keys.child("only", "{on: stages, at: 0}",
                                                    std::array<std::string_view, 2>{"on", "at"}));
    RINGSIDE_TRY(step.at, read_place(only));
    return {};
  }

  /// Reads `async` and `stream` if the keys exist.
  Status read_order(const YamlMapping& keys, OutlineStep& step) {
    if (keys.has("async")) {
      RINGSIDE_TRY(const std::string word, keys.word("async", "yes"));
      if (word != "yes" && word != "no") {
        return keys.bad(keys.node(), fmt::format("async: '{}'", word), "yes or no");
      }
      step.async = word == "yes";
    }
    if (keys.has("stream")) {
      RINGSIDE_TRY(step.stream, read_stream(keys));
    }
    return {};
  }

  /// A stream exists as soon as it is named.
  Result<int> read_stream(const YamlMapping& keys) {
    RINGSIDE_TRY(const std::string name, keys.word("stream", "side"));
    if (!is_word(name)) {
      return keys.bad(keys.node(), fmt::format("'{:.40}' cannot name a stream", name),
                      "letters, digits and _");
    }
    std::vector<std::string>& all = outline_.streams;
    const auto found = std::ranges::find(all, name);
    if (found != all.end()) return static_cast<int>(found - all.begin());
    constexpr std::size_t kMostStreams = 64;
    if (all.size() == kMostStreams) {
      return keys.bad(keys.node(), "too many streams", fmt::format("{} at most", kMostStreams));
    }
    all.push_back(name);
    return static_cast<int>(all.size()) - 1;
  }

  /// `2ms` on all ranks, or `{time: 2ms, on: stages, at: 0}` on one rank of each group.
  Result<OutlineStep> read_work(const YAML::Node& node, const SchemaStep& schema,
                                const YAML::Node& value, OutlineStep step) {
    std::string text = value.IsScalar() ? value.Scalar() : std::string{};
    if (value.IsMap()) {
      const YamlMapping keys(value, root_.where());
      RINGSIDE_TRY(keys.check(schema.keys));
      RINGSIDE_TRY(text, keys.word("time", "2ms"));
      RINGSIDE_TRY(read_order(keys, step));
      if (keys.has("on") || keys.has("at")) {
        RINGSIDE_TRY(step.at, read_place(keys));
      }
    }
    const auto time = parse_time(text);
    if (!time || *time > kMaxTime) {
      const std::string what =
          time ? fmt::format("'{}' is longer than a day", text) : time.error().message;
      return root_.bad(node, fmt::format("{}: {}", schema.word, what), std::string(schema.form));
    }
    step.time = std::chrono::duration_cast<Nanoseconds>(*time);
    return step;
  }

  /// `on: stages, at: 0`
  Result<OutlineStep::Place> read_place(const YamlMapping& keys) {
    RINGSIDE_TRY(const int family, read_family(keys));
    RINGSIDE_TRY(const int rank, keys.whole("at", 0, last_of(family), "0"));
    return OutlineStep::Place{family, rank};
  }

  /// Reads the name of a family after `on`, and returns its index.
  Result<int> read_family(const YamlMapping& keys) {
    RINGSIDE_TRY(const std::string on, keys.word("on", "world"));
    if (const int family = find_family(on); family >= 0) return family;
    std::vector<std::string_view> names;
    for (const Family& family : outline_.families) names.push_back(family.name);
    return keys.bad(keys.node(), fmt::format("unknown groups '{}'", on), suggestion(on, names));
  }

  /// Returns the last rank number that every group of the family has.
  [[nodiscard]] int last_of(int family) const {
    std::size_t smallest = static_cast<std::size_t>(outline_.ranks);
    for (const auto& group : outline_.families[static_cast<std::size_t>(family)].members) {
      smallest = std::min(smallest, group.size());
    }
    return static_cast<int>(smallest) - 1;
  }

  /// Reads the mapping of a step that has a family: a collective, a transfer, a send_recv or a rendezvous.
  Result<OutlineStep> read_call(const YamlMapping& call, const SchemaStep& schema,
                                OutlineStep step) {
    const bool has_data = std::ranges::find(schema.keys, "count") != schema.keys.end();
    RINGSIDE_TRY(call.check(schema.keys));
    RINGSIDE_TRY(step.family, read_family(call));
    const int last = last_of(step.family);
    RINGSIDE_TRY(read_only(call, step));
    step.count = 1;
    if (has_data) {
      RINGSIDE_TRY(const std::string text, call.word("count", "4096"));
      const auto count = parse_int(text);
      if (!count || *count < 1 || *count > kMaxCount) {
        return call.bad(call.node(), fmt::format("count: '{}' is not a number of elements", text),
                        "4096");
      }
      step.count = *count;
      if (call.has("type")) {
        RINGSIDE_TRY(const std::string type, call.word("type", "bfloat16"));
        const auto parsed = parse_data_type(type);
        if (!parsed) return call.bad(call.node(), parsed.error().message, parsed.error().help);
        step.type = *parsed;
      }
    }
    if (step.kind == OutlineKind::Transfer) {
      RINGSIDE_TRY(step.from, call.whole("from", 0, last, "0"));
      RINGSIDE_TRY(step.to, call.whole("to", 0, last, "1"));
      if (step.from == step.to) {
        return call.bad(call.node(), "a transfer to itself", "from and to are ranks in the group");
      }
    }
    if (call.has("root")) {
      RINGSIDE_TRY(step.from, call.whole("root", 0, last, "0"));
    }
    if (step.kind == OutlineKind::Shift) {
      // Every rank sends and receives at the same time. `to` is the distance (OutlineStep::Kind::Shift).
      step.bundle = ++bundles_;
      step.to = 1;
      if (call.has("by")) {
        RINGSIDE_TRY(step.to, call.whole("by", -last, last, "1"));
      }
      if (step.to == 0 || last == 0) {
        return call.bad(call.node(), "a send_recv of each rank with itself",
                        "by: 1, on groups of several ranks");
      }
    }
    RINGSIDE_TRY(read_order(call, step));
    return step;
  }

  [[nodiscard]] int find_family(const std::string& name) const {
    for (std::size_t i = 0; i < outline_.families.size(); ++i) {
      if (outline_.families[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }

  /// Returns whether the name is valid: dumps contain names unescaped, and neither JSON nor the readers of dumps
  /// accept every text.
  static bool is_word(const std::string& name) {
    return !name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    });
  }

  const YamlMapping& root_;
  Outline& outline_;
  int bundles_ = 0;                                 ///< OutlineStep::bundle numbers in use
  std::vector<std::pair<YAML::Node, int>> joined_;  ///< streams that a join names
};

}  // namespace

Outline outline_of(std::string name, int ranks, int ranks_per_host, int iterations) {
  Outline outline;
  outline.name = std::move(name);
  outline.ranks = ranks;
  outline.ranks_per_host = ranks_per_host;
  outline.iterations = iterations;
  Family world{"world", "default_pg", {{}}};
  for (int rank = 0; rank < ranks; ++rank) world.members[0].push_back(rank);
  outline.families.push_back(std::move(world));
  return outline;
}

Status read_program(const YamlMapping& root, Outline& outline) {
  return ProgramReader(root, outline).read();
}

Result<int> read_iterations(const YamlMapping& root, int least) {
  return root.whole("iterations", least, kMaxIterations, "12");
}

Result<Outline> parse_outline(const std::string& text, const std::string& where) {
  try {
    RINGSIDE_TRY(YAML::Node document, load_yaml_document(text, where));
    const YamlMapping root(std::move(document), where);
    RINGSIDE_TRY(check_yaml_document(
        root, "hang-program/1", "a program of groups and calls",
        std::array<std::string_view, 7>{"ringside", "name", "ranks", "ranks_per_host", "iterations",
                                        "groups", "steps"}));
    std::string name = "program";
    if (root.has("name")) {
      RINGSIDE_TRY(name, root.word("name", "small-moe"));
    }
    RINGSIDE_TRY(const int ranks, root.whole("ranks", 2, kMaxRanks, "8"));
    int ranks_per_host = std::min(ranks, 8);
    if (root.has("ranks_per_host")) {
      RINGSIDE_TRY(ranks_per_host, root.whole("ranks_per_host", 1, ranks, "8"));
    }
    RINGSIDE_TRY(const int iterations, read_iterations(root, 2));
    Outline outline = outline_of(std::move(name), ranks, ranks_per_host, iterations);
    RINGSIDE_TRY(read_program(root, outline));
    return outline;
  } catch (const YAML::Exception& exception) {
    return yaml_error(exception, where);
  }
}

}  // namespace ringside::hangs
