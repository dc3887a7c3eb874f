#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "diag/audit/audit.h"
#include "diag/audit/expected_job.h"
#include "engine/channels/job.h"
#include "engine/topology/sources/load_hosts.h"
#include "engine/topology/sources/nccl_xml.h"
#include "engine/tuning/select.h"
#include "harness/logs/log_files.h"
#include "harness/logs/log_job.h"

// Hosts rebuilt from the topology that a job's log has.

namespace ringside::audit {
namespace {

/// Returns what a release of NCCL chooses on these hosts, and the time that it predicts.
std::vector<std::string> choices_on(const JobHosts& hosts, const std::string& release = "2.30") {
  std::vector<std::string> choices;
  const auto nothing = [](const char*) -> std::optional<std::string> { return {}; };
  const auto job = make_job(hosts, *parse_topology_parameters(nothing, release),
                            *parse_channel_parameters(nothing, release));
  if (!job) return {job.error().message};
  const CommShape& shape = job->connection.shape;
  choices.push_back(fmt::format("{} channels, {} of NVLS, {} of p2p", shape.nchannels,
                                shape.nvls_channels, shape.p2p_channels));
  const auto tuner = Tuner::make(shape, {}, release);
  if (!tuner) return {tuner.error().message};
  for (const Collective collective : {Collective::AllReduce, Collective::AllGather}) {
    for (const std::uint64_t mib : {1U, 32U, 1024U}) {
      const auto choice = tuner->choose({.collective = collective, .bytes = Bytes{mib << 20}});
      choices.push_back(choice
                            ? fmt::format("{} {} {} {:.1f} us", static_cast<int>(choice->algorithm),
                                          static_cast<int>(choice->protocol), choice->max_channels,
                                          choice->prediction.time_us)
                            : choice.error().message);
    }
  }
  return choices;
}

Audit audit_of(const std::string& preset, int nodes, const char* version) {
  LogRequest request;
  request.hosts = *load_hosts(preset, nodes, std::nullopt);
  request.version = *parse_nccl_version(version);
  request.shown = *parse_subsystems("INIT,GRAPH,NET,ENV");
  return audit_text(joined_log(*LogJob::make(request)));
}

TEST(AuditTopologies, RebuildsTheChoicesFromGeneratedLogs) {
  for (const char* preset : {"dgx-h100", "dgx-a100", "dgx-1v", "8x-l40s", "perlmutter-a100",
                             "gh200", "dgx-spark", "aws-p5"}) {
    for (const std::string version : {"2.18", "2.27"}) {
      const Audit audit = audit_of(preset, 2, version.c_str());
      const auto rebuilt = expected_job(audit.facts, "");
      ASSERT_TRUE(rebuilt) << preset << ": " << rebuilt.error().message;
      EXPECT_NE(rebuilt->source.find("dumped"), std::string::npos) << preset;
      EXPECT_TRUE(rebuilt->release.is_said) << preset << ' ' << version;
      EXPECT_EQ(choices_on(rebuilt->hosts, version),
                choices_on(*load_hosts(preset, 2, std::nullopt), version))
          << preset << ' ' << version;
      const auto again = parse_nccl_xml(to_nccl_xml(rebuilt->hosts.runs.front().host), "dump");
      EXPECT_TRUE(again) << preset << ": " << again.error().message;
    }
  }
}

// Each test loses one line of the dump, every 7th line: the model is used all the same, and nothing crashes.
TEST(AuditTopologies, WithoutOneOfTheirLinesAreHostsOrRefused) {
  LogRequest request;
  request.hosts = *load_hosts("dgx-a100", 1, std::nullopt);
  request.version = *parse_nccl_version("2.28");
  request.shown = *parse_subsystems("INIT,GRAPH");
  const std::string text = joined_log(*LogJob::make(request));
  const std::size_t begin = text.find("=== System"), end = text.find("======", begin + 20);
  int lost = 0;
  for (std::size_t at = text.find('\n', begin) + 1; at < end;
       at = text.find('\n', at) + 1, ++lost) {
    if (lost % 7 != 0) continue;  // each one takes a search
    std::string rest = text;
    rest.erase(at, text.find('\n', at) + 1 - at);
    const auto rebuilt = expected_job(audit_text(rest).facts, "");
    if (rebuilt) choices_on(rebuilt->hosts);
  }
  EXPECT_GT(lost, 40);
}

// 18 hosts of 4 GPUs each write their topologies after each other: one of them describes the host.
TEST(AuditTopologies, FindsTheHostsOfAnNvLinkDomain) {
  const auto rebuilt = expected_job(audit_of("gb200-nvl72", 1, "2.28").facts, "");
  ASSERT_TRUE(rebuilt) << rebuilt.error().message;
  EXPECT_EQ(gpus_of(rebuilt->hosts.runs.front().host).size(), 4U);
  EXPECT_EQ(rebuilt->hosts.runs.front().count, 18);
  EXPECT_EQ(rebuilt->hosts.hosts_per_nvl_domain, 18);
  EXPECT_EQ(choices_on(rebuilt->hosts, "2.28"),
            choices_on(*load_hosts("gb200-nvl72", 1, std::nullopt), "2.28"));
}

/// Returns the hosts that logs without a topology dump show, whose benchmark prints the GPUs' name.
Result<ExpectedJob> without_dump(const std::string& preset, int hosts, int each_domain,
                                 const char* gpu) {
  LogRequest request;
  request.hosts = *load_hosts(preset, hosts, each_domain);
  request.version = *parse_nccl_version("2.28");
  request.shown = *parse_subsystems("INIT,ENV");
  JobFacts facts = audit_text(joined_log(*LogJob::make(request))).facts;
  facts.tables.emplace_back().devices.emplace_back().gpu = gpu;
  return expected_job(facts, "");
}

TEST(AuditTopologies, CountsTheHostsOfNvLinkDomainsWithoutADump) {
  const auto one = without_dump("gb200-nvl72", 4, 4, "NVIDIA GB200");
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->hosts.runs.front().count, 4);
  EXPECT_EQ(one->hosts.hosts_per_nvl_domain, 4);
  const auto two = without_dump("gb200-nvl72", 4, 2, "NVIDIA GB200");
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_EQ(two->hosts.runs.front().count, 4);
  EXPECT_EQ(two->hosts.hosts_per_nvl_domain, 2);
}

/// Returns the hosts of a benchmark's table without a line of NCCL.
Result<ExpectedJob> of_table(int hosts) {
  JobFacts facts;
  auto& devices = facts.tables.emplace_back().devices;
  for (int host = 0; host < hosts; ++host) {
    auto& device = devices.emplace_back();
    device.host = fmt::format("node{}", host);
    device.gpu = "NVIDIA GB200";
  }
  return expected_job(facts, "");
}

TEST(AuditTopologies, DividesHostsEvenlyAmongRacksIfNoLineShowsTheirDomains) {
  for (const auto& [hosts, each] : {std::pair{18, 18}, {20, 10}, {36, 18}, {48, 16}}) {
    const auto job = of_table(hosts);
    ASSERT_TRUE(job) << hosts << ": " << job.error().message;
    EXPECT_EQ(job->hosts.runs.front().count, hosts);
    EXPECT_EQ(job->hosts.hosts_per_nvl_domain, each) << hosts;
  }
  const auto odd = of_table(19);
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace ringside::audit
