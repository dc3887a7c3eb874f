// Tests that ranks, sizes and channels that a line claims do not determine how much memory is allocated.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/audit/audit.h"
#include "tests/support/peak_memory.h"

namespace ringside::audit {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

std::string comm_line(int comm, std::int64_t rank, std::int64_t nranks, const char* event) {
  return fmt::format(
      "h1:1:1 [0] NCCL INFO ncclCommInitRank comm 0x{:x} rank {} nranks {} cudaDev 0 nvmlDev 0 "
      "busId 1000 commId 0x{:x} - Init {}\n",
      comm + 1, rank, nranks, comm + 77, event);
}

// A bit for each rank below the one that is claimed would be 256 MiB a line.
TEST(AuditHostile, AHugeRankNumberAllocatesNothing) {
  std::string text;
  for (int comm = 0; comm < 4; ++comm)
    text += comm_line(comm, 2'147'483'000, 2'147'483'647, "START");
  EXPECT_EQ(audit_text(text).facts.comms.size(), 4U);
  EXPECT_LT(peak_memory_of([&] { audit_text(text); }), 64 * kMiB);
}

// 64 channels of a million ranks would be 256 MiB for a line of 1.5 KB.
TEST(AuditHostile, MemoryForTreesFollowsTheNumberOfLines) {
  std::string text;
  for (int comm = 0; comm < 4; ++comm) {
    text += comm_line(comm, 0, 1'000'000, "START") + "h1:1:1 [0] NCCL INFO Trees";
    for (int channel = 0; channel < 64; ++channel)
      text += fmt::format(" [{}] 1/-1/-1->0->-1", channel);
    text += "\n" + comm_line(comm, 0, 1'000'000, "COMPLETE");
  }
  const Audit audit = audit_text(text);
  ASSERT_EQ(audit.facts.comms.size(), 4U);
  ASSERT_EQ(audit.facts.comms[0].trees.size(), 64U);
  ASSERT_EQ(audit.facts.comms[0].trees[63].size(), 1U);
  EXPECT_EQ(audit.facts.comms[0].trees[63][0], std::pair(0, -1));
  EXPECT_LT(peak_memory_of([&] { audit_text(text); }), 64 * kMiB);
}

TEST(AuditHostile, TablesOfTextsAreLimited) {
  constexpr std::size_t kMost = 10'000;
  std::string text;
  for (int i = 0; i < 12'000; ++i) {
    text += fmt::format(
        "h1:1:1 [0] NCCL INFO NCCL version 2.{}.{}+cuda12.4\nh1:1:1 [0] NCCL INFO Using network "
        "n{}\n",
        i / 100, i % 100, i);
  }
  const Audit audit = audit_text(text);
  EXPECT_LE(audit.facts.versions.size(), kMost);
  EXPECT_LE(audit.facts.version_facts.size(), kMost);
  EXPECT_LE(audit.facts.networks.size(), kMost);
}

TEST(AuditHostile, MemoryForRingsFollowsTheNumberOfLines) {
  std::string text = comm_line(0, 0, 1'000'000, "START");
  for (int channel = 0; channel < 64; ++channel) {
    text += fmt::format("h1:1:1 [0] NCCL INFO Ring {:02} : 999999 -> 0 -> 1\n", channel);
  }
  text += comm_line(0, 0, 1'000'000, "COMPLETE");
  EXPECT_EQ(audit_text(text).facts.comms.front().rings.size(), 64U);
  EXPECT_LT(peak_memory_of([&] { audit_text(text); }), 64 * kMiB);
}

}  // namespace
}  // namespace ringside::audit
