#include "engine/tuning/model.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "engine/releases/document.h"
#include "engine/releases/yaml_keys.h"
#include "engine/tuning/class_rows.h"

namespace ringside {
namespace {

Status read_algorithms(YamlKeys keys, TuningModel::PerAlgorithm& table) {
  for (std::size_t a = 0; a < kAlgorithms; ++a) {
    keys.read(to_string(static_cast<Algorithm>(a)), table[a]);
  }
  return keys.finish();
}

Status read_latencies(YamlKeys& root, TuningModel& model) {
  RINGSIDE_TRY(read_algorithms({root.take("base_latency"), root.where() + ": base_latency"},
                               model.base_latency));
  constexpr const char* kLinks[] = {"nvlink", "pci", "net"};
  YamlKeys links{root.take("link_latency"), root.where() + ": link_latency"};
  for (std::size_t i = 0; i < kStepLinks; ++i) {
    RINGSIDE_TRY(read_algorithms({links.take(kLinks[i]), links.where() + " " + kLinks[i]},
                                 model.link_latency[i]));
  }
  return links.finish();
}

Status read_bandwidths(YamlKeys& root, TuningModel& model) {
  YamlKeys tables{root.take("bandwidth"), root.where() + ": bandwidth"};
  const std::pair<const char*, TuningModel::PerClass*> all[] = {
      {"ll_bus", &model.ll_bus},
      {"ring_ll128_channel", &model.ring_ll128_channel},
      {"tree_ll128_channel", &model.tree_ll128_channel},
      {"tree_channel", &model.tree_channel},
      {"nvls_tree_channel", &model.nvls_tree_channel}};
  for (const auto& [name, table] : all) {
    RINGSIDE_TRY(read_classes({tables.take(name), tables.where() + " " + name}, *table));
  }
  RINGSIDE_TRY(tables.finish());
  RINGSIDE_TRY(read_classes({root.take("nvls_efficiency"), root.where() + ": nvls_efficiency"},
                            model.nvls_efficiency));
  YamlKeys corrections{root.take("tree_correction"), root.where() + ": tree_correction"};
  for (std::size_t p = 0; p < kProtocols; ++p) {
    const YAML::Node list = corrections.take(to_string(static_cast<Protocol>(p)));
    model.tree_correction[p] = list.as<std::vector<double>>();
  }
  return corrections.finish();
}

Status read_factors(YamlKeys keys, TuningModel& m) {
  keys.read("ring_ll", m.ring_ll);
  keys.read("ring_ll_otherwise", m.ring_ll_otherwise);
  keys.read("ring_ll128", m.ring_ll128);
  keys.read("ring_ll128_one_rank_a_node", m.ring_ll128_one_rank_a_node);
  keys.read("tree", m.tree);
  keys.read("tree_ll_divisor", m.tree_ll_divisor);
  keys.read("tree_ll128_one_node", m.tree_ll128_one_node);
  keys.read("tree_ll128", m.tree_ll128);
  keys.read("tree_without_balance", m.tree_without_balance);
  keys.read("pat", m.pat);
  keys.read("collnet_direct_hopper", m.collnet_direct_hopper);
  keys.read("collnet_direct_gather_net", m.collnet_direct_gather_net);
  keys.read("collnet_direct_gather_full", m.collnet_direct_gather_full);
  keys.read("collnet_direct_gather_lone", m.collnet_direct_gather_lone);
  keys.read("nvls_gather_net", m.nvls_gather_net);
  keys.read("nvls_gather_ratio", m.nvls_gather_ratio);
  keys.read("nvls_ratio", m.nvls_ratio);
  keys.read("nvls_tree_ratio", m.nvls_tree_ratio);
  keys.read("ring_plateau", m.ring_plateau);
  keys.read("ring_plateau_volta", m.ring_plateau_volta);
  keys.read("collnet_arity_us", m.collnet_arity_us);
  keys.read("pat_rank_us", m.pat_rank_us);
  keys.read("pat_step_divisor", m.pat_step_divisor);
  keys.read("net_overhead_us", m.net_overhead_us);
  keys.read("net_overhead_amd_us", m.net_overhead_amd_us);
  return keys.finish();
}

Status read_rules(YamlKeys keys, TuningModel& m) {
  keys.read("nvls_speed", {"efficiency", "narrower", "nodes"}, m.nvls_speed);
  keys.read("nvls_counts_nodes", m.nvls_counts_nodes);
  keys.read("nvls_needs_two_heads", m.nvls_needs_two_heads);
  keys.read("nvls_channels_are_bounded", m.nvls_channels_are_bounded);
  keys.read("nvls_gathers", m.nvls_gathers);
  keys.read("nvls_gathers_across_nodes", m.nvls_gathers_across_nodes);
  keys.read("nvls_tests_gather_type", m.nvls_tests_gather_type);
  keys.read("nvls_gathers_skip_self", m.nvls_gathers_skip_self);
  keys.read("nvls_tree_ratio_by_nodes", m.nvls_tree_ratio_by_nodes);
  keys.read("collnet_direct_gathers", m.collnet_direct_gathers);
  keys.read("collnet_direct_gather_blends", m.collnet_direct_gather_blends);
  keys.read("collnet_chain_is_limited", m.collnet_chain_is_limited);
  keys.read("collnet_lists_are_ignored", m.collnet_lists_are_ignored);
  keys.read("has_pat", m.has_pat);
  keys.read("lone_rank_latency", {"none", "all", "ring"}, m.lone_rank_latency);
  keys.read("power_trees_pay_ring_latency", m.power_trees_pay_ring_latency);
  keys.read("blackwell_ring_pairs_take_nics", m.blackwell_ring_pairs_take_nics);
  keys.read("blackwell_trees_take_narrower", m.blackwell_trees_take_narrower);
  keys.read("pat_takes_narrower", m.pat_takes_narrower);
  keys.read("pat_counts_nic_latency_once", m.pat_counts_nic_latency_once);
  keys.read("pat_over_nvls", m.pat_over_nvls);
  keys.read("nvls_gathers_count_smallest_node", m.nvls_gathers_count_smallest_node);
  keys.read("collnet_direct_needs_switch", m.collnet_direct_needs_switch);
  keys.read("collnet_needs_heads", m.collnet_needs_heads);
  keys.read("ring_plateau_of_gathers", m.ring_plateau_of_gathers);
  keys.read("last_of_equals_wins", m.last_of_equals_wins);
  keys.read("lone_rank_has_thresholds", m.lone_rank_has_thresholds);
  keys.read("refused_pairs_keep_cost", m.refused_pairs_keep_cost);
  keys.read("all_reduce_crosses_all_nodes", m.all_reduce_crosses_all_nodes);
  keys.read("tree_pattern_of_all_nodes", m.tree_pattern_of_all_nodes);
  keys.read("tree_corrects_nvls_tree", m.tree_corrects_nvls_tree);
  keys.read("tree_corrects_nvls_tree_on_arm", m.tree_corrects_nvls_tree_on_arm);
  keys.read("tree_corrects_tiny", m.tree_corrects_tiny);
  keys.read("tree_uses_all_threads", m.tree_uses_all_threads);
  keys.read("tree_halves_chunks", m.tree_halves_chunks);
  keys.read("overhead_of_own_host", m.overhead_of_own_host);
  keys.read("cpus_of_own_host", m.cpus_of_own_host);
  keys.read("loop_takes_all_channels", m.loop_takes_all_channels);
  keys.read("ll128_over_nvb", m.ll128_over_nvb);
  keys.read("ll128_over_c2c", m.ll128_over_c2c);
  keys.read("ll128_needs_one_capability", m.ll128_needs_one_capability);
  keys.read("ll128_p2c_is_last", m.ll128_p2c_is_last);
  keys.read("ring_fallback", {"none", "always", "protocol", "any"}, m.ring_fallback);
  keys.read("lists_name_collectives", m.lists_name_collectives);
  return keys.finish();
}

Status read_scheduler(YamlKeys keys, SchedulerModel& scheduler) {
  keys.read("kind", {"loops", "bytes", "cells"}, scheduler.kind);
  keys.read("traffic_floor", scheduler.traffic_floor);
  keys.read("share_has_floor", scheduler.share_has_floor);
  keys.read("is_plain", scheduler.is_plain);
  keys.read("ll_traffic", scheduler.ll_traffic);
  return keys.finish();
}

Status read_limits(YamlKeys keys, TuningModel& m) {
  keys.read("tasks_per_batch", m.tasks_per_batch);
  keys.read("pat_capability", m.pat_capability);
  keys.read("nvls_gather_ranks", m.nvls_gather_ranks);
  keys.read("slow_ring_threads", m.slow_ring_threads);
  keys.read("nvls_narrow_gbs", m.nvls_narrow_gbs);
  keys.read("nvls_tree_chunk", m.nvls_tree_chunk);
  return keys.finish();
}

Result<TuningModel> read_model(const YAML::Node& document, const std::string& where) {
  TuningModel model;
  YamlKeys root{document, where};
  if (root.take("ringside").as<std::string>("") != "tuning/1") {
    return Error{ErrorCode::Corrupt, where + ": not 'ringside: tuning/1'"};
  }
  model.version = root.take("nccl").as<std::string>();
  model.patch = root.take("patch").as<std::string>();
  RINGSIDE_TRY(read_latencies(root, model));
  RINGSIDE_TRY(read_bandwidths(root, model));
  RINGSIDE_TRY(read_factors({root.take("factors"), where + ": factors"}, model));
  RINGSIDE_TRY(read_rules({root.take("rules"), where + ": rules"}, model));
  RINGSIDE_TRY(read_scheduler({root.take("scheduler"), where + ": scheduler"}, model.scheduler));
  RINGSIDE_TRY(read_limits({root.take("limits"), where + ": limits"}, model));
  model.ll128_capabilities = root.take("ll128_capabilities").as<std::vector<int>>();
  // These keys are read by topology/rules.cpp, channels/rules.cpp and releases.cpp.
  for (const char* const of_others : {"topology", "search", "channels", "unverified"}) {
    root.skip(of_others);
  }
  RINGSIDE_TRY(root.finish());
  return model;
}

}  // namespace

GpuClass class_of_gpu(int capability) {
  if (capability >= 100) return GpuClass::Blackwell;
  if (capability >= 90) return GpuClass::Hopper;
  return capability >= 80 ? GpuClass::Ampere : GpuClass::Volta;
}

std::span<const std::string> tuning_versions() { return release_versions(); }

std::span<const std::string> tuning_patches() { return release_patches(); }

Result<TuningModel> load_tuning_model(std::string_view version) {
  RINGSIDE_TRY(const ReleaseDocument release, load_release(version));
  try {
    return read_model(release.root, release.where);
  } catch (const YAML::Exception& exception) {
    return Error{ErrorCode::Corrupt, fmt::format("{}: {}", release.where, exception.what())};
  }
}

}  // namespace ringside
