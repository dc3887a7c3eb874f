#include "study/sweep/sweep_points.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/text.h"
#include "base/wording.h"
#include "diag/report/sentences/hang_sentences.h"
#include "engine/topology/sources/description_file.h"
#include "engine/topology/sources/nccl_xml.h"
#include "harness/scenario/scenario.h"
#include "sim/fidelity.h"
#include "study/asked_job.h"
#include "study/host_gpu.h"
#include "study/scenario/scenario_run.h"
#include "study/sweep/point_keys.h"

namespace ringside::study {
namespace {

std::string digest_of(const std::string& text) {
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
  RINGSIDE_TRY(const AskedJob asked, load_job(smallest_job(base.job)));
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

Error too_many_points(const Sweep& sweep, const SweepMethod& method) {
  return {ErrorCode::Corrupt, sweep.where + ": too many points",
          fmt::format("vary less: at most {}", method.most_points)};
}

/// Returns the number of combinations of settings for one cluster and workload, before layouts multiply it.
/// errors  Corrupt: more points than SweepMethod allows
Result<std::size_t> combinations_of(const Sweep& sweep, const SweepMethod& method) {
  std::size_t combinations = 1;
  for (const VaryAxis& axis : sweep.vary) {
    combinations *= axis.values.size();
    if (combinations * sweep.clusters.size() * sweep.workloads.size() > method.most_points) {
      return too_many_points(sweep, method);
    }
  }
  return combinations;
}

/// Returns combination `number` of `combinations`: the value of the last axis changes fastest.
Settings settings_at(const std::vector<VaryAxis>& vary, std::size_t combinations,
                     std::size_t number) {
  Settings settings;
  std::size_t each = combinations;  // combinations that share the values chosen so far
  for (const VaryAxis& axis : vary) {
    each /= axis.values.size();
    settings.emplace_back(axis.key, axis.values[number / each]);
    number %= each;
  }
  return settings;
}

/// The inputs of results that points share, as parts of the text whose digest is SweepPoint::key.
struct PointInputs {
  std::string method;                 ///< version and fidelity
  std::vector<std::string> clusters;  ///< identity_of(), by cluster
  std::vector<std::string>
      scenarios;  ///< content of the scenario's file, by workload; empty: a kind of workload

  /// Returns the inputs of a point other than its workload keys and settings.
  [[nodiscard]] std::string before_keys(const Sweep& sweep, const SweepPoint& point) const {
    std::string text = method;
    add_part(text, clusters[point.cluster]);
    add_part(text, sweep.workloads[point.workload].kind);
    add_part(text, scenarios[point.workload]);
    if (const std::string* const on = setting_of(point, "on")) {
      // The content of a varied file also counts; a file that cannot be read is reported by the point.
      SweepCluster varied = sweep.clusters[point.cluster];
      varied.on = *on;
      const auto identity = identity_of(varied);
      add_part(text, identity ? *identity : *on);
    }
    return text;
  }
};

/// errors  Corrupt, as `file:line: what`: a cluster or a scenario that cannot be loaded
Result<PointInputs> inputs_of(const Sweep& sweep, const SweepMethod& method) {
  PointInputs inputs;
  add_part(inputs.method, method.version);
  add_part(inputs.method, method.fidelity);
  for (const SweepCluster& cluster : sweep.clusters) {
    auto identity = identity_of(cluster);
    if (!identity) {
      return sweep_error(sweep, cluster.line, "cluster " + cluster.name, identity.error());
    }
    inputs.clusters.push_back(*std::move(identity));
  }
  for (const SweepWorkload& workload : sweep.workloads) {
    inputs.scenarios.emplace_back();
    if (!workload.kind.empty()) continue;
    if (const auto scenario = load_scenario(workload.scenario, scenario_reading()); !scenario) {
      return sweep_error(sweep, workload.line, "workload " + workload.name, scenario.error());
    }
    RINGSIDE_TRY(inputs.scenarios.back(), read_description(workload.scenario));
  }
  return inputs;
}

/// Returns a point's workload keys and settings, as parts of the text of its digest.
std::string keys_text(const Sweep& sweep, const SweepPoint& point, GpuKeys& gpus) {
  std::string text;
  for (const auto& [key, value] : keys_of(sweep, point, gpus)) add_part(text, key + "=" + value);
  for (const auto& [key, value] : point.settings) add_part(text, key + "=" + value);
  return text;
}

Result<Scenario> scenario_of(const Sweep& sweep, const SweepPoint& point) {
  const SweepWorkload& workload = sweep.workloads[point.workload];
  const SweepCluster& cluster = sweep.clusters[point.cluster];
  Scenario scenario;
  if (workload.kind.empty()) {
    RINGSIDE_TRY(scenario, load_scenario(workload.scenario, scenario_reading()));
  } else {
    GpuKeys gpus;
    RINGSIDE_TRY(const WorkloadKeys keys, laid_out_keys(sweep, point, gpus));
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

Error sweep_error(const Sweep& sweep, int line, const std::string& what, const Error& error) {
  return {ErrorCode::Corrupt, fmt::format("{}:{}: {}: {}", sweep.where, line, what, error.message),
          error.help};
}

Result<std::vector<SweepPoint>> points_of(const Sweep& sweep, const SweepMethod& method) {
  RINGSIDE_TRY([[maybe_unused]] const Fidelity* const fidelity, parse_fidelity(method.fidelity));
  RINGSIDE_TRY(const std::size_t combinations, combinations_of(sweep, method));
  RINGSIDE_TRY(const PointInputs inputs, inputs_of(sweep, method));
  GpuKeys gpus;
  std::vector<SweepPoint> points;
  for (std::size_t cluster = 0; cluster < sweep.clusters.size(); ++cluster) {
    for (std::size_t workload = 0; workload < sweep.workloads.size(); ++workload) {
      for (std::size_t number = 0; number < combinations; ++number) {
        const SweepPoint asked{.cluster = cluster,
                               .workload = workload,
                               .settings = settings_at(sweep.vary, combinations, number)};
        const std::string before_keys = inputs.before_keys(sweep, asked);
        for (SweepPoint& point : points_in_layouts(sweep, asked, gpus)) {
          if (points.size() == method.most_points) return too_many_points(sweep, method);
          point.key = digest_of(before_keys + keys_text(sweep, point, gpus));
          points.push_back(std::move(point));
        }
      }
    }
  }
  RINGSIDE_TRY(check_keys(sweep, points, gpus));
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
