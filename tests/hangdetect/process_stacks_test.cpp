#include "diag/hangdetect/readers/process_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diag/logparse/frame_line.h"

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<ProcessStack> stacks(const std::string& text, const std::string& path = "paste.txt") {
  return read_process_stacks(read_paste(text), path);
}

TEST(FrameLine, EachToolsFramesAreReadAndTracebacksAreNot) {
  logs::FrameLine frame;
  ASSERT_TRUE(logs::parse_frame("all_reduce (torch/distributed/distributed_c10d.py:1316)", frame));
  EXPECT_EQ(frame.function, "all_reduce");
  EXPECT_EQ(frame.line, 1316);
  ASSERT_TRUE(logs::parse_frame("File \"train.py\", line 12 in main", frame));
  EXPECT_EQ(frame.file, "train.py");
  ASSERT_TRUE(logs::parse_frame("#3  0x00007f00 in poll () from /lib/libc.so.6", frame));
  EXPECT_EQ(frame.function, "poll");
  ASSERT_TRUE(logs::parse_frame("#2 buggy from mismatch.py:8", frame));
  EXPECT_EQ(frame.line, 8);
  ASSERT_TRUE(logs::parse_frame("ncclGroupEnd (libnccl.so.2)", frame));
  EXPECT_EQ(frame.file, "libnccl.so.2");
  EXPECT_FALSE(logs::parse_frame("File \"train.py\", line 12, in main", frame));
  EXPECT_FALSE(logs::parse_frame(
      "frame #0: c10::Error::Error(std::string) + 0x57 (0x7f in /x/libc10.so)", frame));
  EXPECT_FALSE(logs::parse_frame("we saw this (see notes.md:12) on Monday", frame));
}

