#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <limits>

#include "base/text.h"
#include "engine/faults/fault_text.h"
#include "engine/topology/yaml_mapping.h"

namespace ringside {
namespace {

constexpr const char* kExample = "- skip: {rank: 3, call: 40}";

/// One line of the list: a word, or a word with its keys.
Result<Fault> read_fault(const YamlMapping& root, const YAML::Node& node) {
  const bool is_pair = node.IsMap() && node.size() == 1 && node.begin()->first.IsScalar();
  if (!node.IsScalar() && !is_pair)
    return root.bad(node, "a fault is one word with its keys", kExample);
  const std::string word = is_pair ? node.begin()->first.Scalar() : node.Scalar();
  const auto kind = parse_fault_kind(word);
  if (!kind) return root.bad(node, kind.error().message, kind.error().help);
  FaultKeys keys;
  if (is_pair) {
    const YAML::Node values = node.begin()->second;
    if (!values.IsMap())
      return root.bad(node, fmt::format("{}: its keys are missing", word), kExample);
    for (const auto& entry : values) {
      if (!entry.first.IsScalar() || !entry.second.IsScalar()) {
        return root.bad(entry.first, fmt::format("{}: keys and values are words", word), kExample);
      }
      if (!keys.emplace(entry.first.Scalar(), entry.second.Scalar()).second) {
        return root.bad(entry.first, fmt::format("key '{}' comes twice", entry.first.Scalar()),
                        "keep one of them");
      }
    }
  }
  auto fault = make_fault(*kind, keys);
  if (!fault) return root.bad(node, fault.error().message, fault.error().help);
  return fault;
}

Result<FaultPlan> read_plan(const YamlMapping& root) {
  RINGSIDE_TRY(check_yaml_document(root, "faults/1", "a plan of faults",
                                   std::array<std::string_view, 3>{"ringside", "seed", "faults"}));
  FaultPlan plan;
  if (root.has("seed")) {
    RINGSIDE_TRY(const int seed, root.whole("seed", 0, std::numeric_limits<int>::max(), "7"));
    plan.seed = static_cast<std::uint64_t>(seed);
  }
  RINGSIDE_TRY(const YAML::Node faults, root.find("faults", kExample));
  if (!faults.IsSequence()) return root.bad(faults, "faults must be a list", kExample);
  for (const YAML::Node& node : faults) {
    RINGSIDE_TRY(Fault fault, read_fault(root, node));
    plan.faults.push_back(std::move(fault));
  }
  return plan;
}

}  // namespace

Result<FaultPlan> parse_fault_plan(const std::string& text, const std::string& where) {
  try {
    return read_plan(YamlMapping(YAML::Load(text), where));
  } catch (const YAML::Exception& exception) {
    return yaml_error(exception, where);
  }
}

std::string to_yaml(const FaultPlan& plan) {
  std::string text = fmt::format("ringside: faults/1\nseed: {}\nfaults:{}\n", plan.seed,
                                 plan.faults.empty() ? " []" : "");
  for (const Fault& fault : plan.faults) {
    std::string line = to_string(fault);
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      text += fmt::format("- {}\n", line);
      continue;
    }
    std::string keys = line.substr(colon + 1);
    for (std::size_t at = 0; (at = keys.find_first_of("=,", at)) != std::string::npos; at += 2) {
      keys.replace(at, 1, keys[at] == '=' ? ": " : ", ");
    }
    text += fmt::format("- {}: {{{}}}\n", line.substr(0, colon), keys);
  }
  return text;
}

}  // namespace ringside
