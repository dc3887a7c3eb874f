#include "diag/hangdetect/readers/run_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside::hang {
namespace {

using RunWhat = RunLine::What;

TEST(RunLines, StepsAreReadInTheWordsOfManyLoops) {
  const RunLine megatron =
      read_run_line("iteration   42780/ 115311 | consumed samples: 71455664 |");
  EXPECT_EQ(megatron.what, RunWhat::Step);
  EXPECT_EQ(megatron.step, 42780);
  EXPECT_EQ(megatron.of, 115311);
  EXPECT_EQ(read_run_line("RANK 21: running step 1/10").step, 1);
  EXPECT_EQ(read_run_line(" 45%|####     | 450/1000 [00:45<00:55, 10.0it/s]").step, 450);
  EXPECT_EQ(read_run_line("Epoch 3: loss 0.1").step, 3);
  EXPECT_EQ(read_run_line("footsteps 12").what, RunWhat::Other);
}

TEST(RunLines, WarningsOfHealthyJobsRaiseNoAlarm) {
  EXPECT_EQ(
      read_run_line(
          "No available shared memory broadcast block found in 60 seconds. This typically happens "
          "when some processes are hanging")
          .what,
      RunWhat::Harmless);
  const std::string check = "ECC: no uncorrected volatile errors across 16 ranks in comm 0xab";
  EXPECT_EQ(read_run_line("n01:4100 NCCL DIAG [OK]   " + check).what, RunWhat::Harmless);
  EXPECT_EQ(read_run_line(check).what, RunWhat::Alarming);
  EXPECT_EQ(read_run_line("TimeoutError: RPC call timed out").what, RunWhat::Alarming);
  EXPECT_EQ(read_run_line("number of errors: 0").what, RunWhat::Other);
  EXPECT_EQ(read_run_line("Training completed. Do not forget to share your model").what,
            RunWhat::Finished);
}

TEST(RunLines, ASchedulersOwnWordForAGoodEndIsOne) {
  EXPECT_EQ(read_run_line("99120         COMPLETED      0:0   02:13:40").what, RunWhat::Finished);
  EXPECT_EQ(read_run_line("Container trainer exited with code 0").what, RunWhat::Finished);
  EXPECT_EQ(read_run_line("nccl:all_reduce completed").what, RunWhat::Other);
  EXPECT_NE(read_run_line("99120         COMPLETED      1:0   02:13:40").what, RunWhat::Finished);
}

}  // namespace
}  // namespace ringside::hang
