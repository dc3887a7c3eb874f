#include "study/sweep/point_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "harness/scenario/layout_search.h"
#include "study/host_gpu.h"

namespace ringside::study {
namespace {

const std::string& hosts_of(const Sweep& sweep, const SweepPoint& point) {
  const std::string* const varied = setting_of(point, "on");
  return varied != nullptr ? *varied : sweep.clusters[point.cluster].on;
}

/// Returns why these keys make no workload; nullopt: they make one, which may need more memory than its GPUs have.
std::optional<Error> error_of_keys(const std::string& kind, const WorkloadKeys& keys) {
  bool names_key = false;
  const BadKey bad = [&](std::string_view key, const std::string& what, const std::string& help) {
    names_key |= !key.empty();
    return bad_key(key, what, help);
  };
  const auto training = training_facts(kind, keys, bad);
  if (!training) {
    // The one error that names no key is that of memory.
    return names_key ? std::optional(training.error()) : std::nullopt;
  }
  if (training->has_value()) return std::nullopt;
  const auto inference = make_workload(kind, keys, bad);
  return inference ? std::nullopt : std::optional(inference.error());
}

}  // namespace

const WorkloadKeys& GpuKeys::of_hosts(const std::string& on) {
  const auto [place, is_new] = by_hosts_.try_emplace(on);
  if (is_new) {
    if (auto keys = gpu_keys_of_hosts(on)) place->second = *std::move(keys);
  }
  return place->second;
}

const std::string* setting_of(const SweepPoint& point, std::string_view key) {
  const auto found = std::ranges::find(point.settings, key, &Settings::value_type::first);
  return found == point.settings.end() ? nullptr : &found->second;
}

WorkloadKeys keys_of(const Sweep& sweep, const SweepPoint& point, GpuKeys& gpus) {
  WorkloadKeys keys = sweep.workloads[point.workload].keys;
  for (const auto& [key, value] : sweep.clusters[point.cluster].workload) {
    // Each of the two keys sets the speed of a GPU.
    if (key == "gpu" || key == "gpu_tflops") {
      keys.erase("gpu");
      keys.erase("gpu_tflops");
    }
    keys[key] = value;
  }
  if (setting_of(point, "on") != nullptr) {
    for (const char* const key : {"gpu", "gpu_tflops", "gpu_memory_gb"}) keys.erase(key);
  }
  for (const auto& [key, value] : point.settings) {
    if (key.starts_with(kWorkloadPrefix)) keys[key.substr(kWorkloadPrefix.size())] = value;
  }
  const std::string& kind = sweep.workloads[point.workload].kind;
  if (kind.empty() || keys.contains("gpu") || keys.contains("gpu_tflops")) return keys;
  const auto row = std::ranges::find(workload_kinds(), kind, &WorkloadKind::name);
  for (const auto& [key, value] : gpus.of_hosts(hosts_of(sweep, point))) {
    if (std::ranges::find(row->keys, key) != row->keys.end()) keys.emplace(key, value);
  }
  return keys;
}

Result<WorkloadKeys> laid_out_keys(const Sweep& sweep, const SweepPoint& point, GpuKeys& gpus) {
  if (const std::string* const on = setting_of(point, "on")) {
    // Without their GPU's facts a varied host that cannot be loaded would look like a bad workload.
    RINGSIDE_TRY([[maybe_unused]] const int domain, gpus_per_domain(*on));
  }
  WorkloadKeys keys = keys_of(sweep, point, gpus);
  const std::string* const layout = setting_of(point, kLayoutKey);
  if (layout == nullptr) return keys;
  const std::string& kind = sweep.workloads[point.workload].kind;
  if (*layout != kAnyLayout) return with_layout(kind, keys, *layout);
  RINGSIDE_TRY(const int domain, gpus_per_domain(hosts_of(sweep, point)));
  RINGSIDE_TRY(const LayoutSearch found, find_layouts(kind, keys, domain));
  return Error{ErrorCode::InvalidArgument, found.refusal};
}

std::vector<SweepPoint> points_in_layouts(const Sweep& sweep, const SweepPoint& point,
                                          GpuKeys& gpus) {
  const std::string* const layout = setting_of(point, kLayoutKey);
  if (layout == nullptr || *layout != kAnyLayout) return {point};
  const auto domain = gpus_per_domain(hosts_of(sweep, point));
  if (!domain) return {point};
  const auto found =
      find_layouts(sweep.workloads[point.workload].kind, keys_of(sweep, point, gpus), *domain);
  if (!found || found->fitting.empty()) return {point};
  std::vector<SweepPoint> points;
  for (const std::string& one : found->fitting) {
    points.push_back(point);
    std::ranges::find(points.back().settings, kLayoutKey, &Settings::value_type::first)->second =
        one;
  }
  return points;
}

Status check_keys(const Sweep& sweep, const std::vector<SweepPoint>& points, GpuKeys& gpus) {
  for (std::size_t i = 0; i < sweep.workloads.size(); ++i) {
    const SweepWorkload& workload = sweep.workloads[i];
    if (workload.kind.empty()) continue;
    std::optional<Error> first;
    const bool has_valid = std::ranges::any_of(points, [&](const SweepPoint& point) {
      if (point.workload != i) return false;
      const auto laid_out = laid_out_keys(sweep, point, gpus);
      auto error = error_of_keys(workload.kind, laid_out ? *laid_out : keys_of(sweep, point, gpus));
      if (!error) return true;
      if (!first) first = std::move(error);
      return false;
    });
    if (!has_valid && first) {
      return sweep_error(sweep, workload.line, "workload " + workload.name, *first);
    }
  }
  return {};
}

}  // namespace ringside::study
