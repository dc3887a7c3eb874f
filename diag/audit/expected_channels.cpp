#include "diag/audit/expected_channels.h"

#include <algorithm>
#include <cmath>

#include "base/env.h"
#include "diag/audit/expected_job.h"
#include "engine/channels/job.h"
#include "engine/releases/releases.h"

namespace ringside::audit {
namespace {

/// Beyond so many, channels of rings do not depend on how many nodes there are.
constexpr int kEnoughNodes = 16;

int fewest_logged(const CommFacts& comm) {
  int fewest = 0;
  for (const Member& member : comm.members) {
    if (member.coll_channels < 1) continue;
    fewest = fewest == 0 ? member.coll_channels : std::min(fewest, member.coll_channels);
  }
  return fewest;
}

/// Those that collectives have; the log tells more where they were raised for NVLS.
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
  // What the driver refuses is no variable, and in no topology.
  if (!has_nvls) channels.nvls_enable = 0;
  return make_job(expected.hosts, topology, channels);
}

/// The GRAPH lines have the ring that this job's nodes found.
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

}  // namespace

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

}  // namespace ringside::audit
