#include "diag/job/occupation.h"

#include <gtest/gtest.h>

namespace ringside::job {
namespace {

using What = Occupation::What;

TEST(Occupation, CheckpointsAreBegunAndDone) {
  EXPECT_EQ(occupation_in("saving checkpoint at iteration    4000 to /ckpt").what, What::Saving);
  EXPECT_EQ(occupation_in("[INFO] Saving model checkpoint to out/checkpoint-500").what,
            What::Saving);
  EXPECT_EQ(occupation_in("  successfully saved checkpoint from iteration 4000").what, What::Saved);
  EXPECT_EQ(occupation_in("Model weights saved in out/model.safetensors").what, What::Saved);
  EXPECT_EQ(occupation_in("saving a checkpoint every 500 steps").what, What::None);
  EXPECT_EQ(occupation_in("activation memory saving: on").what, What::None);
  EXPECT_EQ(occupation_in("ckpt: [rank 0] torch.save -> /mnt/model.pt (139.8 GB)").what,
            What::Saving);
  EXPECT_EQ(occupation_in("    torch.save(model.state_dict(), path)").what, What::None);
}

TEST(Occupation, ALabelledBarIsWork) {
  const Occupation map =
      occupation_in("Map:  12%|█▏        | 60000/500000 [03:30<25:40, 285 ex/s]");
  EXPECT_EQ(map.what, What::Bar);
  EXPECT_EQ(map.label, "Map");
  EXPECT_EQ(occupation_in("Map (num_proc=8): 100%|###| 500000/500000 [03:30<00:00]").what,
            What::BarDone);
  EXPECT_EQ(occupation_in("\rMap: 10%|# | 1/10 [00:01\rMap: 20%|## | 2/10 [00:02<00:08]").what,
            What::Bar);
  EXPECT_EQ(occupation_in("[default0]:Tokenizing: 10%|# | 1/10 [00:01<00:02]").label, "Tokenizing");
}

TEST(Occupation, ABarWithoutALabelIsWorkWhereItCountsData) {
  EXPECT_EQ(occupation_in(" 35%|## | 65766686720/187904819200 [30:20<56:20, 36204518.44MB/s]").what,
            What::Bar);
  EXPECT_EQ(occupation_in("100%|###| 41/41 [30:20<00:00, 141 examples/s]").what, What::BarDone);
}

TEST(Occupation, TheTrainingsOwnProgressBarIsNotAnOccupation) {
  EXPECT_EQ(occupation_in(" 45%|####5     | 450/1000 [00:45<00:55, 10.0it/s]").what, What::None);
  EXPECT_EQ(occupation_in("Epoch 3:  45%|####5 | 450/1000 [00:45<00:55]").what, What::None);
  EXPECT_EQ(occupation_in("2026-03-14T09:26:53Z Epoch 3:  45%|## | 450/1000 [00:45<00:55]").what,
            What::None);
  EXPECT_EQ(occupation_in("Running tokenizer on train dataset:  61%|# | 25/41 [29:41<18:55]").what,
            What::Bar);
  EXPECT_EQ(occupation_in("Training:  45%|####5 | 450/1000 [00:45<00:55]").what, What::None);
}

TEST(Occupation, FramesOfStacks) {
  EXPECT_EQ(occupation_in("    _save (torch/serialization.py:843)").what, What::Files);
  EXPECT_EQ(occupation_in("    wait (torch/distributed/x.py:1)").what, What::None);
  EXPECT_EQ(occupation_in("").what, What::None);
  EXPECT_EQ(occupation_in("%|").what, What::None);
  EXPECT_EQ(occupation_in("7%|| ").what, What::None);
  EXPECT_EQ(occupation_in("a: 7%|| 9").what, What::None);
}

}  // namespace
}  // namespace ringside::job
