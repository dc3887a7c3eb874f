#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "base/suggest.h"
#include "base/text.h"
#include "engine/topology/node_type.h"

namespace ringside {
namespace {

constexpr std::string_view kVersion = "node/1";
constexpr int kMaxGpus = 1024;

/// One mapping of the document, read key by key: each reader checks that the key is there and that
/// its value can be meant.
class Mapping {
 public:
  Mapping(YAML::Node node, std::string where) : node_(std::move(node)), where_(std::move(where)) {}

  /// errors  Corrupt: not a mapping, a key twice, or one that is not among `known`
  [[nodiscard]] Status check(std::span<const std::string_view> known) const {
    if (!node_.IsMap()) return bad(node_, "expected a mapping of keys to values", list(known));
    std::set<std::string> seen;
    for (const auto& entry : node_) {
      if (!entry.first.IsScalar()) return bad(entry.first, "a key must be a word", list(known));
      const std::string& key = entry.first.Scalar();
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        return bad(entry.first, fmt::format("unknown key '{}'", key), suggestion(key, known));
      }
      if (!seen.insert(key).second) {
        return bad(entry.first, fmt::format("key '{}' comes twice", key), "keep one of them");
      }
    }
    return {};
  }

  [[nodiscard]] Result<YAML::Node> find(const char* key, const char* example) const {
    YAML::Node value = node_[key];
    if (!value) {
      return bad(node_, fmt::format("key '{}' is missing", key),
                 fmt::format("add {}: {}", key, example));
    }
    return value;
  }

  [[nodiscard]] Result<std::string> word(const char* key, const char* example) const {
    RINGSIDE_TRY(const YAML::Node value, find(key, example));
    if (!value.IsScalar() || value.Scalar().empty()) {
      return bad(value, fmt::format("{} must be one word", key),
                 fmt::format("such as {}", example));
    }
    return value.Scalar();
  }

  [[nodiscard]] Result<int> whole(const char* key, int least, int most, const char* example) const {
    RINGSIDE_TRY(const YAML::Node value, find(key, example));
    return whole_in(value, key, least, most);
  }

  [[nodiscard]] Result<int> whole_in(const YAML::Node& value, const char* key, int least,
                                     int most) const {
    const auto number = parse_int(value.IsScalar() ? value.Scalar() : std::string{});
    if (!number || *number < least || *number > most) {
      return bad(value, fmt::format("{} must be a whole number", key),
                 fmt::format("give {} to {}", least, most));
    }
    return static_cast<int>(*number);
  }

  /// A value with its unit, by parse_bandwidth() or parse_time().
  template <typename T>
  [[nodiscard]] Result<T> quantity(const char* key, const char* example,
                                   Result<T> (*parse)(std::string_view)) const {
    RINGSIDE_TRY(const std::string text, word(key, example));
    auto value = parse(text);
    if (!value) {
      return bad(node_[key], fmt::format("{}: {}", key, value.error().message), value.error().help);
    }
    return *value;
  }

  [[nodiscard]] Result<Mapping> child(const char* key, const char* example,
                                      std::span<const std::string_view> known) const {
    RINGSIDE_TRY(YAML::Node value, find(key, example));
    Mapping mapping{std::move(value), where_};
    RINGSIDE_TRY(mapping.check(known));
    return mapping;
  }

  [[nodiscard]] bool has(const char* key) const { return static_cast<bool>(node_[key]); }

  [[nodiscard]] Error bad(const YAML::Node& at, const std::string& what,
                          const std::string& help) const {
    const YAML::Mark mark = at.Mark();
    const std::string place = mark.is_null() ? where_ : fmt::format("{}:{}", where_, mark.line + 1);
    return Error{ErrorCode::Corrupt, fmt::format("{}: {}", place, what), help};
  }

 private:
  static std::string list(std::span<const std::string_view> known) {
    return fmt::format("known keys: {}", fmt::join(known, ", "));
  }

  YAML::Node node_;
  std::string where_;
};

Status read_nic(const Mapping& root, NodeType& node) {
  if (!root.has("nic")) return {};
  constexpr std::string_view kKeys[] = {"gpu", "line_rate", "host_link"};
  RINGSIDE_TRY(const Mapping nic, root.child("nic", "{...}", kKeys));
  RINGSIDE_TRY(const YAML::Node gpus, nic.find("gpu", "[0, 1]"));
  if (!gpus.IsSequence() || gpus.size() == 0) {
    return nic.bad(gpus, "gpu must list, by NIC, the GPU it sits beside", "such as [0, 1]");
  }
  for (const YAML::Node& entry : gpus) {
    RINGSIDE_TRY(const int gpu, nic.whole_in(entry, "each entry of gpu", 0, node.gpus - 1));
    if (std::find(node.nic_gpu.begin(), node.nic_gpu.end(), gpu) != node.nic_gpu.end()) {
      return nic.bad(entry, fmt::format("GPU {} has two NICs", gpu),
                     "give each NIC a GPU of its own; join two NICs of a GPU into one line");
    }
    node.nic_gpu.push_back(gpu);
  }
  RINGSIDE_TRY(node.nic_line_rate, nic.quantity("line_rate", "400Gbit/s", parse_bandwidth));
  RINGSIDE_TRY(node.nic_host_link, nic.quantity("host_link", "48GB/s", parse_bandwidth));
  return {};
}

Result<NodeType> read_node(const Mapping& root) {
  constexpr std::string_view kKeys[] = {"ringside", "name", "gpus",   "compute_capability",
                                        "gpu_link", "nic",  "latency"};
  RINGSIDE_TRY(root.check(kKeys));
  RINGSIDE_TRY(const std::string version, root.word("ringside", "node/1"));
  if (version != kVersion) {
    RINGSIDE_TRY(const YAML::Node at, root.find("ringside", "node/1"));
    return root.bad(at, fmt::format("'{}' is not a version this build reads", version),
                    fmt::format("a node type opens with ringside: {}", kVersion));
  }
  NodeType node;
  RINGSIDE_TRY(node.name, root.word("name", "dgx-h100"));
  RINGSIDE_TRY(node.gpus, root.whole("gpus", 1, kMaxGpus, "8"));
  RINGSIDE_TRY(node.compute_capability, root.whole("compute_capability", 10, 999, "90"));
  RINGSIDE_TRY(node.gpu_link, root.quantity("gpu_link", "370.8GB/s", parse_bandwidth));
  RINGSIDE_TRY(read_nic(root, node));
  constexpr std::string_view kLatencies[] = {"base", "gpu_step", "net_step"};
  RINGSIDE_TRY(const Mapping latency, root.child("latency", "{...}", kLatencies));
  RINGSIDE_TRY(node.latency.base, latency.quantity("base", "8.4us", parse_time));
  RINGSIDE_TRY(node.latency.gpu_step, latency.quantity("gpu_step", "3.4us", parse_time));
  RINGSIDE_TRY(node.latency.net_step, latency.quantity("net_step", "14us", parse_time));
  return node;
}

}  // namespace

Result<NodeType> parse_node(const std::string& text, const std::string& where) {
  try {
    return read_node(Mapping{YAML::Load(text), where});
  } catch (const YAML::Exception& exception) {
    const std::string place =
        exception.mark.is_null() ? where : fmt::format("{}:{}", where, exception.mark.line + 1);
    return Error{ErrorCode::Corrupt, fmt::format("{}: {}", place, exception.msg),
                 "the file must be one YAML mapping"};
  }
}

}  // namespace ringside
