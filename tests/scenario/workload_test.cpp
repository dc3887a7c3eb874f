#include "harness/scenario/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/hangs/player.h"

namespace ringside {
namespace {

using hangs::Op;
using hangs::Step;

hangs::Program made(const char* kind, const WorkloadKeys& keys) {
  const auto outline = make_training(kind, keys);
  EXPECT_TRUE(outline) << outline.error().message << outline.error().help;
  return hangs::make_program(*outline);
}

/// Of a rank, in a step.
double kernels(const hangs::RankProgram& own) {
  Nanoseconds sum{};
  for (const Step& step : own.body) {
    if (step.kind == Step::Kind::Kernel) sum += step.time;
  }
  return Seconds{sum}.count();
}

std::int64_t elements(const hangs::RankProgram& own, Op op) {
  std::int64_t sum = 0;
  for (const Step& step : own.body) {
    if (step.kind == Step::Kind::Call && step.op == op) sum += step.count;
  }
  return sum;
}

// Published sizes of the models, in billions of weights.
TEST(Workload, KnownModelsHaveTheirSizes) {
  const auto billions = [](const char* name) { return find_transformer(name)->weights() / 1e9; };
  EXPECT_NEAR(billions("gpt3-175b"), 175, 2);
  EXPECT_NEAR(billions("llama2-7b"), 6.74, 0.05);
  EXPECT_NEAR(billions("llama2-70b"), 68.98, 0.3);
  EXPECT_NEAR(billions("llama3-8b"), 8.03, 0.05);
  EXPECT_NEAR(billions("llama3-70b"), 70.6, 0.3);
  EXPECT_NEAR(billions("llama3-405b"), 405.9, 1);
}

// Narayanan et al. 2021, (3): 96 B s l h^2 (1 + s/6h + V/16lh) operations with recomputation, whatever the parallelism.
// Theirs counts both halves of attention's matrix; a causal one needs half, and the share of s/6h is halved with it.
TEST(Workload, MegatronComputesWhatThePaperSays) {
  const double batch = 2 * 16;  // data x microbatches
  const double s = 2048, l = 40, h = 6144, v = 51200;
  const double whole = 96 * batch * s * l * h * h * (1 + s / (12 * h) + v / (16 * l * h));
  const hangs::Program program = made("megatron", {{"layers", "40"},
                                                   {"hidden", "6144"},
                                                   {"heads", "48"},
                                                   {"vocabulary", "51200"},
                                                   {"sequence", "2048"},
                                                   {"gpu_tflops", "100"},
                                                   {"efficiency", "1"},
                                                   {"recompute", "yes"},
                                                   {"tensor", "4"},
                                                   {"pipeline", "5"},
                                                   {"data", "2"},
                                                   {"microbatches", "16"}});
  double flops = 0;
  for (const hangs::RankProgram& own : program.programs) flops += kernels(own) * 100e12;
  EXPECT_NEAR(flops / whole, 1, 0.002);
}

// Two all-reduces a layer forward and two backward, each of b s h elements; half the gradients' bytes in halves with
// sequence parallelism.
TEST(Workload, MegatronMovesWhatThePaperSays) {
  WorkloadKeys keys{{"layers", "8"},         {"hidden", "1024"},   {"heads", "16"},
                    {"vocabulary", "32000"}, {"sequence", "512"},  {"gpu", "h100"},
                    {"efficiency", "0.5"},   {"tensor", "4"},      {"pipeline", "2"},
                    {"data", "2"},           {"microbatches", "3"}};
  const hangs::Program plain = made("megatron", keys);
  const std::int64_t activations = 512 * 1024;
  const hangs::RankProgram& own = plain.programs.front();
  const std::int64_t gradients = elements(own, Op::AllReduce) - 4 * 3 * 4 * activations;
  // Stage 0 has 4 layers of 12 h^2 and the input embedding, a quarter of each.
  EXPECT_EQ(gradients, (4 * 12 * 1024 * 1024 + 32000 * 1024) / 4);
  EXPECT_EQ(elements(own, Op::Send), 3 * activations);
  EXPECT_EQ(elements(own, Op::Recv), 3 * activations);
  keys["sequence_parallel"] = "yes";
  const hangs::Program split = made("megatron", keys);
  EXPECT_EQ(elements(split.programs.front(), Op::ReduceScatter), 4 * 3 * 4 * activations / 4);
  EXPECT_EQ(elements(split.programs.front(), Op::AllGather), 4 * 3 * 4 * activations / 4);
  EXPECT_EQ(elements(split.programs.front(), Op::Send), 3 * activations / 4);
}

// 1F1B: of p stages and m microbatches, the first stage stands still for (p - 1) / m of its work.
TEST(Workload, ThePipelinesBubbleIsTheFormulas) {
  constexpr int kStages = 4;
  constexpr int kMicrobatches = 8;
  const hangs::Program program = made("megatron", {{"layers", "4"},
                                                   {"hidden", "8192"},
                                                   {"heads", "64"},
                                                   {"vocabulary", "1"},
                                                   {"sequence", "8192"},
                                                   {"gpu", "a100"},
                                                   {"efficiency", "0.5"},
                                                   {"pipeline", "4"},
                                                   {"microbatches", "8"}});
  const hangs::PlayTimes times{
      .call = [](const Step&, const hangs::Group&) { return Nanoseconds{1}; }, .is_even = true};
  const hangs::Play play = hangs::play(program, {}, 1, times);
  ASSERT_FALSE(play.is_hung());
  std::int64_t first_end = 0;
  for (const hangs::Kernel& kernel : play.ranks.front().kernels) {
    if (kernel.iteration == 0) first_end = std::max(first_end, kernel.completed);
  }
  const double busy = kernels(program.programs.front());
  const double expected = busy * (1 + (kStages - 1.0) / kMicrobatches);
  EXPECT_NEAR(static_cast<double>(first_end) * 1e-9 / expected, 1, 0.01);
}

TEST(Workload, BucketsHoldEachGradientOnce) {
  const hangs::Program program = made("ddp", {{"model", "llama3-8b"},
                                              {"gpu", "h100"},
                                              {"efficiency", "0.5"},
                                              {"data", "4"},
                                              {"sequence", "128"}});
  const auto all = static_cast<double>(elements(program.programs.front(), Op::AllReduce));
  EXPECT_NEAR(all / find_transformer("llama3-8b")->weights(), 1, 1e-6);
  const auto first =
      std::ranges::find(program.programs.front().body, Step::Kind::Call, &Step::kind);
  EXPECT_EQ(first->count * 4, 1 << 20);  // DDP's first bucket
}

// Gathers and scatters of 1 ms beside layers of some 4 and 8: what is seen of them is the first gather and the last scatter.
TEST(Workload, ShardsMoveBesideTheLayers) {
  const hangs::Program program = made("fsdp", {{"model", "llama3-8b"},
                                               {"gpu", "h100"},
                                               {"efficiency", "0.5"},
                                               {"data", "8"},
                                               {"sequence", "4096"}});
  const hangs::PlayTimes times{
      .call = [](const Step&, const hangs::Group&) { return Nanoseconds{1'000'000}; },
      .is_even = true};
  const hangs::Play play = hangs::play(program, {}, 1, times);
  ASSERT_FALSE(play.is_hung());
  std::int64_t end = 0;
  for (const hangs::Record& record : play.ranks.front().records) {
    if (record.iteration == 0) end = std::max(end, record.completed);
  }
  EXPECT_NEAR(static_cast<double>(end) * 1e-9, kernels(program.programs.front()) + 0.003, 0.002);
}

TEST(Workload, ShardsAreGatheredTwiceAndScatteredOnce) {
  const hangs::Program program = made("fsdp", {{"model", "llama3-8b"},
                                               {"gpu", "h100"},
                                               {"efficiency", "0.5"},
                                               {"data", "8"},
                                               {"sequence", "128"}});
  const TransformerShape model = *find_transformer("llama3-8b");
  const double shard = model.layers * model.layer_weights() / 8;
  const hangs::RankProgram& own = program.programs.front();
  EXPECT_NEAR(static_cast<double>(elements(own, Op::AllGather)) / shard, 2, 1e-6);
  EXPECT_NEAR(static_cast<double>(elements(own, Op::ReduceScatter)) / shard, 1, 1e-6);
}

}  // namespace
}  // namespace ringside
