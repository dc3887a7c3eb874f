#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "diag/audit/audit.h"

// Tests each rule with two invented logs: one that it must report, and a similar one that it must not.

namespace ringside::audit {
namespace {

Audit of(const std::string& text) { return audit_text(text); }

/// The lines of a rank in a job of two hosts with two GPUs each, up to the connections.
std::string rank_of_four(int rank, const std::string& network) {
  const std::string host = rank < 2 ? "n01" : "n02";
  const std::string who = host + ":" + std::to_string(4000 + rank) + ":" +
                          std::to_string(4100 + rank) + " [" + std::to_string(rank % 2) +
                          "] NCCL INFO ";
  const std::string comm =
      "ncclCommInitRank comm 0x55aa" + std::to_string(rank) + "0 rank " + std::to_string(rank) +
      " nranks 4 cudaDev " + std::to_string(rank % 2) + " nvmlDev " + std::to_string(rank % 2) +
      " busId " + (rank % 2 == 0 ? "1b000" : "5d000") + " commId 0x9f00c1d2e3f40516 - Init ";
  return who + "Using network " + network + "\n" + who + comm + "START\n" + who + "comm 0x55aa" +
         std::to_string(rank) + "0 rank " + std::to_string(rank) +
         " nRanks 4 nNodes 2 localRanks 2 localRank " + std::to_string(rank % 2) + " MNNVL 0\n" +
         who + comm + "COMPLETE\n";
}

std::string edge(int from, int to, const std::string& via, bool is_send) {
  const int rank = is_send ? from : to;
  const std::string host = rank < 2 ? "n01" : "n02";
  return host + ":" + std::to_string(4000 + rank) + ":" + std::to_string(4100 + rank) + " [" +
         std::to_string(rank % 2) + "] NCCL INFO Channel 00/0 : " + std::to_string(from) + "[" +
         std::to_string(from % 2) + "] -> " + std::to_string(to) + "[" + std::to_string(to % 2) +
         "]" + (via.rfind("NET", 0) == 0 ? (is_send ? " [send]" : " [receive]") : "") + " via " +
         via + "\n";
}

/// 0 and 1 on n01, 2 and 3 on n02: a ring with two crossings.
std::string job_of_four(const std::string& network, const std::string& net_via) {
  std::string text;
  for (int rank = 0; rank < 4; ++rank) text += rank_of_four(rank, network);
  text += edge(0, 1, "P2P/CUMEM", true) + edge(2, 3, "P2P/CUMEM", true);
  for (const bool is_send : {true, false})
    text += edge(1, 2, net_via, is_send) + edge(3, 0, net_via, is_send);
  return text;
}

/// Returns the first finding with this id, or an empty one.
Finding finding_of(const Audit& audit, const std::string& id) {
  for (const Finding& finding : audit.findings) {
    if (finding.id == id) return finding;
  }
  return {};
}

/// A line that the process of a rank of job_of_four() writes.
std::string line_of_four(int rank, const std::string& text) {
  const std::string r = std::to_string(rank);
  return (rank < 2 ? "n01:400" : "n02:400") + r + ":410" + r + " [" + std::to_string(rank % 2) +
         "] " + text + "\n";
}

// Each process group counts its calls from 1.
TEST(AuditRules, TheFirstCallOfALaterGroupIsNotTheFirstOfTheJob) {
  const auto cause_in = [](const std::string& group) {
    return finding_of(of("[rank0]:[E301 10:20:30.123456789 ProcessGroupNCCL.cpp:632] [" + group +
                         " Rank 0] Watchdog caught collective operation timeout: "
                         "WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, "
                         "Timeout(ms)=600000) ran for 600010 milliseconds before timing out.\n"),
                      "collective_timeout")
        .cause;
  };
  EXPECT_NE(cause_in("PG ID 0 PG GUID 0(default_pg)").find("the very first collective"),
            std::string::npos);
  const std::string of_later = cause_in("PG ID 3 PG GUID 7(tp)");
  EXPECT_FALSE(of_later.empty());
  EXPECT_EQ(of_later.find("the very first collective"), std::string::npos) << of_later;
}

// A finding names the ranks of the lines that it quotes, and not all ranks with lines of that message.
TEST(AuditRules, OnlyRanksWithQuotedLinesAreNamed) {
  const std::string job = job_of_four("IB", "NET/IB/0/GDRDMA");
  const std::string closed = "Net : Connection closed by remote peer n02.cluster<55012>";
  const Finding peers =
      finding_of(of(job + line_of_four(0, "misc/socket.cc:1 NCCL WARN " + closed) +
                    line_of_four(2, "NCCL INFO " + closed)),
                 "remote_closed");
  EXPECT_THAT(peers.ranks, testing::ElementsAre(0));
  EXPECT_THAT(peers.hosts, testing::ElementsAre("n01"));
  const std::string verbs =
      "misc/ibvwrap.cc:1 NCCL WARN Call to ibv_reg_mr_iova2 failed with error ";
  const Finding memlock = finding_of(of(job + line_of_four(1, verbs + "Cannot allocate memory") +
                                        line_of_four(3, verbs + "Bad address")),
                                     "memlock_limit");
  EXPECT_THAT(memlock.ranks, testing::ElementsAre(1));
}

// In `[PG ID 4 PG GUID 11(tp) Rank 1]` the rank is one of a group, and not of the job.
TEST(AuditRules, ARankInASubgroupIsNotARankOfTheJob) {
  const auto ranks_in = [](const std::string& group) {
    return finding_of(of("[E301 10:20:30.123456789 ProcessGroupNCCL.cpp:632] [" + group +
                         " Rank 1] Process group watchdog thread terminated with exception: CUDA "
                         "error: an illegal memory access was encountered\n"),
                      "cuda_error")
        .ranks;
  };
  EXPECT_THAT(ranks_in("PG ID 0 PG GUID 0(default_pg)"), testing::ElementsAre(1));
  EXPECT_THAT(ranks_in("PG ID 4 PG GUID 11(tp)"), testing::IsEmpty());
}

TEST(AuditRules, AJobOverInfiniBandWithGpuDirectIsFine) {
  const Audit audit = of(job_of_four("IB", "NET/IB/0/GDRDMA"));
  EXPECT_EQ(audit.worst(), Severity::Info);
  ASSERT_NE(audit.facts.world(), nullptr);
  EXPECT_EQ(audit.facts.world()->nranks, 4);
  EXPECT_EQ(audit.facts.world()->nodes(), 2);
}

TEST(AuditRules, TcpBetweenHostsIsAFallback) {
  EXPECT_TRUE(of(job_of_four("Socket", "NET/Socket/0")).has("socket_fallback", Severity::Warning));
  EXPECT_FALSE(of(job_of_four("FastSocket", "NET/FastSocket/0")).has("socket_fallback"));
}

TEST(AuditRules, TcpOnOneHostOnlyBootstraps) {
  const std::string who = "n01:4000:4100 [0] NCCL INFO ";
  EXPECT_FALSE(of(who + "NET/IB : No device found.\n" + who + "Using network Socket\n")
                   .has("socket_fallback"));
}

/// Ranks of one host, each with an NCCL_HOSTID of its own, on the GPUs that `bus_of` names.
std::string job_with_host_ids(int ranks, const std::function<std::string(int)>& bus_of) {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string number = std::to_string(rank);
    const std::string who = "n01:" + std::to_string(4000 + rank) + ":" +
                            std::to_string(4100 + rank) + " [0] NCCL INFO ";
    const std::string comm = "ncclCommInitRank comm 0x55aa" + number + "0 rank " + number +
                             " nranks " + std::to_string(ranks) + " cudaDev 0 nvmlDev 0 busId " +
                             bus_of(rank) + " commId 0x9f00c1d2e3f40516 - Init ";
    text += who + "NCCL_HOSTID set by environment to rank" + number + "\n" + who +
            "Using network Socket\n" + who + comm + "START\n";
    const int next = (rank + 1) % ranks;
    for (const char* way : {" [send]", " [receive]"}) {
      const bool is_send = std::string(way) == " [send]";
      const int from = is_send ? rank : (rank + ranks - 1) % ranks;
      text += who + "Channel 00/0 : " + std::to_string(from) + "[0] -> " +
              std::to_string(is_send ? next : rank) + "[0]" + way + " via NET/Socket/0\n";
    }
    text += who +
            "2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels "
            "per peer\n" +
            who + comm + "COMPLETE\n";
  }
  return text;
}

TEST(AuditRules, TheFewestChannelsOfAnyRankAreNamed) {
  std::string text;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string number = std::to_string(rank);
    const std::string who = "n01:400" + number + ":410" + number + " [" + number + "] NCCL INFO ";
    const std::string comm = "ncclCommInitRank comm 0x55aa" + number + "0 rank " + number +
                             " nranks 4 cudaDev " + number + " nvmlDev " + number + " busId " +
                             std::to_string(rank + 1) + "b000 commId 0x9f00c1d2e3f40516 - Init ";
    text += who + comm + "START\n" + who + "comm 0x55aa" + number + "0 rank " + number +
            " nRanks 4 nNodes 1 localRanks 4 localRank " + number + " MNNVL 0\n" + who +
            (rank == 0 ? "1" : "2") +
            " coll channels, 0 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels "
            "per peer\n" +
            who + comm + "COMPLETE\n";
  }
  const Audit audit = of(text);
  const auto found = std::ranges::find(audit.findings, "few_channels", &Finding::id);
  ASSERT_NE(found, audit.findings.end());
  EXPECT_EQ(found->title, "1 channel where 4 GPUs of a host take part");
}

