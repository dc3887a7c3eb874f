#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "base/env.h"
#include "diag/audit/expected_job.h"
#include "diag/audit/facts.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/transports.h"
#include "engine/channels/job.h"
#include "engine/releases/releases.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// The number of channels that the release that wrote the logs computes for the hosts in their dumps.
struct ExpectedChannels {
  int logged = 0;  ///< lowest number of collective channels of a rank in the widest communicator
  int with_settings = 0;       ///< with the variables that the logs echo
  int without = 0;             ///< without variables
  std::string judged_by = {};  ///< basis, such as "the topology that node-a dumped, NCCL 2.21.5"
};

/// With more nodes than this, the channels of rings do not depend on the number of nodes.
constexpr int kEnoughNodes = 16;

int fewest_logged(const CommFacts& comm) {
  int fewest = 0;
  for (const Member& member : comm.members) {
    if (member.coll_channels < 1) continue;
    fewest = fewest == 0 ? member.coll_channels : std::min(fewest, member.coll_channels);
  }
  return fewest;
}

/// Returns the channels for collectives; the log shows more if they were raised for NVLS.
/// source  NCCL 2.20 .. 2.27 graph/connect.cc
int channels_of_collectives(const Job& job) {
  const CommShape& shape = job.connection.shape;
  return shape.collective_channels > 0 ? shape.collective_channels : shape.nchannels;
}

Result<Job> decide_job(const ExpectedJob& expected, const ringside::Environment& environment,
                       bool has_nvls) {
  const std::string& release = expected.release.name;
  RINGSIDE_TRY(const TopologyParameters topology, parse_topology_parameters(environment, release));
  RINGSIDE_TRY(ChannelParameters channels, parse_channel_parameters(environment, release));
  // A feature that the driver does not support appears neither in variables nor in the topology.
  if (!has_nvls) channels.nvls_enable = 0;
  return make_job(expected.hosts, topology, channels);
}

/// Returns whether the GRAPH lines contain the ring that the model finds for this job's nodes.
bool has_logged_rings(const JobFacts& facts, const Job& job) {
  constexpr float kPrinted = 1e-3F;
  return std::ranges::all_of(job.reports, [&](const NodeReport& report) {
    const Graph& ring = report.graphs[GraphId::Ring];
    return std::ranges::any_of(facts.patterns, [&](const PatternFact& said) {
      return said.pattern == static_cast<int>(Pattern::Ring) && said.nchannels == ring.nchannels &&
             std::abs(said.bw_intra - ring.bw_intra) < kPrinted &&
             std::abs(said.bw_inter - ring.bw_inter) < kPrinted;
    });
  });
}

/// Returns a result only if the model is known to match the job: with the logs' variables it finds exactly the rings
/// of their GRAPH lines, on as many ranks.
/// returns  nullopt without a complete dump and such lines, for RCCL, and if rings differ
std::optional<ExpectedChannels> expected_channels(const JobFacts& facts) {
  const CommFacts* world = facts.world();
  if (world == nullptr || world->is_rccl || facts.dumps.empty() || facts.patterns.empty())
    return {};
  ExpectedChannels channels{.logged = fewest_logged(*world)};
  if (channels.logged == 0) return {};
  Result<ExpectedJob> expected = expected_job(facts, "");
  if (!expected) return {};
  HostRun& hosts = expected->hosts.runs.front();
  if (hosts.count * static_cast<int>(gpus_of(hosts.host).size()) != world->nranks) return {};
  if (expected->hosts.hosts_per_nvl_domain == 1) hosts.count = std::min(hosts.count, kEnoughNodes);

  const ringside::Environment logged = [&facts](const char* name) -> std::optional<std::string> {
    const Setting* setting = facts.setting(name);
    return setting == nullptr ? std::nullopt : std::optional(setting->value);
  };
  const ringside::Environment nothing = [](const char*) -> std::optional<std::string> {
    return {};
  };
  const bool has_nvls = world->nvls_channels > 0;
  const Result<Job> as_set = decide_job(*expected, logged, has_nvls);
  if (!as_set || !has_logged_rings(facts, *as_set)) return {};
  const Result<Job> as_is = decide_job(*expected, nothing, has_nvls);
  if (!as_is) return {};
  channels.with_settings = channels_of_collectives(*as_set);
  channels.without = channels_of_collectives(*as_is);
  if (channels.logged == as_set->connection.shape.nchannels) {
    channels.logged = channels.with_settings;
  }
  channels.judged_by = expected->source + ", " + expected->release.text();
  return channels;
}

}  // namespace

void look_for_fewer_channels(const JobFacts& facts, Findings& findings) {
  constexpr int kMuch = 2;  // half or less is a fault rather than a choice
  if (findings.has("few_channels", Severity::Warning)) return;
  const std::optional<ExpectedChannels> expected = expected_channels(facts);
  if (!expected || expected->logged >= expected->without) return;
  const bool is_much = expected->logged * kMuch <= expected->without;
  Finding& finding = findings.add(
      "few_channels", is_much ? Severity::Warning : Severity::Info,
      fmt::format("{} where {} are made ({})",
                  plural(static_cast<std::size_t>(expected->logged), "channel", "channels"),
                  expected->without, expected->judged_by));
  std::vector<std::uint32_t> who;
  for (const Member& member : facts.world()->members) {
    if (member.coll_channels >= 1) who.push_back(member.process);
  }
  std::ranges::sort(who);
  for (const auto& [channels, said] : facts.channel_counts) {
    if (channels >= expected->logged) finding.evidence.mix(said.evidence);
  }
  findings.add_processes(finding, who);
  const Setting* bound = channel_limit(facts);
  if (expected->with_settings > expected->logged) {
    finding.cause =
        "not the variables that the logs have: the program bounds them (ncclConfig_t: maxCTAs), or "
        "a variable whose line is missing";
    finding.fix = "look for maxCTAs in the program's ncclConfig_t; compare `ringside topo`";
  } else if (bound != nullptr) {
    finding.evidence.mix(bound->evidence);
    finding.cause = fmt::format("{}={} limits the channels", bound->name, bound->value);
    finding.fix = "unset " + bound->name;
  } else {
    finding.cause = "a variable that the logs echo leads to other channels";
    finding.fix = "unset what is set; `ringside topo --set NAME=VALUE` shows which it is";
  }
}

}  // namespace ringside::audit
