#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/text.h"
#include "engine/topology/node_type.h"
#include "engine/topology/yaml_mapping.h"

namespace ringside {
namespace {

constexpr int kMaxGpus = 1024;

Status read_nic(const YamlMapping& root, NodeType& node) {
  if (!root.has("nic")) return {};
  constexpr std::string_view kKeys[] = {"gpu", "line_rate", "host_link"};
  RINGSIDE_TRY(const YamlMapping nic, root.child("nic", "{...}", kKeys));
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

Result<NodeType> read_node(const YamlMapping& root) {
  constexpr std::string_view kKeys[] = {"ringside", "name", "gpus",   "compute_capability",
                                        "gpu_link", "nic",  "latency"};
  RINGSIDE_TRY(root.check(kKeys));
  RINGSIDE_TRY(check_yaml_version(root, "node/1", "a node type"));
  NodeType node;
  RINGSIDE_TRY(node.name, root.word("name", "dgx-h100"));
  RINGSIDE_TRY(node.gpus, root.whole("gpus", 1, kMaxGpus, "8"));
  RINGSIDE_TRY(node.compute_capability, root.whole("compute_capability", 10, 999, "90"));
  RINGSIDE_TRY(node.gpu_link, root.quantity("gpu_link", "370.8GB/s", parse_bandwidth));
  RINGSIDE_TRY(read_nic(root, node));
  constexpr std::string_view kLatencies[] = {"base", "gpu_step", "net_step"};
  RINGSIDE_TRY(const YamlMapping latency, root.child("latency", "{...}", kLatencies));
  RINGSIDE_TRY(node.latency.base, latency.quantity("base", "8.4us", parse_time));
  RINGSIDE_TRY(node.latency.gpu_step, latency.quantity("gpu_step", "3.4us", parse_time));
  RINGSIDE_TRY(node.latency.net_step, latency.quantity("net_step", "14us", parse_time));
  return node;
}

}  // namespace

Result<NodeType> parse_node(const std::string& text, const std::string& where) {
  try {
    return read_node(YamlMapping{YAML::Load(text), where});
  } catch (const YAML::Exception& exception) {
    return yaml_error(exception, where);
  }
}

}  // namespace ringside