// NCCL refuses ranks of one host on one GPU: without the variable the job would not start.
TEST(AuditRules, RanksThatShareAGpuKeepTheirHostId) {
  const Audit audit = of(job_with_host_ids(8, [](int) { return std::string("1b000"); }));
  for (const Finding& finding : audit.findings)
    EXPECT_EQ(finding.fix.find("unset NCCL_HOSTID"), std::string::npos) << finding.fix;
  EXPECT_FALSE(audit.has("few_channels"));
  const Audit apart =
      of(job_with_host_ids(8, [](int rank) { return std::to_string(rank + 1) + "b000"; }));
  EXPECT_TRUE(std::ranges::any_of(apart.findings, [](const Finding& finding) {
    return finding.fix.find("unset NCCL_HOSTID") != std::string::npos;
  }));
}

// The table of releases names the product line: RTX 40.
TEST(AuditRules, AGpuThatIsTooNewIsQuoted) {
  const Audit audit =
      of("GPU 0: NVIDIA GeForce RTX 4090 (UUID: GPU-4c1a2b3d)\n"
         "n01:4000:4000 [0] NCCL INFO NCCL version 2.14.3+cuda11.7\n");
  const auto found = std::ranges::find(audit.findings, "gpu_arch_unsupported", &Finding::id);
  ASSERT_NE(found, audit.findings.end());
  EXPECT_TRUE(std::ranges::any_of(found->evidence.lines(), [](const QuotedLine& line) {
    return line.text.find("RTX 4090") != std::string::npos;
  }));
}

