#include "diag/logparse/headings.h"

#include <gtest/gtest.h>

#include "diag/logparse/undress.h"
#include "tests/logparse/records.h"

namespace ringside::logs {
namespace {

TEST(Headings, NameTheRankOfWhatFollows) {
  for (const std::string line :
       {"rank 3:", "Rank 3", "### rank 3", "## Rank 3 log",
        "==> rank3.log <==", "==> logs/run7/rank_3.txt <==", "--- rank 3 ---",
        "===== Output of rank 3 =====", "**Rank 3:**", "[rank 3]",
        "rank 3 (pid 4711):", "Stack of rank 3:", "# rank3.log",
        "Worker 1 (rank 3):", "<details><summary>Rank 3 log</summary>", "RANK #3:"}) {
    const auto heading = heading_of(line);
    ASSERT_TRUE(heading) << line;
    EXPECT_EQ(heading->rank, 3) << line;
    EXPECT_TRUE(heading->host.empty()) << line << ": " << heading->host;
  }
}

TEST(Headings, NameAHostAndARankOnIt) {
  for (const std::string line :
       {"--- node-2 ---", "### node-2",
        "==> node-2.log <==", "==> dmesg-node-2.txt <==", "**on node-2**", "Output on node-2:"}) {
    const auto heading = heading_of(line);
    ASSERT_TRUE(heading) << line;
    EXPECT_EQ(heading->host, "node-2") << line;
    EXPECT_EQ(heading->rank, -1) << line;
  }
  const auto lettered = heading_of("--- nodeA ---");
  ASSERT_TRUE(lettered);
  EXPECT_EQ(lettered->host, "nodea") << "its own lines show how it is written";
  const auto both = heading_of("### rank 12 on node-2");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->rank, 12);
  EXPECT_EQ(both->host, "node-2");
}

TEST(Headings, ProgramLinesAreNotHeadings) {
  for (const std::string line :
       {"[rank3]:", "[rank3]: Traceback (most recent call last):", "rank 3: loss 2.1",
        "  rank      : 3 (local_rank: 3)", "Rank 3 failed", "step 3:", "\"rank\": 0,",
        "\"ranks\": [", "rank=3, loss=2.1",
        "============================================================", "local_rank: 3"}) {
    EXPECT_FALSE(heading_of(line)) << line;
  }
  for (const std::string line :
       {"# Using devices", "#  Rank  0 Group  0 Pid  71 on n01 device  0 [0x1b] NVIDIA H100",
        "-- Process 1 terminated with the following error:", "### local rank 3",
        "***** Running training *****", "--- ranks 3 and rank 4 ---"}) {
    const auto heading = heading_of(line);
    EXPECT_FALSE(heading && heading->names_somebody()) << line;
  }
}

// A name alone heads the following lines, unless it precedes other lines as well.
TEST(Headings, AHostsNameAloneIsOne) {
  for (const std::string line : {"node-2:", "node-2", "worker-1", "gpu-b12:"}) {
    const auto heading = heading_of(line);
    ASSERT_TRUE(heading) << line;
    EXPECT_EQ(heading->host, line.substr(0, line.find(':')));
    EXPECT_TRUE(heading->is_bare);
  }
  ASSERT_TRUE(heading_of("host a:"));
  EXPECT_EQ(heading_of("host a:")->host, "a");
  for (const std::string line : {"done:", "loss", "8.1", "n01:", "nodes:"})
    EXPECT_FALSE(heading_of(line)) << line;
  EXPECT_EQ(undress("node-1:\nstep one\nnode-2:\nit hangs\n")[3].host, "node-2");
  EXPECT_EQ(undress("node-1: step one\nnode-2: step one\nnode-1:\nit hangs\n")[3].host, "");
}

TEST(Headings, LinesAreOfTheOneAboveThem) {
  const auto lines = undress(
      "what I see\n==> rank0.log <==\nstep 1\n\n==> rank1.log <==\nKeyError: 'x'\n"
      "**** a rule of the program ****\nbye\n==> launcher.log <==\nall gone\n");
  const auto rank_of = [&](std::string_view text) {
    for (const UndressedLine& line : lines) {
      if (line.text == text) return line.rank;
    }
    return -9;
  };
  EXPECT_EQ(rank_of("what I see"), -1);
  EXPECT_EQ(rank_of("step 1"), 0);
  EXPECT_EQ(rank_of("KeyError: 'x'"), 1);
  EXPECT_EQ(rank_of("bye"), 1) << "a rule is of another style";
  EXPECT_EQ(rank_of("all gone"), -1) << "the next file has begun";
}

TEST(Headings, AHostHasTheNameThatItsOwnLinesGiveIt) {
  const auto lines = undress(
      "### node-2\ngpu17:71:71 [0] NCCL INFO Bootstrap : Using eth0:10.1.0.2<0>\nNVRM: Xid\n");
  EXPECT_EQ(lines.back().host, "gpu17");
}

TEST(Headings, LinesBelowBelongToThatRankUnlessTheyNameAnother) {
  std::vector<std::int32_t> ranks;
  each_record(
      "### rank 5\nCUDA error: unspecified launch failure\n[rank7]: RuntimeError: boom\n",
      [&](const Record&, const Speaker& speaker) { ranks.push_back(speaker.launcher_rank); });
  EXPECT_EQ(ranks, (std::vector<std::int32_t>{-1, 5, 7}));
}

}  // namespace
}  // namespace ringside::logs
