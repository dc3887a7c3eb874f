#include "study/sweep/point_keys.h"

#include <algorithm>
#include <optional>

#include "base/assert.h"
#include "harness/hangs/outline.h"
#include "harness/scenario/layout_search.h"
#include "study/host_gpu.h"

namespace ringside::study {
namespace {

/// Key that turns the check of a training step's memory on (yes) or off (no).
constexpr std::string_view kCheckMemory = "check_memory";

const std::string& hosts_of(const Sweep& sweep, const SweepPoint& point) {
  const std::string* const varied = setting_of(point, "on");
  return varied != nullptr ? *varied : sweep.clusters[point.cluster].on;
}

const WorkloadKind& kind_of(const Sweep& sweep, const SweepPoint& point) {
  const std::string& kind = sweep.workloads[point.workload].kind;
  const auto row = std::ranges::find(workload_kinds(), kind, &WorkloadKind::name);
  RINGSIDE_ASSERT(row != workload_kinds().end(), "a sweep's workload of the kind '{}'", kind);
  return *row;
}

/// Checks that the keys make a workload. Does not compare its memory with that of a GPU.
/// errors  as make_workload()
Status check_without_memory(const WorkloadKind& kind, WorkloadKeys keys) {
  if (std::ranges::find(kind.keys, kCheckMemory) != kind.keys.end()) {
    const auto check = keys.try_emplace(std::string(kCheckMemory), "no").first;
    if (check->second == "yes") check->second = "no";  // another value is an error
  }
  RINGSIDE_TRY(const auto training, training_facts(kind.name, keys));
  if (training) return {};
  RINGSIDE_TRY([[maybe_unused]] const hangs::Outline inference, make_workload(kind.name, keys));
  return {};
}

}  // namespace

const Result<WorkloadKeys>& GpuKeys::of_hosts(const std::string& on) {
  const auto known = by_hosts_.find(on);
  if (known != by_hosts_.end()) return known->second;
  return by_hosts_.emplace(on, gpu_keys_of_hosts(on)).first->second;
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
  if (sweep.workloads[point.workload].kind.empty() || keys.contains("gpu") ||
      keys.contains("gpu_tflops")) {
    return keys;
  }
  const WorkloadKind& kind = kind_of(sweep, point);
  if (const auto& of_hosts = gpus.of_hosts(hosts_of(sweep, point))) {
    for (const auto& [key, value] : *of_hosts) {
      if (std::ranges::find(kind.keys, key) != kind.keys.end()) keys.emplace(key, value);
    }
  }
  return keys;
}

Result<WorkloadKeys> laid_out_keys(const Sweep& sweep, const SweepPoint& point, GpuKeys& gpus) {
  if (const std::string* const on = setting_of(point, "on")) {
    // Without this check, the error would be that the workload names no GPU.
    if (const auto& of_hosts = gpus.of_hosts(*on); !of_hosts) return of_hosts.error();
  }
  WorkloadKeys keys = keys_of(sweep, point, gpus);
  const std::string* const layout = setting_of(point, kLayoutKey);
  if (layout == nullptr) return keys;
  const std::string& kind = sweep.workloads[point.workload].kind;
  if (*layout != kAnyLayout) return with_layout(kind, keys, *layout);
  RINGSIDE_TRY(const int domain, gpus_per_domain(hosts_of(sweep, point)));
  RINGSIDE_TRY(const LayoutSearch found, find_layouts(kind, keys, domain));
  RINGSIDE_ASSERT(found.fitting.empty(), "layout auto, and {} layouts fit", found.fitting.size());
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
      const Status checked = check_without_memory(
          kind_of(sweep, point), laid_out ? *laid_out : keys_of(sweep, point, gpus));
      if (checked) return true;
      if (!first) first = laid_out ? checked.error() : laid_out.error();
      return false;
    });
    if (!has_valid && first) {
      return sweep_error(sweep, workload.line, "workload " + workload.name, *first);
    }
  }
  return {};
}

}  // namespace ringside::study