TEST(AuditRules, ConnectionsWithoutGpuDirectAreFoundBetweenHosts) {
  EXPECT_TRUE(of(job_of_four("IB", "NET/IB/0")).has("gdr_missing", Severity::Warning));
  EXPECT_FALSE(of(job_of_four("Socket", "NET/Socket/0")).has("gdr_missing"));
}

TEST(AuditRules, GpuDirectOnOneHostOnlyIsAnAsymmetry) {
  std::string text = job_of_four("IB", "NET/IB/0/GDRDMA");
  const std::string with = "3[1] -> 0[0] [receive] via NET/IB/0/GDRDMA";
  text.replace(text.find(with), with.size(), "3[1] -> 0[0] [receive] via NET/IB/0");
  const Audit audit = of(text);
  EXPECT_TRUE(audit.has("asymmetric_config", Severity::Warning));
}

TEST(AuditRules, DifferentNetworksInOneCommunicatorAreAnError) {
  std::string text;
  for (int rank = 0; rank < 4; ++rank) text += rank_of_four(rank, rank < 2 ? "IB" : "Socket");
  EXPECT_TRUE(of(text).has("asymmetric_config", Severity::Error));
}

TEST(AuditRules, ASettingThatDiffersBetweenRanksIsNamed) {
  const std::string first = "n01:4000:4100 [0] NCCL INFO NCCL_ALGO set by environment to Ring\n";
  const std::string other = "n02:4002:4102 [0] NCCL INFO NCCL_ALGO set by environment to ";
  const std::string job = job_of_four("IB", "NET/IB/0/GDRDMA");
  EXPECT_TRUE(of(job + first + other + "Tree\n").has("asymmetric_config", Severity::Warning));
  EXPECT_FALSE(of(job + first + other + "Ring\n").has("asymmetric_config"));
  // A process may change it between two communicators.
  const std::string both = "n01:4000:4100 [0] NCCL INFO NCCL_ALGO set by environment to Tree\n";
  EXPECT_FALSE(of(job + first + both).has("asymmetric_config"));
}

