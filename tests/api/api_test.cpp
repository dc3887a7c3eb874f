#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "ringside/audit.h"
#include "ringside/collectives.h"
#include "ringside/communicator.h"
#include "ringside/hang.h"
#include "ringside/simulate.h"
#include "ringside/topology.h"
#include "ringside/trace_reader.h"
#include "ringside/trace_writer.h"
#include "ringside/tuning.h"

namespace ringside {
namespace {

std::string own_path(const std::string& name) {
  return testing::TempDir() + "/" + std::to_string(::getpid()) + name;
}

TEST(Api, EachQuestionThatCannotBeAnsweredIsAnErrorWithAReason) {
  const JobRequest unknown{.on = "no-such-host"};
  EXPECT_EQ(load_topology(unknown).error().code, ErrorCode::NotFound);
  EXPECT_EQ(choose_algorithms({.job = unknown, .sizes = {1_MiB}}).error().code,
            ErrorCode::NotFound);
  EXPECT_EQ(simulate({.job = unknown, .sizes = {1_MiB}}).error().code, ErrorCode::NotFound);
  EXPECT_EQ(simulate({.job = {.on = "dgx-h100"}, .sizes = {}}).error().code,
            ErrorCode::InvalidArgument);
  EXPECT_EQ(simulate({.job = {.on = "dgx-h100"}, .sizes = {8_B, 1_MiB}, .trace = "t"}).error().code,
            ErrorCode::InvalidArgument);
  EXPECT_EQ(audit_logs({"/no/such/log"}).error().code, ErrorCode::NotFound);
  EXPECT_EQ(examine_hang({}).error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(examine_hang({"/no/such/dump"}).error().code, ErrorCode::NotFound);
  EXPECT_EQ(TraceFile::open("/no/such/trace").error().code, ErrorCode::NotFound);
  EXPECT_EQ(TraceWriter::create("/no/such/folder/trace", {}).error().code, ErrorCode::System);
  EXPECT_EQ(list_steps({.ranks = 4}, 4).error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(prove_collective({.ranks = 0}).error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(prove_collective({.collective = Collective::Broadcast, .algorithm = Algorithm::Tree})
                .error()
                .code,
            ErrorCode::Unsupported);
}

TEST(Api, ARingOfFourProvesItsTraffic) {
  const auto proof = prove_collective({.ranks = 4, .channels = 2, .count = 1 << 20});
  ASSERT_TRUE(proof) << proof.error().message;
  ASSERT_EQ(proof->traffic.size(), 4U);
  // Each rank sends 2 x (4 - 1) chunks of a quarter.
  for (const RankTraffic& one : proof->traffic) EXPECT_EQ(one.elements, 2 * 3 * (1 << 20) / 4);
}

TEST(Api, TheRanksOfAnNvlsCallNameTheMembersOfTheirSwitch) {
  const auto steps = list_steps({.algorithm = Algorithm::Nvls, .ranks = 4}, 0);
  ASSERT_TRUE(steps) << steps.error().message;
  bool has_group = false;
  for (const CollectiveStep& step : *steps)
    has_group |= step.to.size() == 4 || step.from.size() == 4;
  EXPECT_TRUE(has_group);
}

TEST(Api, AllCallsOfACommunicatorMoveTheirData) {
  const auto id = CommunicatorId::make();
  ASSERT_TRUE(id) << id.error().message;
  const auto run_rank = [&](int rank) {
    auto ranks = Communicator::join(*id, 2, rank);
    ASSERT_TRUE(ranks) << ranks.error().message;
    EXPECT_EQ(ranks->rank(), rank);
    EXPECT_EQ(ranks->nranks(), 2);
    std::vector<int> block{rank + 1, rank + 2};
    std::vector<int> all(4);
    EXPECT_TRUE(ranks->all_gather(block, all));
    EXPECT_EQ(all, (std::vector<int>{1, 2, 2, 3}));
    EXPECT_TRUE(ranks->reduce_scatter(all, block, RedOp::Max));
    EXPECT_EQ(block, (rank == 0 ? std::vector<int>{1, 2} : std::vector<int>{2, 3}));
    EXPECT_TRUE(ranks->broadcast(block, 1));
    EXPECT_EQ(block, (std::vector<int>{2, 3}));
    EXPECT_TRUE(ranks->run(rank == 0 ? Collective::Send : Collective::Recv, all.data(),
                           block.data(), 2, DataType::Int32, {.root = 1 - rank}));
    EXPECT_EQ(block, (rank == 0 ? std::vector<int>{2, 3} : std::vector<int>{1, 2}));
    const auto refused =
        ranks->run(Collective::AllGatherV, all.data(), all.data(), 1, DataType::Int32);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
    const auto grouped =
        ranks->run(Collective::SendRecv, all.data(), all.data(), 1, DataType::Int32);
    EXPECT_EQ(grouped.error().code, ErrorCode::Unsupported);
    const auto no_root =
        ranks->run(Collective::Broadcast, all.data(), all.data(), 1, DataType::Int32, {.root = 2});
    EXPECT_EQ(no_root.error().code, ErrorCode::InvalidArgument);
    EXPECT_TRUE(ranks->finish());
  };
  const std::jthread other(run_rank, 1);
  run_rank(0);
}

TEST(Api, ATraceOfASimulationIsReadBack) {
  const std::string path = own_path("api.rtrace");
  const auto calls =
      simulate({.job = {.on = "dgx-h100"}, .sizes = {64_KiB}, .fidelity = "event", .trace = path});
  ASSERT_TRUE(calls) << calls.error().message;
  EXPECT_GT(calls->front().busbw.value, 0);
  const auto file = TraceFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_GT(file->counts().events, 0U);
  ::unlink(path.c_str());
}

TEST(Api, CallsThatAreStartedReportTheirEndAndMessagesOfOneStartDoNotBlockEachOther) {
  const auto id = CommunicatorId::make();
  ASSERT_TRUE(id) << id.error().message;
  const auto run_rank = [&id](int rank) {
    auto ranks = Communicator::join(*id, 2, rank);
    ASSERT_TRUE(ranks) << ranks.error().message;
    std::vector<int> sent(1 << 20, rank);  // more than the connection holds
    std::vector<int> received(1 << 20, -1);
    std::vector<int> mine(static_cast<std::size_t>(rank + 1), rank);
    std::vector<int> blocks(3, -1);
    int ends = 0;
    const auto count_end = [&ends](const Status& done) { ends += done ? 1 : 0; };
    const CallOptions peer{.root = 1 - rank};
    const std::uint64_t messages = ranks->start(
        {{Collective::Send, sent.data(), nullptr, sent.size(), DataType::Int32, peer},
         {Collective::Recv, nullptr, received.data(), received.size(), DataType::Int32, peer}},
        count_end);
    const std::uint64_t gather = ranks->start({{Collective::AllGatherV,
                                                mine.data(),
                                                blocks.data(),
                                                mine.size(),
                                                DataType::Int32,
                                                {.counts = {1, 2}}}},
                                              count_end);
    ranks->wait(gather);
    ranks->wait(messages);
    EXPECT_EQ(ends, 2);
    EXPECT_EQ(received.back(), 1 - rank);
    EXPECT_EQ(blocks, (std::vector<int>{0, 1, 1}));
    MessageRecord record = ranks->record_message(
        {Collective::Send, nullptr, nullptr, 1, DataType::Int32, {.root = 1 - rank}});
    record.end(true);
    EXPECT_TRUE(ranks->status());
    EXPECT_TRUE(ranks->finish());
  };
  const std::jthread other(run_rank, 1);
  run_rank(0);
}

TEST(Api, AnAbortEndsTheCallOfTheOtherRankWithItsReason) {
  const auto id = CommunicatorId::make();
  ASSERT_TRUE(id) << id.error().message;
  const std::jthread other([&id] {
    auto ranks = Communicator::join(*id, 2, 1);
    ASSERT_TRUE(ranks) << ranks.error().message;
    ranks->abort({ErrorCode::Aborted, "the program gave up"});
  });
  auto ranks = Communicator::join(*id, 2, 0);
  ASSERT_TRUE(ranks) << ranks.error().message;
  std::vector<int> data(4, 1);
  const auto ended = ranks->all_reduce(data);
  ASSERT_FALSE(ended);
  EXPECT_NE(ended.error().message.find("the program gave up"), std::string::npos);
  ASSERT_FALSE(ranks->status());
  EXPECT_EQ(ranks->status().error().message, ended.error().message);
}

}  // namespace
}  // namespace ringside
