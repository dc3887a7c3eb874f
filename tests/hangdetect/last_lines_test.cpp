#include "diag/hangdetect/readers/last_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diag/hangdetect/readers/tool_lines.h"

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::map<int, LastLine> lines(const std::vector<std::string>& texts) {
  std::map<int, LastLine> out;
  for (std::size_t i = 0; i < texts.size(); ++i) out[static_cast<int>(i)].text = texts[i];
  return out;
}

TEST(LastLines, ALineMayBeginWithItsRank) {
  EXPECT_EQ(read_ranked_line("[worker rank=3] step 7").rank, 3);
  EXPECT_EQ(read_ranked_line("[worker rank=3] step 7").text, "step 7");
  EXPECT_EQ(read_ranked_line("rank0.log:  [rank 0] epoch 1").text, "epoch 1");
  EXPECT_EQ(read_ranked_line("rank05 11:02:10 step 1").rank, 5);
  EXPECT_EQ(read_ranked_line("local_rank 3 starts").rank, -1);
  EXPECT_EQ(read_ranked_line("rank 3 waits for rank 5").rank, -1);
  EXPECT_EQ(read_ranked_line("rank 99999999999999999999 x").rank, -1);
  EXPECT_EQ(read_ranked_line("").rank, -1);
}

TEST(LastLines, ARankThatALineOnlyMentionsIsNotItsWriter) {
  EXPECT_EQ(read_ranked_line("waiting for rank 3 to arrive").rank, -1);
  EXPECT_EQ(read_ranked_line("sending 64 bytes to  rank 3").rank, -1);
  EXPECT_EQ(read_ranked_line("rank 0: waiting for rank 3").rank, -1) << "two ranks";
  EXPECT_EQ(read_ranked_line("rank 3: others wait for rank 3").rank, 3);
  EXPECT_EQ(read_ranked_line("hello from rank 3").rank, 3);
  EXPECT_EQ(read_ranked_line("12:00:01 worker [for] rank 3: step 1").rank, 3);
}

TEST(LastLines, ALineWithOtherWordsIsOdd) {
  const OddLine odd = odd_line_out(lines({"step 413 forward done", "step 413 forward done",
                                          "step 412 forward done", "finished after 412 steps"}));
  EXPECT_THAT(odd.odd, ElementsAre(3));
  EXPECT_THAT(odd.rest, ElementsAre(0, 1, 2));
  EXPECT_EQ(odd.field, "");
}

TEST(LastLines, NumbersCountWhereTheyAreArgumentsOfACall) {
  const OddLine odd = odd_line_out(lines({"broadcast(src=0) w 1.2", "broadcast(src=0) w 1.3",
                                          "broadcast(src=0) w 1.4", "broadcast(src=2) w 1.5"}));
  EXPECT_THAT(odd.odd, ElementsAre(3));
  EXPECT_EQ(odd.field, "src");
  EXPECT_THAT(odd_line_out(lines({"loss 1.0", "loss 1.0", "loss 2.0"})).odd, IsEmpty());
}

TEST(LastLines, EqualHalvesHaveNoOddRank) {
  EXPECT_THAT(odd_line_out(lines({"a", "a", "b", "b"})).odd, IsEmpty());
  EXPECT_THAT(odd_line_out(lines({"a", "b"})).odd, IsEmpty());
  EXPECT_THAT(odd_line_out(lines({"a", "b", "c", "d"})).odd, IsEmpty());
}

TEST(ToolLines, PsShowsStates) {
  const PsLine stopped =
      read_ps_line(" 55304 Tl  1-03:22:10 do_signal_stop python -u t.py --local_rank=3");
  EXPECT_EQ(stopped.state, 'T');
  EXPECT_EQ(stopped.local_rank, 3);
  EXPECT_EQ(stopped.pid, 55304);
  const PsLine of_user =
      read_ps_line("root 71 99.0 1.2 1000 900 ? Dl 10:11 5:01 python t.py --local-rank 2");
  EXPECT_EQ(of_user.state, 'D');
  EXPECT_EQ(of_user.local_rank, 2);
  EXPECT_EQ(read_ps_line("55304 is the pid, --local_rank=3 its rank").state, 0);
  EXPECT_EQ(read_ps_line("torchrun --local_rank=").state, 0);
}

TEST(ToolLines, NvidiaSmiShowsUtilisation) {
  EXPECT_EQ(gpu_utilisation(
                "| N/A   38C    P0    64W / 400W |  61090MiB / 81920MiB |      0%      Default |"),
            0);
  EXPECT_EQ(gpu_utilisation("| N/A   38C    P0    64W / 400W |  61090MiB / 81920MiB |"), -1);
  EXPECT_EQ(gpu_utilisation("MiB |"), -1);
}

}  // namespace
}  // namespace ringside::hang