TEST(AuditRules, PeerToPeerSwitchedOffCausesSharedMemory) {
  std::string text = job_of_four("IB", "NET/IB/0/GDRDMA");
  for (const char* pair : {"0[0] -> 1[1]", "2[0] -> 3[1]"}) {
    const std::string p2p = std::string(pair) + " via P2P/CUMEM";
    text.replace(text.find(p2p), p2p.size(), std::string(pair) + " via SHM/direct/direct");
  }
  for (int rank = 0; rank < 4; ++rank) {
    text += (rank < 2 ? "n01:" : "n02:") + std::to_string(4000 + rank) + ":" +
            std::to_string(4100 + rank) +
            " [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1\n";
  }
  const Audit audit = of(text);
  EXPECT_TRUE(audit.has("p2p_disabled", Severity::Error));
  ASSERT_TRUE(audit.has("shm_fallback", Severity::Error));
  for (const Finding& finding : audit.findings) {
    if (finding.id != "shm_fallback") continue;
    ASSERT_TRUE(finding.caused_by);
    EXPECT_EQ(audit.findings[*finding.caused_by].id, "p2p_disabled");
    EXPECT_THAT(finding.ranks, ::testing::ElementsAre(0, 2));  // the ranks that print it
  }
}

TEST(AuditRules, APortThatGoesDownCausesTheErrorsOfItsPeers) {
  const std::string event =
      "n01:4000:4200 [0] transport/net_ib.cc:96 NCCL WARN NET/IB : mlx5_2:1 Got async event : port "
      "error\n";
  const std::string error =
      "n02:4002:4202 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
      "10.0.1.11<52332> with "
      "error 12, opcode 0, len 0, vendor err 129 (Send)\n";
  const Audit both = of(event + error);
  EXPECT_TRUE(both.has("link_flap", Severity::Error));
  ASSERT_TRUE(both.has("ib_error", Severity::Error));
  EXPECT_EQ(both.findings.front().id, "link_flap");
  EXPECT_FALSE(of(error).has("link_flap"));
}

TEST(AuditRules, AFlushedRequestIsNeverTheFirstError) {
  const std::string flush =
      "n02:4002:4202 [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
      "10.0.1.11<52332> with "
      "error 5, opcode 0, len 0, vendor err 249 (Recv)\n";
  EXPECT_FALSE(of(flush).has("ib_error", Severity::Warning));
}

TEST(AuditRules, CannotAllocateMemoryOfVerbsIsTheLimitOfLockedMemory) {
  const std::string where = "n01:4000:4100 [0] misc/ibvwrap.cc:278 NCCL WARN ";
  EXPECT_TRUE(of(where + "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory\n")
                  .has("memlock_limit", Severity::Error));
  EXPECT_FALSE(
      of(where + "Call to ibv_reg_mr_iova2 failed with error Bad address\n").has("memlock_limit"));
}

TEST(AuditRules, ABridgesAddressOnTwoHostsIsTheWrongInterface) {
  const std::string n01 = "n01:4000:4000 [0] NCCL INFO Bootstrap : Using eth0:172.17.0.2<0>\n";
  const std::string n02 = "n02:4001:4001 [0] NCCL INFO Bootstrap : Using eth0:172.17.0.2<0>\n";
  EXPECT_TRUE(of(n01 + n02).has("wrong_interface", Severity::Error));
  EXPECT_FALSE(of(n01).has("wrong_interface"));
}

