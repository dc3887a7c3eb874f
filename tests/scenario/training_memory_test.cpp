#include <gtest/gtest.h>

#include <cmath>

#include "harness/scenario/workload.h"

namespace ringside {
namespace {

TrainingFacts facts(const char* kind, WorkloadKeys keys) {
  keys.emplace("efficiency", "0.5");
  if (!keys.contains("gpu")) keys.emplace("gpu_tflops", "100");
  const auto all = training_facts(kind, keys);
  EXPECT_TRUE(all) << all.error().message;
  return all && *all ? **all : TrainingFacts{};
}

/// Returns a model of 7.5e9 weights: 72 layers of 12 x 2944^2, and a vocabulary of 2.
WorkloadKeys zero_paper() {
  return {{"layers", "72"},          {"hidden", "2944"},   {"heads", "32"}, {"vocabulary", "2"},
          {"gradients", "bfloat16"}, {"recompute", "yes"}, {"data", "64"}};
}

double states(const MemoryNeed& need) {
  return (need.weights + need.gradients + need.optimizer) / 1e9;
}

// Rajbhandari et al. 2020, ZeRO, figure 1: 7.5e9 weights, 64 ranks, 12 bytes of optimizer states a weight.
TEST(TrainingMemory, StatesMatchTheZeroPaper) {
  EXPECT_NEAR(states(facts("ddp", zero_paper()).memory), 120, 0.5);
  WorkloadKeys sharded = zero_paper();
  sharded["zero"] = "yes";
  EXPECT_NEAR(states(facts("megatron", sharded).memory), 31.4, 0.2);
  // Stage 3: 1.9 GB of shards; here two layers and one layer's gradients are whole besides.
  const double layer = 12.0 * 2944 * 2944;
  EXPECT_NEAR(states(facts("fsdp", zero_paper()).memory) - layer * (2 * 2 + 2) / 1e9, 1.9, 0.05);
  sharded = zero_paper();
  sharded["reshard"] = "no";
  EXPECT_NEAR(facts("fsdp", sharded).memory.weights / 1e9, 15 + 15.0 / 64, 0.1);
}

TEST(TrainingMemory, OptimizerBytesAreAKey) {
  WorkloadKeys keys = zero_paper();
  keys["optimizer_bytes"] = "4";
  EXPECT_NEAR(states(facts("ddp", keys).memory), 60, 0.3);
}

/// Returns GPT-3 of Korthikanti et al. 2022, table 3: 96 layers, tensor 8, pipeline 8, s 2048, b 1.
WorkloadKeys gpt3() {
  return {{"model", "gpt3-175b"}, {"sequence", "2048"}, {"tensor", "8"},
          {"pipeline", "8"},      {"data", "1"},        {"microbatches", "64"}};
}

// Korthikanti et al. 2022, table 2, without what FlashAttention does not store (5as/h) and without the masks of dropout
// (2 of the 10 that every tensor rank holds; none of the 24): s b h (8 + 24 / t) a layer, with sequence parallelism
// s b h 32 / t. The first of p stages has p microbatches under way, so as much as the whole model once.
TEST(TrainingMemory, ActivationsMatchTheRecomputationPaper) {
  const double sbh = 2048.0 * 12288;
  EXPECT_NEAR(facts("megatron", gpt3()).memory.activations / (96 * sbh * (8 + 24 / 8.0)), 1, 1e-9);
  WorkloadKeys split = gpt3();
  split["sequence_parallel"] = "yes";
  EXPECT_NEAR(facts("megatron", split).memory.activations / (96 * sbh * 32 / 8.0), 1, 1e-9);
  // 2 s b h a layer, and the one that is being recomputed.
  WorkloadKeys recomputed = gpt3();
  recomputed["recompute"] = "yes";
  EXPECT_NEAR(
      facts("megatron", recomputed).memory.activations / (96 * sbh * 2 + sbh * (8 + 24 / 8.0)), 1,
      1e-9);
}

// 4.2.3: with m chunks an interleaved pipeline holds 1 + (p - 1) / (p m) as much.
TEST(TrainingMemory, AnInterleavedPipelineHoldsMoreActivations) {
  const double plain = facts("megatron", gpt3()).memory.activations;
  WorkloadKeys keys = gpt3();
  keys["chunks"] = "3";
  EXPECT_NEAR(facts("megatron", keys).memory.activations / plain, 1 + 7 / (8.0 * 3), 1e-9);
}

TEST(TrainingMemory, FewMicrobatchesHoldFewActivations) {
  WorkloadKeys keys = gpt3();
  keys["microbatches"] = "2";
  EXPECT_NEAR(
      facts("megatron", keys).memory.activations / facts("megatron", gpt3()).memory.activations,
      2 / 8.0, 1e-9);
}

TEST(TrainingMemory, ContextRanksShareASequence) {
  WorkloadKeys keys = gpt3();
  keys["context"] = "2";
  EXPECT_NEAR(
      facts("megatron", keys).memory.activations / facts("megatron", gpt3()).memory.activations,
      0.5, 1e-9);
}

// An expert's states are replicated over fewer ranks than the rest.
TEST(TrainingMemory, ExpertsAreSharedOut) {
  WorkloadKeys keys{
      {"model", "mixtral-8x7b"}, {"data", "16"}, {"expert", "8"}, {"recompute", "yes"}};
  const MemoryNeed need = facts("moe", keys).memory;
  const TransformerShape model = *find_transformer("mixtral-8x7b");
  const double experts = 32.0 * 8 * model.expert_weights();
  const double own = model.weights() - experts + experts / 8;
  EXPECT_NEAR(need.weights, 2 * own, 1);
  EXPECT_NEAR(need.optimizer, 12 * own, 1);
  keys["zero"] = "yes";
  EXPECT_NEAR(facts("moe", keys).memory.optimizer,
              12 * ((model.weights() - experts) / 16 + experts / 8 / 2), 1);
}

// Chowdhery et al. 2022, PaLM, appendix B: 6 N + 12 L H Q T operations a token, of which a causal mask leaves half of the
// second term. The input embedding multiplies nothing.
TEST(TrainingMemory, ModelOperationsAreThoseOfThePaper) {
  const TransformerShape model = *find_transformer("llama3-70b");
  const double weights = model.weights() - 128256.0 * 8192;
  const double token = 6 * weights + 6.0 * 80 * 8192 * 4096;
  const TrainingFacts plain = facts("fsdp", {{"model", "llama3-70b"}, {"data", "16"}});
  EXPECT_NEAR(plain.model_flops / (token * 4096 * 16), 1, 1e-9);
  const TrainingFacts laid = facts("megatron", {{"model", "llama3-70b"},
                                                {"data", "4"},
                                                {"tensor", "4"},
                                                {"microbatches", "3"},
                                                {"recompute", "yes"}});
  EXPECT_NEAR(laid.model_flops / (token * 4096 * 12), 1, 1e-9);
  // Mixtral: of 8 experts a token meets 2.
  const TransformerShape moe = *find_transformer("mixtral-8x7b");
  const double active = moe.active_weights() - 32000.0 * 4096;
  EXPECT_NEAR(
      facts("moe", {{"model", "mixtral-8x7b"}, {"data", "8"}, {"expert", "8"}}).model_flops /
          ((6 * active + 6.0 * 32 * 4096 * 4096) * 4096 * 8),
      1, 1e-9);
}

TEST(TrainingMemory, ALayoutThatDoesNotDivideIsNotedOrRefused) {
  WorkloadKeys keys = gpt3();
  EXPECT_TRUE(facts("megatron", keys).notes.empty());
  keys["pipeline"] = "7";
  const TrainingFacts uneven = facts("megatron", keys);
  ASSERT_EQ(uneven.notes.size(), 1U);
  EXPECT_NE(uneven.notes[0].find("96 layers do not divide by 7 stages"), std::string::npos);
  keys["tensor"] = "5";
  keys["efficiency"] = "0.5";
  keys["gpu"] = "h100";
  const auto refused = make_workload("megatron", keys);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().help.find("divide the 96 heads"), std::string::npos);
}

TEST(TrainingMemory, InferenceHasNoTrainingStates) {
  const auto none = training_facts("inference", {});
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(none->has_value());
}

}  // namespace
}  // namespace ringside