TEST(ProcessStacks, HeadingsWithoutFramesBetweenThemShareOneStack) {
  const auto all = stacks(
      "4 in:\n\nThread 10 (active): \"MainThread\"\nThread 11 (active): \"MainThread\"\n    "
      "broadcast "
      "(torch/distributed/distributed_c10d.py:1191)\n\n1 in:\n\nThread 14 (idle): \"MainThread\"\n "
      "   wait "
      "(threading.py:306)\n    _try_get_data (torch/utils/data/dataloader.py:1011)\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].count, 4) << "as its author counted, two heads were omitted";
  EXPECT_EQ(all[0].op, Op::Broadcast);
  EXPECT_THAT(all[1].pids, ElementsAre(14));
  EXPECT_EQ(all[1].activity, Activity::Data) << "the queue above says nothing by itself";
  EXPECT_EQ(all[1].line, 9);
}

TEST(ProcessStacks, AHeadNamesRanksInAnyOfTheirForms) {
  for (const std::string head :
       {"rank 3:", "=== Rank 3 (pid 71) ===", "[rank3]", "GLOBAL_RANK=3 on n01"}) {
    const auto all = stacks(head + "\n  all_reduce (distributed_c10d.py:1)\n");
    ASSERT_EQ(all.size(), 1U) << head;
    EXPECT_THAT(all[0].ranks, ElementsAre(3)) << head;
  }
  const auto all = stacks("ranks 0-2, 4:\n  all_reduce (distributed_c10d.py:1)\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].ranks, ElementsAre(0, 1, 2, 4));
  EXPECT_EQ(all[0].count, 4);
}

// A local rank is no rank of the job, and neither is a node's.
TEST(ProcessStacks, DistinguishesALocalFromAGlobalRank) {
  const auto all =
      stacks("Process 71: python t.py --local_rank=3\n  all_reduce (distributed_c10d.py:1)\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].ranks, IsEmpty());
  EXPECT_EQ(all[0].local_rank, 3);
  EXPECT_THAT(all[0].pids, ElementsAre(71));
}

TEST(ProcessStacks, WithoutHeadsABlankLinePartsOneFromTheNext) {
  const auto all = stacks(
      "all_reduce (distributed_c10d.py:1)\nmain (t.py:2)\n\nsave (torch/serialization.py:3)\nmain "
      "(t.py:4)\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].activity, Activity::Checkpoint);
}

TEST(ProcessStacks, UsesTheMainThreadOfAProcess) {
  const auto all = stacks(
      "Process 7: python t.py\nThread 7 (active): \"MainThread\"\n    all_reduce "
      "(distributed_c10d.py:1)\nThread 8 "
      "(idle): \"Thread-1\"\n    save (torch/serialization.py:3)\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].activity, Activity::Collective);
}

TEST(ProcessStacks, ACollectiveInsideASaveIsWaitingAndASaveIsNot) {
  const auto all = stacks(
      "rank 0:\nbroadcast (torch/distributed/distributed_c10d.py:1)\nsave_checkpoint "
      "(t.py:2)\nrank 1:\nwrite "
      "(io.py:1)\nsave_checkpoint (t.py:2)\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(is_waiting_for_ranks(all[0].activity));
  EXPECT_EQ(all[1].activity, Activity::Checkpoint);
}

// Log lines name ranks as well; they are not heads of stacks.
TEST(ProcessStacks, ALogLineNamesNoStack) {
  const auto all = stacks(
      "[rank5]:[E301 10:20:30.1 ProcessGroupNCCL.cpp:632] [Rank 5] Watchdog caught collective "
      "operation timeout\nmain "
      "(t.py:2)\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].ranks, IsEmpty());
}

TEST(ProcessStacks, TerminatesOnAnyInput) {
  EXPECT_THAT(
      stacks("Thread\nThread 0x\nProcess \n4 in:\nrank \nranks -\n#\n#9999999999 x from y\n"),
      IsEmpty());
  EXPECT_THAT(read_json_stack("[{\"frames\":[{}]},1,null]", "x"), testing::SizeIs(1));
  EXPECT_THAT(read_json_stack("{", "x"), IsEmpty());
}

// A line that begins with a rank is that rank's, and no frame of the one before it.
TEST(ProcessStacks, AStackInOneLineBelongsToTheNamedRank) {
  const auto all = stacks(
      "rank0-2: all_reduce (distributed_c10d.py:2501) <- backward (train.py:88) <- main\n"
      "rank3: recv_into (socket.py:705) <- hf_hub_download (huggingface_hub/file_download.py:9)\n"
      "worker2: 40417 poll (selectors.py:416) <- wandb.init (wandb_init.py:1210) <- main\n");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[0].ranks, ElementsAre(0, 1, 2));
  EXPECT_EQ(all[0].frames.size(), 3U);
  EXPECT_EQ(all[0].activity, Activity::Collective);
  EXPECT_THAT(all[1].ranks, ElementsAre(3));
  EXPECT_EQ(all[1].activity, Activity::Load);
  EXPECT_THAT(all[2].ranks, IsEmpty());
  EXPECT_THAT(all[2].pids, ElementsAre(40417));
  EXPECT_EQ(all[2].host, "worker2");
}

// Scripts and people write a stack in one line in many forms, either end first.
TEST(ProcessStacks, AStackInALineMayBeWrittenInAnyOfManyWays) {
  for (const std::string line :
       {"rank 3: all_reduce (distributed_c10d.py:2501) > step (train.py:88) > main (train.py:7)",
        "rank 3: main (train.py:7) > step (train.py:88) > all_reduce (distributed_c10d.py:2501)",
        "rank 3: distributed_c10d.py:2501 in all_reduce <- train.py:88 in step <- train.py:7 in "
        "main",
        "[rank 3] all_reduce (distributed_c10d.py:2501) step (train.py:88) main (train.py:7)",
        "rank3 - all_reduce (distributed_c10d.py:2501) \u2190 step (train.py:88) \u2190 main",
        "rank3:all_reduce (distributed_c10d.py:2501), step (train.py:88), main (train.py:7)"}) {
    const auto all = stacks(line + "\n");
    ASSERT_EQ(all.size(), 1U) << line;
    EXPECT_THAT(all[0].ranks, ElementsAre(3)) << line;
    ASSERT_EQ(all[0].frames.size(), 3U) << line;
    EXPECT_EQ(all[0].frames[0].function, "all_reduce") << line;
    EXPECT_EQ(all[0].frames[1].function, "step") << line;
    EXPECT_EQ(all[0].op, Op::AllReduce) << line;
  }
  for (const std::string line :
       {"rank 3: warning, see docs (notes.md:12)",
        "we call main (train.py:7), then step (train.py:9)", "loss > 3.5 in step (train.py:9)",
        "main (train.py:133)   <- it hangs here"}) {
    EXPECT_FALSE(logs::is_stack_in_line(line)) << line;
  }
}

TEST(ProcessStacks, AHeadMayNameItsRanksOneByOne) {
  const auto all = stacks(
      "**rank1, rank2 and rank3** (identical)\n"
      "  all_reduce (torch/distributed/distributed_c10d.py:2501)\n"
      "  main (train.py:120)     <- `if step % 10`\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].ranks, ElementsAre(1, 2, 3));
  EXPECT_EQ(all[0].frames.size(), 2U);  // a remark after a frame does not belong to it
}

TEST(ProcessStacks, AnUnexplainedLockIsNotWork) {
  const auto all = stacks(
      "rank 0:\n  File \"/usr/lib/python3.11/threading.py\", line 320 in wait\n"
      "  File \"/app/train.py\", line 9 in main\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].activity, Activity::Lock);
}

}  // namespace
}  // namespace ringside::hang
