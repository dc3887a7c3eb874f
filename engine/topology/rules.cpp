#include "engine/topology/rules.h"

#include <fmt/format.h>

#include "engine/releases/document.h"
#include "engine/releases/yaml_keys.h"

namespace ringside {
namespace {

constexpr auto kKept = YamlKeys::Absent::Kept;

Status read_nvlink(YamlKeys keys, NvLinkSpeeds& speeds) {
  keys.read("pascal", speeds.pascal);
  keys.read("volta", speeds.volta);
  keys.read("ampere", speeds.ampere);
  keys.read("ampere_86", speeds.ampere_86);
  keys.read("hopper", speeds.hopper);
  keys.read("blackwell", speeds.blackwell);
  keys.read("other", speeds.other);
  return keys.finish();
}

Status read_topology_rules(YamlKeys keys, TopologyRules& rules) {
  RINGSIDE_TRY(
      read_nvlink({keys.take("nvlink_gbs"), keys.where() + " nvlink_gbs", kKept}, rules.nvlink));
  keys.read("amd_socket_gbs", rules.amd_socket_gbs);
  keys.read("intel_socket_gbs", rules.intel_socket_gbs);
  keys.read("intel_emerald_models", rules.intel_emerald_models);
  keys.read("max_channels", rules.max_channels);
  keys.read("gpu_has_device", rules.gpu_has_device);
  keys.read("gpu_links_to_itself", rules.gpu_links_to_itself);
  keys.read("c2c_link", {"unknown", "nvlink", "own"}, rules.c2c_link);
  keys.read("joins_gen5_switches", rules.joins_gen5_switches);
  keys.read("reverse_is_of_any_kind", rules.reverse_is_of_any_kind);
  keys.read("paths_grow_by_hops", rules.paths_grow_by_hops);
  keys.read("missing_paths_are_near", rules.missing_paths_are_near);
  keys.read("missing_peers_are_near", rules.missing_peers_are_near);
  keys.read("farthest_cpu_may_be_local", rules.farthest_cpu_may_be_local);
  keys.read("p2p_reach", {"vendor", "size"}, rules.p2p_reach);
  keys.read("p2c_nets", {"none", "all", "local"}, rules.p2c_nets);
  keys.read("gdr_c2c", rules.gdr_c2c);
  keys.read("gdr_c2c_is_phb", rules.gdr_c2c_is_phb);
  keys.read("gdr_read_needs_nvlink", rules.gdr_read_needs_nvlink);
  keys.read("gdr_diverts_far_nics", rules.gdr_diverts_far_nics);
  keys.read("pxn_c2c", rules.pxn_c2c);
  keys.read("pxn_needs_gdr", rules.pxn_needs_gdr);
  keys.read("pxn_stays_on_host", rules.pxn_stays_on_host);
  keys.read("pxn_before_p2c", rules.pxn_before_p2c);
  keys.read("nets_are_dropped", rules.nets_are_dropped);
  keys.read("nic_by_local_gpus", {"never", "connectx8", "always"}, rules.nic_by_local_gpus);
  keys.read("merged_nets", rules.merged_nets);
  keys.read("any_gpu_may_be_local", rules.any_gpu_may_be_local);
  keys.read("lone_gpu_has_bandwidth", rules.lone_gpu_has_bandwidth);
  return keys.finish();
}

}  // namespace

Result<TopologyRules> load_topology_rules(std::string_view version) {
  // The default member values describe the base release, so its file is not read.
  if (version == kBaseRelease) return TopologyRules{};
  RINGSIDE_TRY(const ReleaseDocument release, load_release(version));
  TopologyRules rules;
  try {
    RINGSIDE_TRY(read_topology_rules(
        {release.root["topology"], release.where + ": topology", kKept}, rules));
  } catch (const YAML::Exception& exception) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}: topology: {}", release.where, exception.what())};
  }
  return rules;
}

}  // namespace ringside
