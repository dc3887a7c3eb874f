#include "study/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::study {
namespace {

using testing::HasSubstr;

SimQuestion on_two_dgx_h100(const std::string& collective, const std::string& sizes) {
  return {.job = {.on = "dgx-h100", .nodes = 2},
          .calls = {.collective = collective, .sizes = sizes}};
}

std::string refusal(const SimQuestion& question) {
  const Result<SimPlan> plan = plan_simulation(question);
  return plan ? "accepted" : plan.error().message + ": " + plan.error().help;
}

// 2 nodes with 8 NICs of 48 GB/s each: no ring can carry more than 8 x 48 GB/s.
TEST(Simulation, ACallHasItsTimeAndTheLinkThatLimitsIt) {
  SimQuestion question = on_two_dgx_h100("all_reduce", "4M");
  question.algorithm = "ring";
  question.protocol = "simple";
  const Result<SimPlan> plan = plan_simulation(question);
  ASSERT_TRUE(plan) << plan.error().message;
  const Result<SimCall> call = tune_call(*plan, plan->calls.sizes[0]);
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->tuned.choice.algorithm, Algorithm::Ring);
  EXPECT_EQ(call->tuned.choice.protocol, Protocol::Simple);
  const Result<SimRow> row = simulate_call(*plan, *call);
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_GT(row->busbw.value, 0);
  EXPECT_LE(in_gbs(row->busbw), 8 * 48.0);
  // For an all-reduce among 16 ranks, busbw is 2 x 15 / 16 of algbw.
  EXPECT_DOUBLE_EQ(row->busbw.value, row->algbw.value * 1.875);
  ASSERT_TRUE(row->busiest);
  EXPECT_GT(row->busy_share(), 0);
  EXPECT_LE(row->busy_share(), 1);
}

// NCCL's sockets do not use GPUDirect: data that leave a GPU pass its CPU.
TEST(Simulation, SocketsGoThroughTheHostsMemory) {
  SimQuestion question = on_two_dgx_h100("all_reduce", "4M");
  question.net = "tcp";
  const Result<SimPlan> plan = plan_simulation(question);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->job.shape().graph(GraphId::Ring).type_inter, PathType::Pxn);
  question.job.hosts.gdr = true;
  EXPECT_THAT(refusal(question), HasSubstr("GPUDirect RDMA with --net tcp"));
}

// NCCL_P2P_LL_THRESHOLD allows LL; connections to other hosts have no buffers for it.
TEST(Simulation, SmallExchangesWithinAHostAreByLl) {
  const auto protocol = [](int nodes, const char* size) {
    SimQuestion question = on_two_dgx_h100("all_to_all", size);
    question.job.nodes = nodes;
    const SimPlan plan = plan_simulation(question).value();
    return tune_call(plan, plan.calls.sizes[0])->tuned.choice.protocol;
  };
  EXPECT_EQ(protocol(1, "8K"), Protocol::LL);
  EXPECT_EQ(protocol(1, "64M"), Protocol::Simple);
  EXPECT_EQ(protocol(2, "8K"), Protocol::Simple);
}

// A chain of eight fills once for all calls of a loop; an all-reduce needs every rank's data each time.
TEST(Simulation, CallsOfALoopOverlapAlongAChain) {
  const auto simulated = [](const char* collective, const char* size, bool is_in_loop) {
    SimQuestion question = on_two_dgx_h100(collective, size);
    question.job.nodes = 1;
    question.is_in_loop = is_in_loop;
    const SimPlan plan = plan_simulation(question).value();
    return simulate_call(plan, tune_call(plan, plan.calls.sizes[0]).value()).value();
  };
  for (const char* size : {"8K", "1M", "256M"}) {
    const SimRow alone = simulated("broadcast", size, false);
    const SimRow loop = simulated("broadcast", size, true);
    EXPECT_GT(loop.overlap, Seconds{}) << size;
    EXPECT_DOUBLE_EQ((loop.result.time + loop.overlap).count(), alone.result.time.count()) << size;
    EXPECT_GE(loop.result.time, loop.result.busiest) << size;
  }
  EXPECT_LT(simulated("broadcast", "8K", true).result.time,
            0.7 * simulated("broadcast", "8K", false).result.time);
  EXPECT_EQ(simulated("all_reduce", "8K", true).overlap, Seconds{});
}

