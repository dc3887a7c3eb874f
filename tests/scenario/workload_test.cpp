#include "harness/scenario/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/hangs/player.h"
#include "harness/scenario/ddp.h"

namespace ringside {
namespace {

using hangs::Op;
using hangs::Step;

hangs::Program made(const char* kind, const WorkloadKeys& keys) {
  const auto outline = make_workload(kind, keys);
  EXPECT_TRUE(outline) << outline.error().message << outline.error().help;
  return hangs::make_program(*outline);
}

/// Returns the time of a rank's kernels in one step, in seconds.
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
  EXPECT_NEAR(billions("mixtral-8x7b"), 46.7, 0.1);
  EXPECT_NEAR(billions("mixtral-8x22b"), 140.6, 0.3);
  EXPECT_NEAR(billions("dbrx"), 132, 1);
  EXPECT_NEAR(billions("deepseek-v3"), 671, 1);
}

// Published numbers of weights that are used for one token, in billions.
TEST(Workload, ATokenMeetsTheExpertsThatAreActive) {
  const auto billions = [](const char* name) {
    return find_transformer(name)->active_weights() / 1e9;
  };
  EXPECT_NEAR(billions("mixtral-8x7b"), 12.9, 0.1);
  EXPECT_NEAR(billions("mixtral-8x22b"), 39, 0.3);
  EXPECT_NEAR(billions("dbrx"), 36, 1);
  EXPECT_NEAR(billions("deepseek-v3"), 37, 1);
  EXPECT_EQ(billions("llama3-8b"), find_transformer("llama3-8b")->weights() / 1e9);
}

// Narayanan et al. 2021, (3): 96 B s l h^2 (1 + s/6h + V/16lh) operations with recomputation, whatever the parallelism.
// Theirs counts both halves of attention's matrix; a causal one needs half, and the share of s/6h is halved with it.
TEST(Workload, MegatronsOperationsMatchThePaper) {
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
TEST(Workload, MegatronsTrafficMatchesThePaper) {
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

// 1F1B: of p stages and m microbatches, the first stage idles for (p - 1) / m of its work.
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

// Narayanan et al. 2021, 2.2: with v chunks a stage the bubble is (p - 1) / (v m) of the work.
TEST(Workload, ChunksMakeTheBubbleSmallerByTheirNumber) {
  constexpr int kStages = 4;
  constexpr int kMicrobatches = 8;
  for (const int chunks : {2, 3}) {
    const hangs::Program program =
        made("megatron", {{"layers", std::to_string(kStages * chunks)},
                          {"hidden", "8192"},
                          {"heads", "64"},
                          {"vocabulary", "1"},
                          {"sequence", "8192"},
                          {"gpu", "a100"},
                          {"efficiency", "0.5"},
                          {"pipeline", std::to_string(kStages)},
                          {"chunks", std::to_string(chunks)},
                          {"microbatches", std::to_string(kMicrobatches)}});
    const hangs::PlayTimes times{
        .call = [](const Step&, const hangs::Group&) { return Nanoseconds{1}; }, .is_even = true};
    const hangs::Play play = hangs::play(program, {}, 1, times);
    ASSERT_FALSE(play.is_hung()) << chunks;
    std::int64_t first_end = 0;
    for (const hangs::Kernel& kernel : play.ranks.front().kernels) {
      if (kernel.iteration == 0) first_end = std::max(first_end, kernel.completed);
    }
    const double busy = kernels(program.programs.front());
    const double expected = busy * (1 + (kStages - 1.0) / (chunks * kMicrobatches));
    EXPECT_NEAR(static_cast<double>(first_end) * 1e-9 / expected, 1, 0.01) << chunks;
    // Each microbatch goes from rank to rank once a chunk, but for the model's two ends.
    const std::int64_t activations = 8192 * 8192;
    EXPECT_EQ(elements(program.programs.front(), Op::Recv),
              (2 * chunks - 1) * kMicrobatches * activations);
    EXPECT_EQ(elements(program.programs[1], Op::Recv), 2 * chunks * kMicrobatches * activations);
  }
}

// Narayanan et al. 2021, 4.1: a part of each tensor rank crosses between stages, and is gathered behind.
TEST(Workload, StagesPassAPartOnAndGatherIt) {
  WorkloadKeys keys{{"layers", "4"},      {"hidden", "1024"},      {"heads", "16"},
                    {"gpu", "h100"},      {"vocabulary", "32000"}, {"sequence", "512"},
                    {"tensor", "4"},      {"efficiency", "0.5"},   {"pipeline", "2"},
                    {"microbatches", "3"}};
  const hangs::Program whole = made("megatron", keys);
  keys["scatter_gather"] = "yes";
  const hangs::Program parts = made("megatron", keys);
  const std::int64_t activations = 512 * 1024;
  EXPECT_EQ(elements(whole.programs.front(), Op::Send), 3 * activations);
  EXPECT_EQ(elements(parts.programs.front(), Op::Send), 3 * activations / 4);
  // On the first stage what comes back, on the last what comes.
  EXPECT_EQ(elements(parts.programs.front(), Op::AllGather), 3 * activations / 4);
  EXPECT_EQ(elements(parts.programs.back(), Op::AllGather), 3 * activations / 4);
  EXPECT_EQ(elements(parts.programs.front(), Op::AllReduce),
            elements(whole.programs.front(), Op::AllReduce));
  keys["sequence_parallel"] = "yes";
  const auto refused = make_workload("megatron", keys);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("scatter_gather"), std::string::npos);
}

// Llama Team 2024, 3.3.2: keys and values of the whole sequence are gathered, less than activations as far as heads share
// them; what is computed, and what is passed on, is divided.
TEST(Workload, RanksThatShareASequenceGatherItsKeysAndValues) {
  WorkloadKeys keys{{"layers", "6"},   {"hidden", "1024"},      {"heads", "16"},
                    {"kv_heads", "4"}, {"vocabulary", "32000"}, {"sequence", "512"},
                    {"gpu", "h100"},   {"efficiency", "0.5"},   {"tensor", "2"},
                    {"pipeline", "2"}, {"data", "2"},           {"microbatches", "3"}};
  const hangs::Program whole = made("megatron", keys);
  keys["context"] = "4";
  const hangs::Program shared = made("megatron", keys);
  ASSERT_EQ(shared.ranks, 4 * whole.ranks);
  const hangs::RankProgram& own = shared.programs.front();
  EXPECT_NEAR(kernels(own), kernels(whole.programs.front()) / 4, 1e-7);
  // There are 3 layers and 3 microbatches, with a quarter of the tokens and half of 4 heads of 64 channels.
  const std::int64_t own_keys_and_values = 3 * 3 * 512 / 4 * 2 * 4 * 64 / 2;
  EXPECT_EQ(elements(own, Op::AllGather), 2 * own_keys_and_values);
  EXPECT_EQ(elements(own, Op::ReduceScatter), own_keys_and_values);
  EXPECT_EQ(elements(own, Op::Send), elements(whole.programs.front(), Op::Send) / 4);
  // Gradients are the sum over all who have the weights, whichever tokens they saw.
  const auto gradients = std::ranges::find_if(own.body, [&](const Step& step) {
    return step.kind == Step::Kind::Call && step.op == Op::AllReduce &&
           shared.groups[static_cast<std::size_t>(step.group)].ranks.size() == 8;
  });
  EXPECT_NE(gradients, own.body.end());
}

// Liu et al. 2023: each has every other one's keys and values once, so three rounds of four exchange; backward their
// gradients go round as often, and once more to come home.
TEST(Workload, KeysAndValuesGoRoundTheRanksThatShareASequence) {
  WorkloadKeys keys{{"layers", "6"},   {"hidden", "1024"},      {"heads", "16"},
                    {"kv_heads", "4"}, {"vocabulary", "32000"}, {"sequence", "512"},
                    {"gpu", "h100"},   {"efficiency", "0.5"},   {"tensor", "2"},
                    {"pipeline", "2"}, {"data", "2"},           {"microbatches", "3"},
                    {"context", "4"}};
  const hangs::Program gathered = made("megatron", keys);
  keys["context_exchange"] = "ring";
  const hangs::Program round = made("megatron", keys);
  const hangs::RankProgram& own = round.programs.front();
  EXPECT_NEAR(kernels(own), kernels(gathered.programs.front()), 1e-6);
  const auto between_stages = elements(gathered.programs.front(), Op::Send);
  const std::int64_t own_keys_and_values = 3 * 3 * 512 / 4 * 2 * 4 * 64 / 2;
  EXPECT_EQ(elements(own, Op::Send) - between_stages, own_keys_and_values * (3 + 3 + 4));
  EXPECT_EQ(elements(own, Op::Recv),
            elements(gathered.programs.front(), Op::Recv) + own_keys_and_values * (3 + 3 + 4));
  EXPECT_EQ(elements(own, Op::AllGather), 0);
  const hangs::PlayTimes times{
      .call = [](const Step&, const hangs::Group&) { return Nanoseconds{1}; }, .is_even = true};
  EXPECT_FALSE(hangs::play(round, {}, 1, times).is_hung());
  const auto refused = make_workload("megatron", {{"model", "llama3-8b"},
                                                  {"gpu", "h100"},
                                                  {"efficiency", "0.5"},
                                                  {"data", "2"},
                                                  {"context_exchange", "ring"}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().help.find("several ranks"), std::string::npos);
}

TEST(Workload, ChunksThatCannotGoRoundAreRefused) {
  const WorkloadKeys fine{{"model", "llama3-8b"}, {"gpu", "h100"}, {"efficiency", "0.5"},
                          {"pipeline", "4"},      {"chunks", "2"}, {"microbatches", "8"},
                          {"data", "2"}};
  EXPECT_TRUE(make_workload("megatron", fine));
  const auto refused = [&](const char* key, const char* value) {
    WorkloadKeys keys = fine;
    keys[key] = value;
    const auto outline = make_workload("megatron", keys);
    return outline ? std::string{} : outline.error().message + outline.error().help;
  };
  EXPECT_NE(refused("microbatches", "9").find("divide the microbatches"), std::string::npos);
  EXPECT_NE(refused("chunks", "9").find("each chunk needs a layer"), std::string::npos);
  EXPECT_NE(refused("pipeline", "1").find("chunks need stages"), std::string::npos);
  EXPECT_NE(refused("context", "3").find("divide the sequence"), std::string::npos);
}

/// Elements of the buckets of llama3-8b, in the order in which they are reduced.
std::vector<std::int64_t> buckets(const WorkloadKeys& more = {}) {
  WorkloadKeys keys{{"model", "llama3-8b"}, {"gpu", "h100"},     {"efficiency", "0.5"},
                    {"data", "4"},          {"sequence", "128"}, {"gradients", "bfloat16"}};
  keys.insert(more.begin(), more.end());
  std::vector<std::int64_t> all;
  const hangs::Program program = made("ddp", keys);
  for (const Step& step : program.programs.front().body) {
    if (step.kind == Step::Kind::Call) all.push_back(step.count);
  }
  return all;
}

TEST(Workload, BucketsHoldEachGradientOnce) {
  const auto all = buckets();
  EXPECT_NEAR(static_cast<double>(std::accumulate(all.begin(), all.end(), std::int64_t{0})) /
                  find_transformer("llama3-8b")->weights(),
              1, 1e-6);
}

// Tensors are not divided. Of 4096 channels in bfloat16 the embeddings (128256 words) and the feed-forward's matrices
// (14336) are more than 25 MiB each; the output's (4096) is 32 MiB; values' and keys' (1024) are 8 MiB each, so a bucket
// of them is full with the queries'.
TEST(Workload, BucketsAreWholeTensors) {
  constexpr std::int64_t kHidden = 4096;
  const auto all = buckets();
  ASSERT_EQ(all.size(), 2 + 32 * 5U);
  const std::vector<std::int64_t> first(all.begin(), all.begin() + 6);
  EXPECT_EQ(first, (std::vector<std::int64_t>{kHidden * 128256, kHidden * 14336, kHidden * 14336,
                                              kHidden * 14336, kHidden * 4096,
                                              kHidden * (1024 + 1024 + 4096)}));
  EXPECT_EQ(all.back(), kHidden * 128256);
}

// 8 MiB caps: keys' and values' gradients fill one each.
TEST(Workload, ACapIsThatOfAllBuckets) {
  const auto all = buckets({{"bucket_cap_mb", "8"}});
  ASSERT_EQ(all.size(), 2 + 32 * 7U);
  EXPECT_EQ(all[5], 4096 * 1024);
}

TEST(Workload, ABucketIsFullOnceItHasReachedItsCap) {
  using Lengths = std::vector<std::size_t>;
  EXPECT_EQ(workload::bucket_lengths(std::vector<double>{1, 1, 1, 1, 1}, 1, 2), (Lengths{1, 2, 2}));
  EXPECT_EQ(workload::bucket_lengths(std::vector<double>{3, 1, 1, 5, 1}, 1, 4), (Lengths{1, 3, 1}));
  EXPECT_EQ(workload::bucket_lengths(std::vector<double>{}, 1, 4), Lengths{});
}

// In the order of the model's parameters the first bucket holds the gradients that are computed last, and the buckets
// after it wait for it: no call overlaps backward. DDP does not use this order.
TEST(Workload, BucketsInForwardOrderDoNotOverlap) {
  const auto last_kernel = [](const hangs::RankProgram& own) {
    std::size_t last = 0;
    for (std::size_t i = 0; i < own.body.size(); ++i) {
      if (own.body[i].kind == Step::Kind::Kernel) last = i;
    }
    return last;
  };
  const WorkloadKeys keys{{"model", "llama3-8b"},
                          {"gpu", "h100"},
                          {"efficiency", "0.5"},
                          {"data", "4"},
                          {"gradient_order", "forward"}};
  const hangs::Program program = made("ddp", keys);
  EXPECT_EQ(last_kernel(program.programs.front()), 1U);  // forward, backward, then calls alone
  WorkloadKeys wrong = keys;
  wrong["gradient_order"] = "sideways";
  const auto refused = make_workload("ddp", wrong);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().help.find("backward or forward"), std::string::npos);
}

// Backward does twice the operations of forward, whichever bucket they lie before; three times with recomputation, but
// for the output embedding.
TEST(Workload, BucketsShareBackwardOut) {
  for (const bool recomputes : {false, true}) {
    workload::Training training{
        .model = *find_transformer("llama3-8b"), .sequence = 2048, .batch = 2};
    training.recomputes = recomputes;
    double sum = 0;
    for (const workload::GradientTensor& one : workload::gradients_of(training)) sum += one.flops;
    const double layers = training.model.layers * training.layer_flops();
    EXPECT_NEAR(sum / (training.backward_times() * layers + 2 * training.head_flops()), 1, 1e-9);
  }
}

// Gathers and scatters of 1 ms, overlapped by layers of some 4 and 8: only the first gather and the last scatter are exposed.
TEST(Workload, ShardsOverlapTheLayers) {
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

// ZeRO's second stage: weights stay from forward to backward.
TEST(Workload, ShardsThatStayAreGatheredOnce) {
  WorkloadKeys keys{{"model", "llama3-8b"},
                    {"gpu", "h100"},
                    {"efficiency", "0.5"},
                    {"data", "8"},
                    {"sequence", "128"}};
  const hangs::Program third = made("fsdp", keys);
  keys["reshard"] = "no";
  const hangs::Program second = made("fsdp", keys);
  const hangs::RankProgram& own = second.programs.front();
  EXPECT_EQ(2 * elements(own, Op::AllGather), elements(third.programs.front(), Op::AllGather));
  EXPECT_EQ(elements(own, Op::ReduceScatter), elements(third.programs.front(), Op::ReduceScatter));
  EXPECT_NEAR(kernels(own), kernels(third.programs.front()), 1e-9);
}

/// Elements of one type that a rank gives to calls of one kind.
std::int64_t elements(const hangs::RankProgram& own, Op op, DataType type) {
  std::int64_t sum = 0;
  for (const Step& step : own.body) {
    if (step.kind == Step::Kind::Call && step.op == op && step.type == type) sum += step.count;
  }
  return sum;
}

WorkloadKeys mixtral(const char* data) {
  return {{"model", "mixtral-8x7b"}, {"gpu", "h100"}, {"efficiency", "0.5"},
          {"expert", "8"},           {"data", data},  {"gradients", "bfloat16"}};
}

// Dispatch and combine, forward and backward: each moves every token's hidden vector once for each of its top_k experts.
TEST(Workload, ExpertsGetEachTokenTopKTimesAndGiveItBack) {
  const hangs::RankProgram own = made("moe", mixtral("8")).programs.front();
  constexpr std::int64_t kTokens = 4096, kTopK = 2, kHidden = 4096, kLayers = 32;
  EXPECT_EQ(elements(own, Op::AllToAll), 4 * kLayers * kTokens * kTopK * kHidden);
  // DeepSeek-V3, 3.3.3: what is dispatched is FP8, what is combined BF16; one sequence a microbatch.
  const hangs::Program deep = made("moe", {{"model", "deepseek-v3"},
                                           {"gpu", "h100"},
                                           {"efficiency", "0.4"},
                                           {"expert", "64"},
                                           {"data", "64"},
                                           {"pipeline", "2"},
                                           {"microbatches", "2"},
                                           {"dispatch", "f8e4m3"}});
  // 61 layers: 31 in the first stage, three of them without experts; 30 in the second.
  constexpr std::int64_t kEach = 4096LL * 8 * 7168;
  EXPECT_EQ(elements(deep.programs.front(), Op::AllToAll, DataType::Float8E4m3),
            2 * 2 * 28 * kEach);
  EXPECT_EQ(elements(deep.programs.front(), Op::AllToAll, DataType::Bfloat16), 2 * 2 * 28 * kEach);
  EXPECT_EQ(elements(deep.programs.back(), Op::AllToAll, DataType::Bfloat16), 2 * 2 * 30 * kEach);
}

// GShard, Switch: an expert takes tokens x top_k / experts x factor, 2 x 4096 / 8 x 1.25 = 1280, and all is padded to that.
TEST(Workload, ACapacityPadsWhatGoesToTheExperts) {
  WorkloadKeys keys = mixtral("8");
  const double plain = kernels(made("moe", keys).programs.front());
  keys["capacity"] = "1.25";
  const hangs::RankProgram own = made("moe", keys).programs.front();
  EXPECT_EQ(elements(own, Op::AllToAll), 4LL * 32 * 8 * 1280 * 4096);
  const double experts = 3 * 32 * 4096.0 * 2 * 2 * 3 * 4096 * 14336 / (989e12 * 0.5);
  EXPECT_NEAR(kernels(own), plain + experts / 4, 1e-6);
}

// 6 operations a token and active weight (the embedding that is looked up has none), and attention's 6 l s h.
TEST(Workload, ExpertsOperationsFollowTheActiveWeights) {
  const TransformerShape model = *find_transformer("mixtral-8x7b");
  const double busy = kernels(made("moe", mixtral("8")).programs.front()) * 989e12 * 0.5;
  const double weights = model.active_weights() - 32000.0 * 4096;
  EXPECT_NEAR(busy / (4096 * (6 * weights + 6.0 * 32 * 4096 * 4096)), 1, 1e-3);
}

// The parameters that every rank has are reduced over all ranks, those of an expert over the ranks that have it: of 16
// ranks with 8 experts, two.
TEST(Workload, GradientsOfExpertsAreReducedWhereTheyAre) {
  const TransformerShape model = *find_transformer("mixtral-8x7b");
  const double common = 32 * model.common_weights() + 2.0 * 32000 * 4096;
  const auto reduced = [](const char* data) {
    return static_cast<double>(
        elements(made("moe", mixtral(data)).programs.front(), Op::AllReduce));
  };
  EXPECT_NEAR(reduced("8"), common, 1);
  EXPECT_NEAR(reduced("16"), common + 32 * model.expert_weights(), 2);
}

// Experts divide a stage's ranks, whatever their tensor parallelism: each rank sends its part of the tokens.
TEST(Workload, ExpertsDivideTensorParallelRanks) {
  WorkloadKeys keys = mixtral("4");
  keys["tensor"] = "2";
  keys["sequence_parallel"] = "yes";
  const hangs::Program program = made("moe", keys);
  EXPECT_EQ(elements(program.programs.front(), Op::AllToAll), 4LL * 32 * 4096 / 2 * 2 * 4096);
  for (const hangs::Group& group : program.groups) {
    if (group.desc != "EXPERT_PARALLEL_GROUP") continue;
    EXPECT_EQ(group.ranks.size(), 8U);
  }
}

WorkloadKeys serving(const char* tensor, const char* pipeline) {
  return {{"model", "llama3-70b"},    {"gpu", "h100"},    {"efficiency", "1"},
          {"memory_efficiency", "1"}, {"tensor", tensor}, {"pipeline", pipeline},
          {"prompt", "1000"},         {"tokens", "11"},   {"batch", "4"}};
}

// Megatron-LM, vLLM: two all-reduces a layer and the embedding's, of every token's hidden vector.
TEST(Workload, EachTokenIsReducedTwiceALayer) {
  const hangs::RankProgram own = made("inference", serving("8", "1")).programs.front();
  constexpr std::int64_t kFed = 4 * (1000 + 10);
  EXPECT_EQ(elements(own, Op::AllReduce), kFed * 8192 * (2 * 80 + 1));
  EXPECT_EQ(elements(own, Op::AllGather), 11LL * 4 * 128256 / 8);
}

// Decode reads all weights but the embedding's and what is cached: (70.55e9 - 1.05e9) x 2 B / 8 / 3.35 TB/s = 5.19 ms a
// token; the cache of 4 x 1005 tokens x 80 layers x 2 x 1024 channels x 2 B adds 0.05 ms. Prefill computes.
TEST(Workload, TokensTakeAsLongAsTheirWeightsTakeToBeRead) {
  const hangs::RankProgram own = made("inference", serving("8", "1")).programs.front();
  const TransformerShape model = *find_transformer("llama3-70b");
  const double weights = model.weights() - 128256.0 * 8192;
  const double decode =
      10 * 2 * weights / 8 / 3.35e12 + 4 * 80 * 2 * 1024 * 2.0 * (10 * 1000 + 45) / 8 / 3.35e12;
  const double layers = 80 * model.layer_weights();
  const double prefill = 4000 * (2 * layers + 2 * 80 * 1000.0 * 8192) / 8 / 989e12 +
                         2 * 128256.0 * 8192 / 8 / 3.35e12;  // the head's weights, for 4 tokens
  EXPECT_NEAR(kernels(own) / (decode + prefill), 1, 1e-3);
}

// Every microbatch passes every stage once a token, and the token goes back to the first one.
TEST(Workload, StagesPassActivationsOnAndTokensBack) {
  const hangs::Program program = made("inference", serving("2", "4"));
  const hangs::RankProgram& first = program.programs.front();
  EXPECT_EQ(elements(first, Op::Send, DataType::Bfloat16), 4LL * 4 * 1010 * 8192);
  EXPECT_EQ(elements(first, Op::Recv, DataType::Int64), 4 * 4 * 10);
  EXPECT_EQ(elements(program.programs.back(), Op::Send, DataType::Int64), 4 * 4 * 10);
  const hangs::PlayTimes times{
      .call = [](const Step&, const hangs::Group&) { return Nanoseconds{1}; }, .is_even = true};
  EXPECT_FALSE(hangs::play(program, {}, 1, times).is_hung());
}

TEST(Workload, RefusesWorkloadsThatDoNotFit) {
  const auto refusal = [](const char* kind, WorkloadKeys keys, const char* key, const char* value) {
    keys[key] = value;
    std::string at;
    const auto outline =
        make_workload(kind, keys, [&](std::string_view bad, const std::string& what, const auto&) {
          at = bad;
          return bad_key(bad, what, "");
        });
    return outline ? "accepted" : at + ": " + outline.error().message;
  };
  EXPECT_EQ(refusal("moe", mixtral("8"), "expert", "3").substr(0, 7), "expert:");
  EXPECT_EQ(refusal("moe", mixtral("12"), "zero", "no").substr(0, 7), "expert:");
  EXPECT_EQ(refusal("moe", mixtral("8"), "tensor", "2").substr(0, 7), "tensor:");
  EXPECT_EQ(refusal("moe", mixtral("8"), "model", "llama3-8b").substr(0, 6), "model:");
  EXPECT_EQ(refusal("moe", mixtral("8"), "top_k", "2").substr(0, 6), "top_k:");
  EXPECT_EQ(refusal("inference", serving("8", "1"), "model", "dbrx").substr(0, 6), "model:");
  EXPECT_EQ(refusal("inference", serving("8", "1"), "tokens", "60000").substr(0, 7), "tokens:");
  EXPECT_EQ(refusal("inference", serving("8", "1"), "gpu_memory", "1").substr(0, 11),
            "gpu_memory:");
  EXPECT_EQ(refusal("inference", serving("8", "1"), "prompts", "1").substr(0, 8), "prompts:");
}

}  // namespace
}  // namespace ringside
