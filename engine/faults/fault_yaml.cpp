#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <limits>

#include "base/text.h"
#include "engine/faults/fault_text.h"
#include "engine/topology/sources/yaml_mapping.h"

namespace ringside {
namespace {

constexpr const char* kExample = "- skip: {rank: 3, call: 40}";

/// Reads one entry of the list: a word, or a word with its keys.
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
        return root.bad(entry.first, fmt::format("key '{}' appears twice", entry.first.Scalar()),
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
  RINGSIDE_TRY(plan.seed, read_fault_seed(root));
  RINGSIDE_TRY(plan.faults, read_faults(root));
  return plan;
}

}  // namespace

Result<std::uint64_t> read_fault_seed(const YamlMapping& root) {
  if (!root.has("seed")) return FaultPlan{}.seed;
  RINGSIDE_TRY(const int seed, root.whole("seed", 0, std::numeric_limits<int>::max(), "7"));
  return static_cast<std::uint64_t>(seed);
}

Result<std::vector<Fault>> read_faults(const YamlMapping& root) {
  RINGSIDE_TRY(const YAML::Node list, root.find("faults", kExample));
  if (!list.IsSequence()) return root.bad(list, "faults must be a list", kExample);
  std::vector<Fault> faults;
  for (const YAML::Node& node : list) {
    RINGSIDE_TRY(Fault fault, read_fault(root, node));
    faults.push_back(std::move(fault));
  }
  return faults;
}

Result<FaultPlan> parse_fault_plan(const std::string& text, const std::string& where) {
  try {
    RINGSIDE_TRY(YAML::Node document, load_yaml_document(text, where));
    return read_plan(YamlMapping(std::move(document), where));
  } catch (const YAML::Exception& exception) {
    return yaml_error(exception, where);
  }
}

std::string to_yaml(const FaultPlan& plan) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "ringside" << YAML::Value << "faults/1";
  write_faults(out, plan);
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

void write_faults(YAML::Emitter& out, const FaultPlan& plan) {
  out << YAML::Key << "seed" << YAML::Value << plan.seed;
  out << YAML::Key << "faults" << YAML::Value;
  if (plan.faults.empty()) out << YAML::Flow;
  out << YAML::BeginSeq;
  for (const Fault& fault : plan.faults) {
    const auto keys = keys_of(fault);
    const char* const kind = to_string(fault.kind);
    if (keys.empty()) {
      out << kind;
      continue;
    }
    out << YAML::BeginMap << YAML::Key << kind << YAML::Value << YAML::Flow << YAML::BeginMap;
    for (const auto& [key, value] : keys) {
      out << YAML::Key << std::string(key) << YAML::Value << value;
    }
    out << YAML::EndMap << YAML::EndMap;
  }
  out << YAML::EndSeq;
}

}  // namespace ringside
