#include "study/sweep/sweep_points.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "base/text.h"
#include "base/wording.h"
#include "diag/report/sentences/hang_sentences.h"
#include "engine/topology/sources/description_file.h"
#include "engine/topology/sources/nccl_xml.h"
#include "harness/scenario/layout_search.h"
#include "harness/scenario/scenario.h"
#include "sim/fidelity.h"
#include "study/asked_job.h"
#include "study/host_gpu.h"
#include "study/scenario/scenario_run.h"

namespace ringside::study {
namespace {

Error at_line(const Sweep& sweep, int line, const std::string& what, const Error& error) {
  return {ErrorCode::Corrupt, fmt::format("{}:{}: {}: {}", sweep.where, line, what, error.message),
          error.help};
}

std::string key_of(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// Adds each part with its length, so that no two lists of parts give one text.
void add_part(std::string& text, const std::string& part) {
  text += fmt::format("{}:{};", part.size(), part);
}

/// Returns the identity of a cluster, independent of its name.
Result<std::string> identity_of(const SweepCluster& cluster) {
  SimQuestion base;
  base.job.on = cluster.on;
  for (const auto& [key, value] : cluster.set) {
    RINGSIDE_TRY(apply_setting(base, key, value));
  }
  JobOptions one = base.job;
  one.nodes = one.nvl_domain.value_or(1);
  RINGSIDE_TRY(const AskedJob asked, load_job(one));
  std::string text;
  std::error_code failed;
  if (std::filesystem::is_regular_file(cluster.on, failed)) {
    RINGSIDE_TRY(const std::string file, read_description(cluster.on));
    add_part(text, file);
  }
  for (const HostRun& run : asked.hosts.runs) add_part(text, to_nccl_xml(run.host));
  add_part(text, fmt::format("{} {}", asked.hosts.hosts_per_nvl_domain, cluster.nodes.value_or(0)));
  for (const auto& [key, value] : cluster.set) add_part(text, key + "=" + value);
  return text;
}

/// The properties of a sweep's hosts, each looked up once.
class HostFacts {
 public:
  const WorkloadKeys& gpu_keys(const std::string& on) {
    const auto [place, is_new] = gpu_keys_.try_emplace(on);
    if (is_new) {
      // Errors of hosts that cannot be loaded are reported by the point.
      if (auto keys = gpu_keys_of_hosts(on)) place->second = *std::move(keys);
    }
    return place->second;
  }

 private:
  std::map<std::string, WorkloadKeys> gpu_keys_;
};

const std::string* setting_of(const SweepPoint& point, std::string_view key) {
  const auto found = std::ranges::find(point.settings, key, &Settings::value_type::first);
  return found == point.settings.end() ? nullptr : &found->second;
}

const std::string& hosts_of(const Sweep& sweep, const SweepPoint& point) {
  const std::string* const varied = setting_of(point, "on");
  return varied != nullptr ? *varied : sweep.clusters[point.cluster].on;
}

/// Returns the workload's keys, overridden by the cluster's, overridden by the point's. A GPU that none of them names
/// is the one of the hosts; if the hosts are varied, that applies to every GPU.
WorkloadKeys keys_of(const Sweep& sweep, const SweepPoint& point, HostFacts& facts) {
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
  for (const auto& [key, value] : facts.gpu_keys(hosts_of(sweep, point))) {
    if (std::ranges::find(row->keys, key) != row->keys.end()) keys.emplace(key, value);
  }
  return keys;
}

/// keys_of() in the point's layout.
/// errors  InvalidArgument: as with_layout(); no layout fits
Result<WorkloadKeys> laid_out_keys(const Sweep& sweep, const SweepPoint& point, HostFacts& facts) {
  if (const std::string* const on = setting_of(point, "on")) {
    RINGSIDE_TRY([[maybe_unused]] const int gpus, gpus_per_domain(*on));
  }
  WorkloadKeys keys = keys_of(sweep, point, facts);
  const std::string* const layout = setting_of(point, kLayoutKey);
  if (layout == nullptr) return keys;
  const std::string& kind = sweep.workloads[point.workload].kind;
  if (*layout != kAnyLayout) return with_layout(kind, keys, *layout);
  RINGSIDE_TRY(const int gpus, gpus_per_domain(hosts_of(sweep, point)));
  RINGSIDE_TRY(const LayoutSearch found, find_layouts(kind, keys, gpus));
  return Error{ErrorCode::InvalidArgument, found.refusal};
}

/// Returns a point for each layout that fits; the point itself if it requests none, or none fits.
std::vector<SweepPoint> points_in_layouts(const Sweep& sweep, const SweepPoint& point,
                                          HostFacts& facts) {
  const std::string* const layout = setting_of(point, kLayoutKey);
  if (layout == nullptr || *layout != kAnyLayout) return {point};
  const auto gpus = gpus_per_domain(hosts_of(sweep, point));
  if (!gpus) return {point};
  const auto found =
      find_layouts(sweep.workloads[point.workload].kind, keys_of(sweep, point, facts), *gpus);
  if (!found || found->fitting.empty()) return {point};
  std::vector<SweepPoint> points;
  for (const std::string& one : found->fitting) {
    points.push_back(point);
    std::ranges::find(points.back().settings, kLayoutKey, &Settings::value_type::first)->second =
        one;
  }
  return points;
}

Result<Scenario> scenario_of(const Sweep& sweep, const SweepPoint& point) {
  const SweepWorkload& workload = sweep.workloads[point.workload];
  const SweepCluster& cluster = sweep.clusters[point.cluster];
  Scenario scenario;
  if (workload.kind.empty()) {
    RINGSIDE_TRY(scenario, load_scenario(workload.scenario, scenario_reading()));
  } else {
    HostFacts facts;
    RINGSIDE_TRY(const WorkloadKeys keys, laid_out_keys(sweep, point, facts));
    RINGSIDE_TRY(scenario.outline, make_workload(workload.kind, keys));
    RINGSIDE_TRY(scenario.training, training_facts(workload.kind, keys));
  }
  scenario.name = workload.name;
  scenario.on = cluster.on;
  scenario.nodes = cluster.nodes;
  scenario.expect = {};
  return scenario;
}

/// Returns the calls that take most time, and their limit.
std::string limit_of_calls(const std::vector<CallTime>& calls) {
  const auto total = [](const CallTime& one) { return one.time * static_cast<double>(one.times); };
  const auto most = std::ranges::max_element(calls, {}, total);
  if (most == calls.end()) return {};
  return fmt::format("{} of {} ({} on {}, {}): {}", most->call, most->groups,
                     plural(static_cast<std::size_t>(most->ranks), "rank", "ranks"),
                     plural(static_cast<std::size_t>(most->hosts), "host", "hosts"),
                     format_bytes(most->bytes), most->limit);
}

/// Checks that at least one point of each workload has valid keys; an unknown model or a missing efficiency is an
/// error. A step that is too large for its GPUs is a result, not an error.
Status check_keys(const Sweep& sweep, const std::vector<SweepPoint>& points, HostFacts& hosts) {
  for (std::size_t i = 0; i < sweep.workloads.size(); ++i) {
    const SweepWorkload& workload = sweep.workloads[i];
    if (workload.kind.empty()) continue;
    std::optional<Error> first;
    const bool can_be = std::ranges::any_of(points, [&](const SweepPoint& point) {
      if (point.workload != i) return false;
      bool names_key = false;
      const BadKey bad = [&](std::string_view key, const std::string& what,
                             const std::string& help) {
        names_key |= !key.empty();
        return bad_key(key, what, help);
      };
      const auto laid_out = laid_out_keys(sweep, point, hosts);
      const WorkloadKeys keys = laid_out ? *laid_out : keys_of(sweep, point, hosts);
      const auto facts = training_facts(workload.kind, keys, bad);
      if (facts ? facts->has_value() : !names_key) return true;
      Error error{ErrorCode::InvalidArgument, ""};
      if (facts) {
        const auto outline = make_workload(workload.kind, keys, bad);
        if (outline) return true;
        error = outline.error();
      } else {
        error = facts.error();
      }
      if (!first) first = error;
      return false;
    });
    if (!can_be && first) {
      return at_line(sweep, workload.line, "workload " + workload.name, *first);
    }
  }
  return {};
}

PointResult refused(const Error& error) {
  const bool is_ours = exit_status(error.code) == 3 && error.code != ErrorCode::Unsupported;
  return {.end = is_ours ? PointResult::End::Failed : PointResult::End::Refused,
          .reason = error.help.empty() ? error.message : error.message + "; " + error.help};
}

}  // namespace

std::string SweepPoint::settings_text() const {
  std::string text;
  for (const auto& [name, value] : settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

Result<std::vector<SweepPoint>> points_of(const Sweep& sweep, const SweepMethod& method) {
  RINGSIDE_TRY([[maybe_unused]] const Fidelity* const fidelity, parse_fidelity(method.fidelity));
  std::size_t combinations = 1;
  for (const VaryAxis& axis : sweep.vary) {
    combinations *= axis.values.size();
    if (combinations * sweep.clusters.size() * sweep.workloads.size() > kMostPoints) {
      return Error{ErrorCode::Corrupt, sweep.where + ": too many points",
                   fmt::format("vary less: at most {}", kMostPoints)};
    }
  }
  std::vector<std::string> clusters;
  for (const SweepCluster& cluster : sweep.clusters) {
    auto identity = identity_of(cluster);
    if (!identity) {
      return at_line(sweep, cluster.line, "cluster " + cluster.name, identity.error());
    }
    clusters.push_back(*std::move(identity));
  }
  std::vector<std::string> scenarios;
  for (const SweepWorkload& workload : sweep.workloads) {
    scenarios.emplace_back();
    if (!workload.kind.empty()) continue;
    if (const auto scenario = load_scenario(workload.scenario, scenario_reading()); !scenario) {
      return at_line(sweep, workload.line, "workload " + workload.name, scenario.error());
    }
    RINGSIDE_TRY(scenarios.back(), read_description(workload.scenario));
  }
  HostFacts facts;
  std::vector<SweepPoint> points;
  for (std::size_t cluster = 0; cluster < sweep.clusters.size(); ++cluster) {
    for (std::size_t workload = 0; workload < sweep.workloads.size(); ++workload) {
      for (std::size_t number = 0; number < combinations; ++number) {
        SweepPoint point{.cluster = cluster, .workload = workload};
        std::size_t rest = number;
        std::size_t block = combinations;
        for (const VaryAxis& axis : sweep.vary) {
          block /= axis.values.size();
          point.settings.emplace_back(axis.key, axis.values[rest / block]);
          rest %= block;
        }
        std::string text;
        for (const std::string& part : {method.version, method.fidelity, clusters[cluster],
                                        sweep.workloads[workload].kind, scenarios[workload]}) {
          add_part(text, part);
        }
        if (const std::string* const on = setting_of(point, "on")) {
          // The content of a varied file also counts; a file that cannot be read is reported by the point.
          SweepCluster varied = sweep.clusters[cluster];
          varied.on = *on;
          const auto identity = identity_of(varied);
          add_part(text, identity ? *identity : *on);
        }
        for (SweepPoint& one : points_in_layouts(sweep, point, facts)) {
          std::string own = text;
          for (const auto& [key, value] : keys_of(sweep, one, facts)) {
            add_part(own, key + "=" + value);
          }
          for (const auto& [key, value] : one.settings) add_part(own, key + "=" + value);
          one.key = key_of(own);
          points.push_back(std::move(one));
        }
      }
    }
  }
  RINGSIDE_TRY(check_keys(sweep, points, facts));
  return points;
}

PointResult run_point(const Sweep& sweep, const SweepPoint& point, const SweepMethod& method) {
  auto scenario = scenario_of(sweep, point);
  if (!scenario) return refused(scenario.error());
  PointResult result{.ranks = scenario->outline.ranks, .tokens = scenario->outline.tokens};
  if (scenario->training) result.memory = scenario->training->memory.total();
  ScenarioQuestion question{.scenario = *std::move(scenario), .fidelity = method.fidelity};
  question.settings = sweep.clusters[point.cluster].set;
  for (const auto& setting : point.settings) {
    if (!is_workload_setting(setting.first)) question.settings.push_back(setting);
  }
  const auto outcome = run_scenario(question);
  if (!outcome) {
    const PointResult why = refused(outcome.error());
    result.end = why.end;
    result.reason = why.reason;
    return result;
  }
  result.hosts = outcome->hosts;
  result.call_error_percent = error_percent_of(outcome->calls);
  result.limit = limit_of_calls(outcome->calls);
  if (outcome->end == ScenarioOutcome::End::Finished && outcome->times) {
    result.end = PointResult::End::Finished;
    result.step = outcome->times->step;
    result.compute = outcome->times->compute;
    result.exposed = outcome->times->exposed;
    return result;
  }
  result.end = PointResult::End::Hang;
  result.reason = outcome->verdict ? fmt::format("{}: {}", hang::to_string(outcome->verdict->kind),
                                                 hang::why_of(*outcome->verdict))
                                   : outcome->failure;
  return result;
}

}  // namespace ringside::study