TEST(AuditRules, ClosingNoiseIsANote) {
  const std::string text =
      "n01:4000:4300 [3] proxy.cc:1458 NCCL WARN [Service thread] Accept failed Resource "
      "temporarily unavailable\n"
      "n01:4000:4300 [3] proxy.cc:1497 NCCL WARN [Service thread] Could not receive type from "
      "localRank 3, res=3, closed=0\n";
  const Audit audit = of(text);
  EXPECT_TRUE(audit.has("teardown_noise"));
  EXPECT_EQ(audit.worst(), Severity::Info);
}

TEST(AuditRules, FatalXidsAreErrorsAndConsequencesAreNot) {
  EXPECT_TRUE(
      of("[ 8123.441214] NVRM: Xid (PCI:0000:5d:00): 79, pid=1, GPU has fallen off the bus.\n")
          .has("xid_error", Severity::Error));
  EXPECT_FALSE(of("[ 8123.441214] NVRM: Xid (PCI:0000:5d:00): 45, pid=1, Ch 00000008\n")
                   .has("xid_error", Severity::Warning));
}

/// A line of the kernel log about the GPU of a rank of job_of_four().
std::string xid(int rank, int code, const std::string& text = "text") {
  const std::string host = rank < 2 ? "n01" : "n02";
  return "Mar  3 04:12:55 " + host +
         " kernel: NVRM: Xid (PCI:0000:" + (rank % 2 == 0 ? "1b" : "5d") +
         ":00): " + std::to_string(code) + ", pid='<unknown>', name=<unknown>, " + text + "\n";
}

std::string sxid(const std::string& how) {
  return "[ 8123.4] nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, " + how +
         ", Link 32 egress non-posted PRIV error\n";
}

const Finding& xid_finding(const Audit& audit) {
  const auto found = std::ranges::find(audit.findings, "xid_error", &Finding::id);
  EXPECT_NE(found, audit.findings.end());
  return *found;
}

TEST(AuditRules, EachGpuWithTheWorstXidIsNamed) {
  const Audit two =
      of(job_of_four("IB", "NET/IB/0/GDRDMA") + xid(1, 45) + xid(0, 79) + xid(3, 79) + xid(2, 45));
  const Finding& both = xid_finding(two);
  EXPECT_THAT(both.ranks, testing::ElementsAre(0, 3));
  EXPECT_EQ(both.title,
            "Xid 79: the GPU has fallen off the bus (PCI n01 0000:1b:00.0, n02 0000:5d:00.0)");
  EXPECT_EQ(both.evidence.count(), 4);
  const Audit one = of(job_of_four("IB", "NET/IB/0/GDRDMA") + xid(1, 63) + xid(0, 79));
  EXPECT_THAT(xid_finding(one).ranks, testing::ElementsAre(0)) << "63 is a note";
}

// Eight lines are quoted at most of each kind.
TEST(AuditRules, TheWorstXidIsQuotedAfterManyLesserOnes) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += xid(1, 45);
  const Audit audit = of(text + xid(0, 79));
  const std::vector<QuotedLine>& lines = xid_finding(audit).evidence.lines();
  EXPECT_TRUE(std::ranges::any_of(
      lines, [](const QuotedLine& line) { return line.text.find("): 79,") != std::string::npos; }));
}

TEST(AuditRules, AFaultOfASwitchIsAnSXidWithItsOwnAdvice) {
  const Audit note = of(sxid("Non-fatal"));
  EXPECT_EQ(xid_finding(note).severity, Severity::Info);
  EXPECT_TRUE(xid_finding(note).title.starts_with("SXid 12028: an event"))
      << xid_finding(note).title;
  const Audit fatal = of(xid(0, 45) + sxid("Fatal"));
  EXPECT_EQ(xid_finding(fatal).severity, Severity::Error);
  EXPECT_TRUE(xid_finding(fatal).title.starts_with("SXid 12028: a fault"))
      << xid_finding(fatal).title;
  EXPECT_NE(xid_finding(fatal).fix.find("NVSwitches"), std::string::npos);
}

