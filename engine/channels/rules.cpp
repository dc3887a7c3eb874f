#include "engine/channels/rules.h"

#include <fmt/format.h>

#include "engine/releases/document.h"
#include "engine/releases/yaml_keys.h"

namespace ringside {
namespace {

constexpr auto kOptional = YamlKeys::Absent::Kept;

Status read_ladders(YamlKeys keys, std::array<std::vector<float>, 3>& ladders) {
  keys.read("older", ladders[0]);
  keys.read("hopper", ladders[1]);
  keys.read("blackwell", ladders[2]);
  return keys.finish();
}

Status read_search_rules(YamlKeys keys, SearchRules& rules) {
  RINGSIDE_TRY(read_ladders({keys.take("intra_gbs"), keys.where() + " intra_gbs", kOptional},
                            rules.ladders.intra));
  RINGSIDE_TRY(read_ladders({keys.take("inter_gbs"), keys.where() + " inter_gbs", kOptional},
                            rules.ladders.inter));
  keys.read("max_channels", rules.max_channels);
  keys.read("most_steps", rules.most_steps);
  keys.read("has_c2c_paths", rules.has_c2c_paths);
  keys.read("has_p2c_paths", rules.has_p2c_paths);
  keys.read("types_are_those_of_paths", rules.types_are_those_of_paths);
  keys.read("old_gpus_reach_all_nics", rules.old_gpus_reach_all_nics);
  keys.read("types_end_before_dis", rules.types_end_before_dis);
  keys.read("amd_shares_orders", rules.amd_shares_orders);
  keys.read("cross_nic_is_first_only", rules.cross_nic_is_first_only);
  keys.read("cross_nic", {"free", "paired", "paired_rings"}, rules.cross_nic);
  keys.read("cross_nic_penalty", rules.cross_nic_penalty);
  keys.read("warms_up_over_switch", rules.warms_up_over_switch);
  keys.read("starts_within_total", rules.starts_within_total);
  keys.read("lone_gpu_is_endless", rules.lone_gpu_is_endless);
  keys.read("nvls_heads", {"all", "gpus", "32"}, rules.nvls_heads);
  keys.read("nvls_head", {"number", "channel", "each_once"}, rules.nvls_head);
  keys.read("repeated_heads_keep_nics", rules.repeated_heads_keep_nics);
  keys.read("nvls_counts_channels_only", rules.nvls_counts_channels_only);
  keys.read("most_direct_heads", rules.most_direct_heads);
  keys.read("two_islands_need_two", rules.two_islands_need_two);
  keys.read("improves_first", rules.improves_first);
  keys.read("improves_rings", rules.improves_rings);
  keys.read("improves_nvls_inter", rules.improves_nvls_inter);
  keys.read("switch_next", {"any", "neighbours", "only"}, rules.switch_next);
  keys.read("missing_ways_are_free", rules.missing_ways_are_free);
  keys.read("disconnected_is_refused", rules.disconnected_is_refused);
  keys.read("nvlink_to_cpu_costs_both_ways", rules.nvlink_to_cpu_costs_both_ways);
  keys.read("starts_at_own_nic", rules.starts_at_own_nic);
  keys.read("start_gpu", {"widest", "first_widest", "nearest", "own"}, rules.start_gpu);
  keys.read("replays_first", rules.replays_first);
  keys.read("interleaves_nics", rules.interleaves_nics);
  keys.read("falls_back_to_nics", rules.falls_back_to_nics);
  return keys.finish();
}

Status read_count_rules(YamlKeys keys, CountRules& rules) {
  keys.read("hopper_doubling", {"where_they_fit", "below_16", "from_hopper"},
            rules.hopper_doubling);
  keys.read("raises_to_nvls", rules.raises_to_nvls);
  keys.read("ring_swap", {"never", "even_nodes", "crossing", "alternate", "per_node"},
            rules.ring_swap);
  keys.read("cross_nic_is_own", rules.cross_nic_is_own);
  keys.read("capability_is_own", rules.capability_is_own);
  keys.read("large_nodes_have_collnet", rules.large_nodes_have_collnet);
  keys.read("nvls_min_gpus", rules.nvls_min_gpus);
  keys.read("nvls_joins_ring_channels", rules.nvls_joins_ring_channels);
  keys.read("nvls_channels", {"fixed", "capability", "nodes", "nics"}, rules.nvls_channels);
  keys.read("one_nvlink_pair_is_enough", rules.one_nvlink_pair_is_enough);
  keys.read("lone_gpu_is_direct", rules.lone_gpu_is_direct);
  keys.read("grace_steps_are_long", rules.grace_steps_are_long);
  keys.read("net_peer_channels", {"two", "nics", "rate"}, rules.net_peer_channels);
  keys.read("nvb_counts_links", rules.nvb_counts_links);
  keys.read("per_peer_is_bounded", rules.per_peer_is_bounded);
  keys.read("net_speed_is_of_wire", rules.net_speed_is_of_wire);
  keys.read("p2p_counts_rank_0", rules.p2p_counts_rank_0);
  keys.read("p2p_steps_fit_buffer", rules.p2p_steps_fit_buffer);
  keys.read("arm_simple_buffer", rules.arm_simple_buffer);
  return keys.finish();
}

}  // namespace

Result<ChannelRules> load_channel_rules(std::string_view version) {
  // The default member values describe the base release, so its file is not read.
  if (version == kBaseRelease) return ChannelRules{};
  RINGSIDE_TRY(const ReleaseDocument release, load_release(version));
  ChannelRules rules;
  try {
    RINGSIDE_TRY(read_search_rules({release.root["search"], release.where + ": search", kOptional},
                                   rules.search));
    RINGSIDE_TRY(read_count_rules(
        {release.root["channels"], release.where + ": channels", kOptional}, rules.counts));
  } catch (const YAML::Exception& exception) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("{}: search, channels: {}", release.where, exception.what())};
  }
  // One key limits both: NICs are listed for as many channels as there are.
  rules.counts.max_channels = rules.search.max_channels;
  return rules;
}

}  // namespace ringside
