#include "diag/audit/cost.h"

#include <gtest/gtest.h>

#include <string>

#include "diag/audit/audit.h"
#include "diag/audit/expected_job.h"
#include "engine/topology/sources/nccl_xml.h"
#include "tests/audit/tcp_job.h"

namespace ringside::audit {
namespace {

/// 16 ranks on two hosts move their data over TCP instead of the hosts' NICs.
TEST(AuditCost, TcpCostsMostOfTheBandwidth) {
  Audit audit = audit_text(job_over_tcp());
  ASSERT_TRUE(audit.has("socket_fallback", Severity::Warning));
  const Result<std::string> source = add_costs(audit, "dgx-a100");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_EQ(*source, "dgx-a100");
  const Finding& finding = audit.findings.front();
  ASSERT_TRUE(finding.cost);
  EXPECT_GT(finding.cost->actual_gbs, 0);
  EXPECT_GT(finding.cost->expected_gbs, 10 * finding.cost->actual_gbs);
}

TEST(LogRelease, IsTheVersionInALineOrTheNearest) {
  const auto release_in = [](const std::string& version) {
    return release_of(
        audit_text("n01:4000:4100 [0] NCCL INFO NCCL version " + version + "\n").facts);
  };
  EXPECT_EQ(release_in("2.21.5+cuda12.4").text(), "NCCL 2.21.5");
  EXPECT_EQ(release_in("2.27.3+cuda12.9").name, "2.27.3") << "a patch that decides by itself";
  EXPECT_EQ(release_in("2.12.12+cuda11.6").name, "2.18") << "the oldest that is described";
  EXPECT_EQ(release_in("2.8.4+cuda11.2").name, "2.18");
}

TEST(LogRelease, IsTheDefaultIfNoLineNamesIt) {
  const LogRelease release = release_of(audit_text("n01:4000:4100 [0] NCCL INFO comm\n").facts);
  EXPECT_FALSE(release.is_said);
  EXPECT_EQ(release.text(), "NCCL 2.31, as no line says which");
}

// The cost models of 2.18 and of 2.30 price the same TCP job differently; the text names the release.
TEST(AuditCost, IsOfTheReleaseThatWroteTheLog) {
  const auto cost_of = [](const std::string& version) {
    Audit audit =
        audit_text("n01:4000:4100 [0] NCCL INFO NCCL version " + version + "\n" + job_over_tcp());
    EXPECT_TRUE(add_costs(audit, "dgx-h100"));
    return audit.findings.front().cost.value_or(Cost{});
  };
  const Cost of_old = cost_of("2.18.5"), of_new = cost_of("2.30.7");
  EXPECT_NE(of_old.text.find("dgx-h100, NCCL 2.18.5"), std::string::npos) << of_old.text;
  EXPECT_NE(of_new.text.find("dgx-h100, NCCL 2.30.7"), std::string::npos) << of_new.text;
  EXPECT_NE(of_old.expected_gbs, of_new.expected_gbs);
}

// A left-over NCCL_ALGO changes what a finding costs: a ring sends more bytes through the one NIC than a tree.
TEST(AuditCost, IsOfTheAlgorithmThatTheJobWasLeftWith) {
  const auto cost_of = [](const std::string& more) {
    Audit audit = audit_text(job_over_tcp() + more);
    EXPECT_TRUE(add_costs(audit, "dgx-h100"));
    return audit.findings.front().cost.value_or(Cost{});
  };
  const Cost plain = cost_of("");
  const Cost ring = cost_of("n01:4000:4100 [0] NCCL INFO NCCL_ALGO set by environment to Ring\n");
  EXPECT_NE(ring.text.find("NCCL_ALGO=Ring"), std::string::npos) << ring.text;
  EXPECT_EQ(ring.expected_gbs, plain.expected_gbs)
      << "the job as it should be has no such variable";
  EXPECT_NE(ring.actual_gbs, plain.actual_gbs);
}

/// 8 ranks on two hosts: variables leave one NIC, and switch GPUDirect RDMA off.
std::string job_with_forced_nic() {
  std::string text;
  for (int rank = 0; rank < 8; ++rank) {
    const std::string r = std::to_string(rank);
    const std::string device = std::to_string(rank % 4);
    const std::string info =
        (rank < 4 ? "n01:400" : "n02:400") + r + ":410" + r + " [" + device + "] NCCL INFO ";
    text += info + "NCCL_IB_HCA set by environment to =mlx5_0\n";
    text += info + "NCCL_NET_GDR_LEVEL set by environment to LOC\n";
    text += info + "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.20.3.11<0>\n";
    text += info + "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n";
    text += info + "Using network IB\n";
    text += info + "ncclCommInitRank comm 0x55aa" + r + " rank " + r + " nranks 8 cudaDev " +
            device + " nvmlDev " + device + " busId " + std::to_string(rank % 4 + 1) +
            "b000 commId 0x9f00c1d2e3f40516 - Init COMPLETE\n";
  }
  text += "n01:4003:4103 [3] NCCL INFO Channel 00/0 : 3[3] -> 4[0] [send] via NET/IB/0\n";
  text += "n02:4004:4104 [0] NCCL INFO Channel 00/0 : 3[3] -> 4[0] [receive] via NET/IB/0\n";
  return text;
}

// With the hosts, the filter that leaves one of their NICs is a warning: the order of causes must survive that.
TEST(AuditCost, AFindingThatBecomesAWarningLeavesTheOrderOfCauses) {
  Audit audit = audit_text(job_with_forced_nic());
  ASSERT_TRUE(audit.has("single_nic"));
  ASSERT_FALSE(audit.has("single_nic", Severity::Warning));
  const Result<std::string> source = add_costs(audit, "dgx-h100");
  ASSERT_TRUE(source) << source.error().message;
  EXPECT_TRUE(audit.has("single_nic", Severity::Warning));
  bool has_consequence = false;
  for (std::size_t i = 0; i < audit.findings.size(); ++i) {
    const Finding& finding = audit.findings[i];
    if (!finding.caused_by) continue;
    ASSERT_LT(*finding.caused_by, i) << finding.id;
    if (finding.id != "gdr_missing") continue;
    has_consequence = true;
    EXPECT_EQ(audit.findings[*finding.caused_by].id, "env_override");
  }
  EXPECT_TRUE(has_consequence);
}

TEST(AuditCost, UnknownHostsAreAnError) {
  Audit audit = audit_text(job_over_tcp());
  EXPECT_FALSE(add_costs(audit, "no-such-preset"));
}

TEST(AuditTopology, ADumpedTopologyIsAHostAgain) {
  const std::string who = "n01:4000:4100 [0] NCCL INFO ";
  std::string text;
  for (const char* line :
       {"=== System : maxBw 240.0 totalBw 240.0 ===", "CPU/0-0 (1/1/2)",
        "+ PCI[24.0] - GPU/0-17000 (0)", "              + NVL[240.0] - GPU/0-65000",
        "+ PCI[24.0] - NIC/0-4b000", "+ PCI[24.0] - GPU/0-65000 (1)",
        "              + NVL[240.0] - GPU/0-17000", "=========================================="}) {
    text += who + line + "\n";
  }
  const Audit audit = audit_text(text);
  ASSERT_EQ(audit.facts.dumps.size(), 1U);
  const Result<Host> host = host_of_dump(audit.facts.dumps[0], {});
  ASSERT_TRUE(host) << host.error().message;
  ASSERT_EQ(gpus_of(*host).size(), 2U);
  ASSERT_EQ(gpus_of(*host)[0]->nvlinks.size(), 1U);
  EXPECT_EQ(gpus_of(*host)[0]->nvlinks[0].count, 12);  // 240 / 20
  const Result<Host> again = parse_nccl_xml(to_nccl_xml(*host), "dump");
  EXPECT_TRUE(again) << again.error().message;
}

// A dump whose lines were moved: the NVLinks of the last GPU come after 70 other devices.
TEST(AuditTopology, NvLinksBelongToTheLastGpuHoweverManyDevicesFollowIt) {
  const auto line = [](int indent, float bw, const char* link, const char* type, std::string id) {
    return DumpedNode{static_cast<std::int16_t>(indent), bw, link, type, std::move(id), {}};
  };
  TopologyDump dump{.host = "n01"};
  dump.nodes = {line(0, -1, "", "CPU", "0-0"), line(0, 24, "PCI", "GPU", "0-17000"),
                line(14, 240, "NVL", "GPU", "0-65000"), line(0, 24, "PCI", "GPU", "0-65000")};
  dump.nodes.front().details = "1/1/2";
  for (int i = 0; i < 70; ++i)
    dump.nodes.push_back(line(0, 24, "PCI", "NIC", "0-" + std::to_string(100'000 + 1'000 * i)));
  dump.nodes.push_back(line(14, 240, "NVL", "GPU", "0-17000"));
  const Result<Host> host = host_of_dump(dump, {});
  ASSERT_TRUE(host) << host.error().message;
  ASSERT_EQ(gpus_of(*host).size(), 2U);
  for (const HostGpu* gpu : gpus_of(*host)) EXPECT_EQ(gpu->nvlinks.size(), 1U);
}

TEST(AuditFacts, BannersGluedTogetherAreOneVersion) {
  const Audit audit = audit_text(
      "NCCL version 2.7.8+cuda10.2NCCL version 2.7.8+cuda10.2\n\nNCCL version 2.7.8+cuda10.2\n");
  EXPECT_EQ(audit.facts.versions.size(), 1U);
}

}  // namespace
}  // namespace ringside::audit