// The error of NCCL's own model is not the error of the simulation.
TEST(Simulation, TheModelHasItsOwnError) {
  SimQuestion question = on_two_dgx_h100("all_reduce", "4M");
  const auto error_of = [](const SimQuestion& asked) {
    const SimPlan plan = plan_simulation(asked).value();
    return simulate_call(plan, tune_call(plan, plan.calls.sizes[0]).value())->error_percent;
  };
  const double simulated = error_of(question);
  question.fidelity = "model";
  EXPECT_GT(error_of(question), simulated);
}

// 1000 B are the gathered result of 16 ranks: 62.5 B each, 15 whole floats, 16 x 60 B in all.
TEST(Simulation, ASizeIsRoundedDownToWholeElementsOfEachRank) {
  const Result<SimPlan> plan = plan_simulation(on_two_dgx_h100("all_gather", "1000"));
  ASSERT_TRUE(plan) << plan.error().message;
  const Result<SimCall> call = tune_call(*plan, plan->calls.sizes[0]);
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->shape.count, 15);
  EXPECT_EQ(call->bytes, 960_B);
}

TEST(Simulation, AskedChannelsAreTaken) {
  SimQuestion question = on_two_dgx_h100("all_reduce", "1M");
  question.channels = 3;
  const Result<SimPlan> plan = plan_simulation(question);
  ASSERT_TRUE(plan) << plan.error().message;
  const Result<SimCall> call = tune_call(*plan, 1_MiB);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->tuned.choice.nchannels, 3);
  question.channels = 1000;
  EXPECT_THAT(refusal(question), HasSubstr("--channels 1000: this job has "));
}

TEST(Simulation, RefusesUnsupportedRequests) {
  EXPECT_THAT(refusal(on_two_dgx_h100("send", "1M")), HasSubstr("simulate send_recv"));
  SimQuestion traced = on_two_dgx_h100("all_reduce", "1M:4M");
  traced.trace = "/tmp/never.rtrace";
  EXPECT_THAT(refusal(traced), HasSubstr("a trace holds one simulation"));
  SimQuestion forced = on_two_dgx_h100("all_to_all", "1M");
  forced.algorithm = "ring";
  EXPECT_THAT(refusal(forced), HasSubstr("made of sends and receives"));
  SimQuestion fidelity = on_two_dgx_h100("all_reduce", "1M");
  fidelity.fidelity = "chnuk";
  EXPECT_THAT(refusal(fidelity), HasSubstr("did you mean 'chunk'?"));
}

TEST(Simulation, TheBestRowHasTheMostBusbwAndItsLimitIsNamed) {
  std::vector<SimRow> rows(3);
  rows[1].busbw = {2e9};
  rows[2].busbw = {1e9};
  EXPECT_EQ(&best_of(rows), &rows[1]);
  rows[1].result.time = Seconds{4};
  rows[1].result.busiest = Seconds{1};
  EXPECT_EQ(limit_of(rows[1]), "not known");
  // 512 KiB take 524 us at 1 GB/s: a step of 1 ms is not ten times as long, one of 6 ms is.
  rows[1].busiest = SimLink{{1e9}, "a wire"};
  rows[1].call.bytes = Bytes{16 << 20};
  rows[1].call.tuned.choice.chunk = Bytes{512 << 10};
  rows[1].call.tuned.costs.step = {Seconds{1e-3}, Seconds{2e-3}, Seconds{3e-3}};
  EXPECT_EQ(limit_of(rows[1]), "steps");
  rows[1].call.tuned.costs.step = {Seconds{6e-3}, Seconds{7e-3}, Seconds{8e-3}};
  EXPECT_EQ(limit_of(rows[1]), "latency");
  rows[1].result.busiest = Seconds{3};
  EXPECT_EQ(limit_of(rows[1]), "bandwidth");
  rows[1].path_limit = "latency of steps over NVLink";
  EXPECT_EQ(limit_of(rows[1]), "latency of steps over NVLink");
  rows[1].is_alone = true;
  EXPECT_EQ(limit_of(rows[1]), "launch");
}

TEST(Simulation, AnAllGatherOfUnequalBlocksGoesByRingWhateverIsFasterForEqualOnes) {
  SimQuestion question;
  question.job.on = "gh200";
  question.job.nodes = 5;
  question.calls = {.collective = "all_gather_v", .sizes = "1M"};
  question.fidelity = "event";
  const auto plan = plan_simulation(question);
  ASSERT_TRUE(plan) << plan.error().message;
  auto call = tune_call(*plan, plan->calls.sizes.front());
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->tuned.choice.algorithm, Algorithm::Ring);
  EXPECT_TRUE(simulate_call(*plan, *std::move(call)));
}

}  // namespace
}  // namespace ringside::study
