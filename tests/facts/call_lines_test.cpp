#include "diag/facts/call_lines.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "diag/facts/line_owner.h"
#include "diag/facts/schema.h"

// Calls in the notations that people and programs use.

namespace ringside::facts {
namespace {

/// Returns the calls of a line as text, separated by `; `; for a bare number before the line, `#N ` precedes them.
std::string calls(std::string_view line) {
  std::string text;
  for (const Call& call : read_calls(line)) {
    if (!text.empty()) text += "; ";
    if (call.subject.label >= 0) text += "#" + std::to_string(call.subject.label) + " ";
    text += to_text(call);
  }
  return text;
}

TEST(CallLines, ReadsPairsInAnyOrderAndNotation) {
  EXPECT_EQ(calls("rank 3: all_reduce(dp) step 41 n=1024 root=-"),
            "call rank=3 state=unknown group=dp op=all_reduce input=1024 step=41");
  EXPECT_EQ(calls("[r2] calling broadcast src=1 numel=64"),
            "#2 call state=enqueued op=broadcast input=64 root=1");
  EXPECT_EQ(calls("{\"t\": 17.2, \"rank\": 3, \"op\": \"all_gather\", \"seq\": 55, \"dtype\": "
                  "\"float16\", \"event\": \"start\"}"),
            "call rank=3 state=enqueued seq=55 op=all_gather dtype=float16");
  EXPECT_EQ(calls("rank 2: group tp1, reduce_scatter, seq 311, waiting"),
            "call rank=2 state=started group=tp1 seq=311 op=reduce_scatter");
  EXPECT_EQ(calls("rank 1: all_gather(in=[2, 512]) pg=tp seq=9"),
            "call rank=1 state=unknown group=tp seq=9 op=all_gather input=1024 shape='[2, 512]'");
}

TEST(CallLines, StatesAndArrowsTellHowFarACallIs) {
  EXPECT_EQ(calls("r2 | -> all_gather tp #8"),
            "#2 call state=enqueued group=tp seq=8 op=all_gather");
  EXPECT_EQ(calls("r2 | <- done"), "#2 call state=completed");
  EXPECT_EQ(calls("(1) enter barrier 12"), "#1 call state=enqueued op=barrier step=12");
  EXPECT_EQ(calls("rank0 after all_reduce(loss) 100"),
            "call rank=0 state=completed op=all_reduce label=loss step=100");
  EXPECT_EQ(calls("rank 1 waiting in barrier (end of step 900)"),
            "call rank=1 state=started op=barrier step=900");
}

TEST(CallLines, TransfersHavePeersAndTags) {
  EXPECT_EQ(calls("rank 1: recv source=2 tag=5 ..."),
            "call rank=1 state=unknown op=recv tag=5 peer=2");
  EXPECT_EQ(calls("rank 0: send to 1 (4194304 floats)"),
            "call rank=0 state=unknown op=send input=4194304 peer=1");
  EXPECT_EQ(calls("rank 0: nccl:send 0->1 [[4]], completed, seq 41 nccl:all_reduce [[1]], started"),
            "call rank=0 state=completed op=send input=4 shape=[[4]] peer=1; "
            "call rank=0 state=started seq=41 op=all_reduce input=1 shape=[[1]]");
  EXPECT_EQ(calls("PMPI_Ssend (buf=0x1c2f2b0, count=100, datatype=0x55, dest=1, tag=7)"),
            "call state=unknown op=send input=100 tag=7 peer=1");
}

TEST(CallLines, SentencesAndTimesAreNotCalls) {
  for (const std::string_view line :
       {"rank 3 never reaches the barrier", "Is rank 3 in all_reduce?",
        "rank 2 skips all_reduce: its loss is nan",
        "rank 1 to 15 are all waiting in torch.distributed.barrier(), and rank 0 is still writing",
        "[rank 0] step 120 fwd+bwd 1.02s, allreduce wait 8.84s",
        "rank 0: send_buffer 3, reduce_lr 7", "rank 4: loading shard 118 from /data/train",
        "rank 0: the gradients are gathered", ""}) {
    EXPECT_EQ(calls(line), "") << line;
  }
}

TEST(ProcessLines, ReadsARankAndItsProcessInOneLine) {
  const auto pid = read_process_line("trainer[2]: global rank 2, pid 3003");
  ASSERT_TRUE(pid.has_value());
  EXPECT_EQ(pid->rank, 2);
  EXPECT_EQ(pid->pid, 3003);
  const auto gpu = read_process_line("rank 3 (pid 21004): 0000:4c:00.0");
  ASSERT_TRUE(gpu.has_value());
  EXPECT_EQ(gpu->device, "4c000");
  EXPECT_FALSE(read_process_line("local_rank: 3 pid: 7").has_value());
  EXPECT_FALSE(read_process_line("ranks 0 and 1, pid 7").has_value());
  EXPECT_FALSE(read_process_line("rank 3 has lost rank 4, pid 7").has_value());
}

}  // namespace
}  // namespace ringside::facts
