#include "diag/job/process_ranks.h"

#include <gtest/gtest.h>

namespace ringside::job {
namespace {

TEST(ProcessRanks, EqualPidsOnTwoHostsAreDistinguishedByHost) {
  ProcessRanks ranks;
  ranks.know("n03", 71, 6);
  ranks.know("n04.cluster.example", 71, 14);
  EXPECT_EQ(ranks.rank_of("n03.cluster.example", 71), 6);
  EXPECT_EQ(ranks.rank_of("n04", 71), 14);
  EXPECT_EQ(ranks.rank_of("", 71), -1) << "either may be meant";
  EXPECT_EQ(ranks.rank_of("n03", 72), -1);
}

TEST(ProcessRanks, AnUnknownHostMatchesAnyHost) {
  ProcessRanks ranks;
  ranks.know("pod-0", 4711, 3);
  EXPECT_EQ(ranks.rank_of("bare-metal-17", 4711), 3);
  EXPECT_EQ(ranks.rank_of("", 4711), 3);
  ranks.know("pod-1", 99, 4);
  EXPECT_EQ(ranks.rank_of("pod-1", 4711), -1) << "it has processes of its own, and not this one";
}

TEST(ProcessRanks, AProcessOfNoKnownHostIsFoundFromAnyHost) {
  ProcessRanks ranks;
  ranks.know("", 4711, 3);
  ranks.know("n01", 1, 0);
  EXPECT_EQ(ranks.rank_of("n01", 4711), 3);
}

TEST(ProcessRanks, AGpuIsKnownByItsBus) {
  ProcessRanks ranks;
  ranks.know_gpu("n03", 0x43000, 7);
  ranks.know_gpu("n04", 0x43000, 15);
  EXPECT_EQ(ranks.rank_of_gpu("n04", 0x43000), 15);
  EXPECT_EQ(ranks.rank_of_gpu("", 0x43000), -1);
  EXPECT_EQ(ranks.rank_of("n04", 0x43000), -1) << "a bus is no process";
}

TEST(ProcessRanks, TheKernelNamesProcessesInTwoWays) {
  EXPECT_EQ(pid_in_kernel_line("Memory cgroup out of memory: Killed process 60012 (python3)"),
            60012);
  EXPECT_EQ(pid_in_kernel_line("oom-kill:constraint=CONSTRAINT_MEMCG,task=python3,pid=60013,uid=0"),
            60013);
  EXPECT_EQ(pid_in_kernel_line("NVRM: Xid (PCI:0000:43:00): 79, pid=80212, name=python"), 80212);
  EXPECT_EQ(pid_in_kernel_line("NVRM: Xid (PCI:0000:43:00): 79, pid='<unknown>'"), -1);
}

}  // namespace
}  // namespace ringside::job
