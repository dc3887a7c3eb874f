#include "engine/topology/node_type.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/fd.h"
#include "base/suggest.h"
#include "engine/topology/presets.h"

namespace ringside {

int NodeType::nic_of(int gpu) const {
  RINGSIDE_ASSERT(!nic_gpu.empty(), "{} has no NIC", name);
  const auto own = std::find(nic_gpu.begin(), nic_gpu.end(), gpu);
  return own == nic_gpu.end() ? 0 : static_cast<int>(own - nic_gpu.begin());
}

Result<Cluster> make_cluster(NodeType node, int nodes) {
  constexpr int kMaxRanks = 65536;  // beyond it a simulation of each chunk has no end
  if (nodes < 1) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{} nodes", nodes), "give at least 1"};
  }
  if (nodes > 1 && node.nic_gpu.empty()) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} nodes of type {}, which has no NIC", nodes, node.name),
                 "give 1 node, or a node type with NICs"};
  }
  if (nodes > kMaxRanks / node.gpus) {
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("{} nodes of {} GPUs are more than {} ranks", nodes, node.gpus, kMaxRanks),
        fmt::format("give at most {} nodes", kMaxRanks / node.gpus)};
  }
  return Cluster{std::move(node), nodes};
}

std::span<const std::string_view> node_preset_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Preset& preset : kNodePresets) all.push_back(preset.name);
    return all;
  }();
  return names;
}

Result<NodeType> load_node(const std::string& name_or_path) {
  for (const Preset& preset : kNodePresets) {
    if (preset.name == name_or_path) {
      return parse_node(std::string{preset.text}, fmt::format("{}.yaml", preset.name));
    }
  }
  auto text = read_file(name_or_path);
  if (!text && text.error().code == ErrorCode::NotFound) {
    return Error{ErrorCode::NotFound,
                 fmt::format("no node type '{}': neither a preset nor a file", name_or_path),
                 suggestion(name_or_path, node_preset_names())};
  }
  if (!text) return std::move(text).error();
  return parse_node(*text, name_or_path);
}

}  // namespace ringside