// An RTX A4000 has no NVLink connector, unlike an A40; an RTX A6000 has one.
TEST(AuditRules, NvlinkIsMissingOnlyBetweenGpusThatCanHaveIt) {
  const std::string who = "n01:4000:4100 [0] NCCL INFO ";
  const std::string dump = who + "=== System : maxBw 24.0 totalBw 24.0 ===\n" + who +
                           "CPU/0 (1/1/2)\n" + who + "+ PCI[24.0] - GPU/1B000 (0)\n" + who +
                           "+ PCI[24.0] - GPU/5D000 (1)\n" + who +
                           "==========================================\n";
  const auto two = [](const std::string& gpu) {
    return "GPU 0: " + gpu + " (UUID: GPU-4c1a2b3d)\nGPU 1: " + gpu + " (UUID: GPU-5c1a2b3d)\n";
  };
  for (const char* gpu : {"NVIDIA A40", "NVIDIA RTX A6000", "NVIDIA A100-SXM4-80GB"}) {
    EXPECT_TRUE(of(two(gpu) + dump).has("nvlink_missing", Severity::Warning)) << gpu;
  }
  for (const char* gpu : {"NVIDIA RTX A4000", "NVIDIA RTX A3000", "NVIDIA RTX A1000"}) {
    EXPECT_FALSE(of(two(gpu) + dump).has("nvlink_missing")) << gpu;
  }
}

TEST(AuditRules, ATableThatNeverPrintsARowIsCut) {
  const std::string begin =
      "# Collective test starting: all_reduce_perf\n"
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: "
      "20 agg iters: 1 validation: 1 graph: 0\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time   algbw   busbw #wrong\n";
  const std::string rows =
      "     1048576        262144     float     sum      -1    663.2    1.58    2.77      0    "
      "665.9    1.57    2.76      0\n"
      "# Avg bus bandwidth    : 2.7\n";
  EXPECT_TRUE(of(begin).has("truncated_table", Severity::Error));
  EXPECT_FALSE(of(begin + rows).has("truncated_table"));
}

TEST(AuditFacts, ATornHostNameIsNotAHost) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "node-a:80356:80360 [1] NCCL INFO Using network Socket\n";
  text += "node-b:80356:80360 [1] NCCL INFO Using network Socket\n";
  EXPECT_EQ(of(text).facts.hosts.size(), 1U);
}

TEST(AuditFacts, TheCallThatDiffersIsNamedWithItsLine) {
  // Both ranks make two calls; the second call of rank 1 is 2,048 elements shorter.
  const auto call = [](int rank, int count) {
    return "n01:" + std::to_string(4000 + rank) + ":" + std::to_string(4000 + rank) +
           " [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f sendbuff 0x7f recvbuff 0x7f count " +
           std::to_string(count) + " datatype 9 op 0 root 0 comm 0x55aa" + std::to_string(rank) +
           "0 [nranks=3] stream 0x66\n";
  };
  std::string text;
  for (int rank = 0; rank < 3; ++rank) {
    const std::string who = "n01:" + std::to_string(4000 + rank) + ":" +
                            std::to_string(4000 + rank) + " [0] NCCL INFO ";
    text += who + "ncclCommInitRank comm 0x55aa" + std::to_string(rank) + "0 rank " +
            std::to_string(rank) + " nranks 3 cudaDev 0 nvmlDev 0 busId " +
            std::to_string(rank + 1) + "b000 commId 0x9f00c1d2e3f40516 - Init COMPLETE\n";
  }
  for (int rank = 0; rank < 3; ++rank) {
    std::string one = call(rank, 4096);
    text += one.erase(one.find(" sendbuff 0x7f"), 14);
  }
  for (int rank = 0; rank < 3; ++rank) {
    std::string one = call(rank, rank == 1 ? 2048 : 4096);
    text += one.erase(one.find(" sendbuff 0x7f"), 14);
  }
  const Audit audit = of(text);
  ASSERT_EQ(audit.facts.desyncs.size(), 1U);
  EXPECT_EQ(audit.facts.desyncs[0].rank, 1);
  EXPECT_EQ(audit.facts.desyncs[0].call, 1U);
  EXPECT_EQ(audit.where(audit.facts.desyncs[0].quoted.place).line, 8U);  // 3 + 3 + 2
}

}  // namespace
}  // namespace ringside::audit
