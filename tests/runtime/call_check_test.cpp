#include "engine/runtime/watch/call_check.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "engine/flight/recorder.h"
#include "engine/runtime/communicator.h"
#include "engine/runtime/watch/call_board.h"
#include "tests/runtime/ranks.h"
#include "tests/support/fake_clock.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

constexpr std::int64_t kMost = 1 << 16;

/// Each rank makes `common` equal calls, and then its own call from `call`.
///
/// returns  the status by rank
std::vector<Status> run_all(int nranks, const CommunicatorOptions& options, int common,
                            const std::function<CollectiveCall(int rank)>& call) {
  const auto root = make_root(nranks);
  std::vector<Status> outcomes(static_cast<std::size_t>(nranks));
  run_ranks(first_ranks(nranks), [&](int rank) {
    auto made = runtime::Communicator::make(must_join(rank, nranks, root->id()), options);
    ASSERT_TRUE(made) << made.error().message;
    runtime::Communicator& communicator = **made;
    std::vector<double> input(kMost);
    std::vector<double> output(kMost);
    const auto with_buffers = [&](CollectiveCall one) {
      one.input = input.data();
      one.output = output.data();
      return one;
    };
    for (int i = 0; i < common; ++i) {
      ASSERT_TRUE(communicator.run(with_buffers({.count = 16})));
    }
    Status& outcome = outcomes[static_cast<std::size_t>(rank)];
    outcome = communicator.run(with_buffers(call(rank)));
    // A rank that receives nothing in its call may get the error in the next one.
    if (outcome) outcome = communicator.finish();
  });
  return outcomes;
}

/// Expects that every rank ends for the same reason, which contains all of `words` and is not a time-out.
void expect_reported(const std::vector<Status>& outcomes, const std::vector<std::string>& words) {
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    const Status& outcome = outcomes[rank];
    ASSERT_FALSE(outcome) << "rank " << rank;
    EXPECT_EQ(outcome.error().code, ErrorCode::InvalidArgument);
    for (const std::string& word : words) {
      EXPECT_NE(outcome.error().message.find(word), std::string::npos)
          << "rank " << rank << ", without '" << word << "': " << outcome.error().message;
    }
    EXPECT_EQ(outcome.error().message, outcomes.front().error().message);
  }
}

struct Way {
  const char* transport = "shm";
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
};

CommunicatorOptions options_of(const Way& way) {
  CommunicatorOptions options;
  options.host.transport = *parse_transport(way.transport);
  options.settings = {.algorithm = way.algorithm, .protocol = way.protocol};
  options.host.table_path = "";
  options.check_calls = true;
  return options;
}

// Rank 1 makes two calls, the others a third.
TEST(Desync, ATimeoutNamesTheLateRanksIfRequested) {
  for (const bool is_wanted : {true, false}) {
    const auto root = make_root(3);
    FlightSettings settings;
    settings.reports_desync = is_wanted;
    run_ranks(first_ranks(3), [&](int rank) {
      FlightRecorder recorder(settings, rank);
      CommunicatorOptions options = options_of({});
      options.op_timeout = Seconds{0.3};
      options.recorder = &recorder;
      auto made = runtime::Communicator::make(must_join(rank, 3, root->id()), options);
      ASSERT_TRUE(made) << made.error().message;
      int value = 1;
      const CollectiveCall call{
          .input = &value, .output = &value, .count = 1, .type = DataType::Int32};
      Status done;
      for (int i = 0; i < (rank == 1 ? 2 : 3) && done; ++i) done = (*made)->run(call);
      if (rank == 1) {
        while (!(*made)->async_error()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        done = (*made)->run(call);
      }
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, ErrorCode::Timeout) << done.error().message;
      EXPECT_EQ(done.error().message.find("ranks 0,2 have begun 3 of its calls, rank 1 has begun 2"
                                          " of its calls") != std::string::npos,
                is_wanted)
          << done.error().message;
    });
  }
}

class CallCheckOver : public testing::TestWithParam<Way> {
 protected:
  /// Rank 2 of 4 makes the call `odd` as its fourth call, all others `usual`.
  void expect_difference(const CollectiveCall& usual, const CollectiveCall& odd) {
    const auto outcomes =
        run_all(4, options_of(GetParam()), 3, [&](int rank) { return rank == 2 ? odd : usual; });
    expect_reported(outcomes, {"as call 4 ", to_string(signature_of(usual)),
                               "rank 2 called " + to_string(signature_of(odd))});
  }
};

TEST_P(CallCheckOver, AnotherCountIsReported) {
  expect_difference({.count = 1000}, {.count = 1001});
}

TEST_P(CallCheckOver, ACountThatNeedsAnotherNumberOfSlotsIsReported) {
  expect_difference({.count = kMost}, {.count = 100});
  expect_difference({.count = 100}, {.count = kMost});
}

TEST_P(CallCheckOver, NoElementsWhereOthersHaveSomeAreReported) {
  expect_difference({.count = 100}, {.count = 0});
}

// Both types have the same number of bytes: only the signature shows the difference.
TEST_P(CallCheckOver, AnotherTypeIsReported) {
  expect_difference({.count = 500, .type = DataType::Float32},
                    {.count = 500, .type = DataType::Int32});
}

TEST_P(CallCheckOver, AnotherOperationIsReported) {
  expect_difference({.count = 500, .type = DataType::Int32, .op = RedOp::Max},
                    {.count = 500, .type = DataType::Int32, .op = RedOp::Min});
}

// Only rank 2 continues as before; that is the difference.
TEST_P(CallCheckOver, ReportsARankThatRepeatsACall) {
  expect_difference({.count = 16, .type = DataType::Int32, .op = RedOp::Max}, {.count = 16});
}

INSTANTIATE_TEST_SUITE_P(Ways, CallCheckOver,
                         testing::Values(Way{"shm", Algorithm::Ring, Protocol::Simple},
                                         Way{"shm", Algorithm::Ring, Protocol::LL},
                                         Way{"shm", Algorithm::Tree, Protocol::LL128},
                                         Way{"shm", Algorithm::OneShot, Protocol::LL},
                                         Way{"shm", Algorithm::Nvls, Protocol::Simple},
                                         Way{"tcp", Algorithm::Ring, Protocol::Simple},
                                         Way{"tcp", Algorithm::Ring, Protocol::LL},
                                         Way{"tcp", Algorithm::Tree, Protocol::Simple}),
                         [](const auto& way) {
                           return std::string(way.param.transport) + "_" +
                                  to_string(way.param.algorithm) + "_" +
                                  to_string(way.param.protocol);
                         });

class CallCheckWith : public testing::TestWithParam<const Transport*> {
 protected:
  [[nodiscard]] static CommunicatorOptions options() {
    CommunicatorOptions options;
    options.host.transport = GetParam();
    options.host.table_path = "";
    options.check_calls = true;
    return options;
  }
  void expect_difference(const CollectiveCall& usual, const CollectiveCall& odd) {
    const auto outcomes =
        run_all(3, options(), 2, [&](int rank) { return rank == 1 ? odd : usual; });
    expect_reported(outcomes, {"as call 3 ", to_string(signature_of(usual)),
                               "rank 1 called " + to_string(signature_of(odd))});
  }
};

TEST_P(CallCheckWith, AnotherRootIsReported) {
  for (const Collective collective :
       {Collective::Broadcast, Collective::Reduce, Collective::Gather, Collective::Scatter}) {
    expect_difference({.collective = collective, .count = 100, .root = Rank{0}},
                      {.collective = collective, .count = 100, .root = Rank{2}});
  }
}

TEST_P(CallCheckWith, AnotherTypeInABroadcastIsReportedToItsRootToo) {
  expect_difference({.collective = Collective::Broadcast, .count = 64, .type = DataType::Float32},
                    {.collective = Collective::Broadcast, .count = 64, .type = DataType::Int32});
}

TEST_P(CallCheckWith, AnotherCollectiveIsReported) {
  expect_difference({.collective = Collective::AllReduce, .count = 300},
                    {.collective = Collective::AllGather, .count = 100});
  expect_difference({.collective = Collective::AllToAll, .count = 100},
                    {.collective = Collective::AllReduce, .count = 300});
}

TEST_P(CallCheckWith, OtherBlocksOfAnAllGatherVAreReported) {
  expect_difference({.collective = Collective::AllGatherV, .counts = {10, 20, 30}},
                    {.collective = Collective::AllGatherV, .counts = {20, 10, 30}});
}

TEST_P(CallCheckWith, TheEndsOfAMessageThatExpectAnotherLengthAreReported) {
  const auto outcomes = run_all(2, options(), 2, [](int rank) {
    CollectiveCall call{.collective = Collective::SendRecv};
    if (rank == 0) call.sends = {{.peer = Rank{1}, .offset = 0, .count = 100}};
    if (rank == 1) call.recvs = {{.peer = Rank{0}, .offset = 0, .count = 60}};
    return call;
  });
  expect_reported(outcomes,
                  {"message 1 to rank 1", "rank 0 sends 100 float", "rank 1 expects 60 float"});
}

TEST_P(CallCheckWith, TheEndsOfAMessageThatExpectAnotherTypeAreReported) {
  const auto outcomes = run_all(3, options(), 1, [](int rank) {
    return CollectiveCall{.collective = Collective::SendRecv,
                          .count = 100,
                          .type = rank == 1 ? DataType::Int32 : DataType::Float32};
  });
  expect_reported(outcomes, {"100 int32", "100 float"});
}

TEST_P(CallCheckWith, EqualCallsGiveNoError) {
  const int n = 3;
  const auto root = make_root(n);
  run_ranks(first_ranks(n), [&](int rank) {
    auto made = runtime::Communicator::make(must_join(rank, n, root->id()), options());
    ASSERT_TRUE(made) << made.error().message;
    std::vector<float> input(3000, 1.0F);
    std::vector<float> output(9000);
    for (int i = 0; i < 300; ++i) {
      const auto collective = static_cast<Collective>(i % 12);
      if (collective == Collective::Send || collective == Collective::Recv) continue;
      CollectiveCall call{.collective = collective,
                          .input = input.data(),
                          .output = output.data(),
                          .count = i * 3 % 1000,
                          .op = i % 2 == 0 ? RedOp::Sum : RedOp::PreMulSum,
                          .root = Rank{i % n}};
      // Each rank has its own factor, and some have a buffer in place.
      if (call.op == RedOp::PreMulSum) call.scalar = to_element(DataType::Float32, rank + 1);
      if (collective == Collective::AllReduce && rank == 1) call.input = call.output;
      if (collective == Collective::AllGatherV) call.counts = {i, 0, 5};
      const Status status = (*made)->run(call);
      ASSERT_TRUE(status) << i << ": " << status.error().message;
    }
    EXPECT_TRUE((*made)->finish());
  });
}

TEST_P(CallCheckWith, NoRankChecksIfOneRankDisablesIt) {
  const int n = 2;
  const auto root = make_root(n);
  run_ranks(first_ranks(n), [&](int rank) {
    CommunicatorOptions own = options();
    own.check_calls = rank != 1;
    auto made = runtime::Communicator::make(must_join(rank, n, root->id()), own);
    ASSERT_TRUE(made) << made.error().message;
    std::vector<float> data(16, 1.0F);
    const Status status = (*made)->run({.input = data.data(),
                                        .output = data.data(),
                                        .count = 16,
                                        .type = rank == 0 ? DataType::Float32 : DataType::Int32});
    EXPECT_TRUE(status) << status.error().message;
    EXPECT_TRUE((*made)->finish());
  });
}

INSTANTIATE_TEST_SUITE_P(Table, CallCheckWith, testing::ValuesIn(joining_transports()),
                         [](const auto& test) { return name_of(test); });

/// A check without a communicator, whose ranks may be assigned to invented hosts.
struct LoneCheck {
  std::unique_ptr<Bootstrap> bootstrap;
  ReportedCalls reported;
  std::mutex mutex;
  std::string heard;  ///< the finding of its thread
  std::unique_ptr<Watch> watch;
  std::unique_ptr<CallCheck> check;

  LoneCheck(int rank, int nranks, const UniqueId& id, const std::string& host, Clock& clock)
      : bootstrap(must_join(rank, nranks, id, clock)) {
    const Deadline deadline = deadline_in(kPlenty, clock);
    watch = *Watch::start(
        *bootstrap, [](const Error&) {},
        [this](Watch::Side from, std::uint64_t number, const CallSignature& call) {
          reported.note(from, number, call);
        });
    check = *CallCheck::make(*bootstrap, host, true, deadline, *watch, reported,
                             [this](const Error& why) {
                               const std::lock_guard lock(mutex);
                               heard = why.message;
                             });
  }

  std::string wait_to_hear() {
    Clock& clock = bootstrap->clock();
    for (const Deadline until = deadline_in(kPlenty, clock); !has_passed(until);) {
      {
        const std::lock_guard lock(mutex);
        if (!heard.empty()) return heard;
      }
      clock.sleep(std::chrono::milliseconds(100));
    }
    return "nothing";
  }
};

// Ranks 0 and 1 on one host, 2 and 3 on another: 1 and 2 report to each other, and so do 3 and 0.
TEST(CallCheckBetweenHosts, ARankThatCallsOtherwiseIsFoundByANeighbourElsewhere) {
  const int n = 4;
  FakeClock clock;
  const auto root = make_root(n, kPlenty, clock);
  std::vector<std::string> heard(n);
  const auto body = [&](int rank) {
    LoneCheck one(rank, n, root->id(), rank < 2 ? "a" : "b", clock);
    for (int i = 0; i < 10; ++i) one.check->begin({.count = 8});
    // The ranks of one host agree, so only the reports of the other host show it.
    one.check->begin({.count = rank < 2 ? 8 : 9});
    heard[static_cast<std::size_t>(rank)] = rank < 2 ? one.wait_to_hear() : "";
    ASSERT_TRUE(one.bootstrap->barrier());
    one.watch->goodbye();
    ASSERT_TRUE(one.bootstrap->barrier());
  };
  run_ranks(first_ranks(n), body, clock);
  EXPECT_NE(heard[0].find("as call 11 "), std::string::npos) << heard[0];
  EXPECT_NE(heard[0].find("rank 0 called all_reduce of 8 float sum, rank 3 called all_reduce of 9"),
            std::string::npos)
      << heard[0];
  EXPECT_NE(heard[1].find("rank 1 called all_reduce of 8 float sum, rank 2 called all_reduce of 9"),
            std::string::npos)
      << heard[1];
}

/// Rank 1 of two makes two calls and leaves; rank 0 makes the same calls, then `last`.
/// host    of rank 1; rank 0 is on host "a"
/// returns  the finding of rank 0, when rank 1 has left
std::string heard_of_leave(const std::string& host, const CollectiveCall& last) {
  FakeClock clock;
  const auto root = make_root(2, kPlenty, clock);
  std::string heard;
  const auto body = [&](int rank) {
    LoneCheck one(rank, 2, root->id(), rank == 0 ? "a" : host, clock);
    for (int i = 0; i < 2; ++i) one.check->begin({.count = 8});
    if (rank == 0) {
      one.check->begin(last);
      heard = one.wait_to_hear();
    } else {
      one.check->leave();
    }
    ASSERT_TRUE(one.bootstrap->barrier());
    one.watch->goodbye();
    ASSERT_TRUE(one.bootstrap->barrier());
  };
  run_ranks(first_ranks(2), body, clock);
  return heard;
}

TEST(CallCheckLeave, ARankThatLeavesIsNamedToARankInACallOnThisHostAndOnAnother) {
  for (const char* const host : {"a", "b"}) {
    EXPECT_EQ(
        heard_of_leave(host, {.count = 9}),
        "rank 1 has left the communicator after 2 calls: rank 0 waits for it in all_reduce of "
        "9 float sum")
        << host;
  }
}

TEST(CallCheckLeave, ARankThatLeavesIsNamedToARankThatWaitsForItsMessageOrSendsOne) {
  CollectiveCall call{.collective = Collective::SendRecv};
  call.recvs = {{.peer = Rank{1}, .offset = 0, .count = 4}};
  EXPECT_EQ(heard_of_leave("a", call),
            "rank 1 has left the communicator without sending message 1 to rank 0 (4 float)");
  std::swap(call.sends, call.recvs);
  EXPECT_EQ(heard_of_leave("a", call),
            "rank 1 has left the communicator without receiving message 1 of rank 0 (4 float)");
}

// Rank 0 sends three messages to rank 1, which receives two.
TEST(CallCheckLeave, MessagesThatWereNotReceivedAreCountedWhenAllHaveLeft) {
  FakeClock clock;
  const auto root = make_root(2, kPlenty, clock);
  std::array<UnreceivedMessages, 2> unreceived;
  const auto body = [&](int rank) {
    LoneCheck one(rank, 2, root->id(), "a", clock);
    CollectiveCall call{.collective = Collective::SendRecv};
    (rank == 0 ? call.sends : call.recvs) = {{.peer = Rank{1 - rank}, .offset = 0, .count = 4}};
    for (int i = 0; i < (rank == 0 ? 3 : 2); ++i) one.check->begin(call);
    one.check->leave();
    ASSERT_TRUE(one.bootstrap->barrier());
    unreceived.at(static_cast<std::size_t>(rank)) = one.check->unreceived();
    ASSERT_TRUE(one.bootstrap->barrier());
    one.watch->goodbye();
    ASSERT_TRUE(one.bootstrap->barrier());
  };
  run_ranks(first_ranks(2), body, clock);
  EXPECT_EQ(unreceived[0].sent, 1U);
  EXPECT_EQ(unreceived[0].missed, 0U);
  EXPECT_EQ(unreceived[1].sent, 0U);
  EXPECT_EQ(unreceived[1].missed, 1U);
}

// No rank is in a call, so none waits.
TEST(CallCheckLeave, RanksThatAllLeaveAfterTheSameCallsGiveNoError) {
  const auto root = make_root(3);
  run_ranks(first_ranks(3), [&](int rank) {
    CommunicatorOptions options;
    options.check_calls = true;
    auto made = runtime::Communicator::make(must_join(rank, 3, root->id()), options);
    ASSERT_TRUE(made) << made.error().message;
    float value = 1;
    ASSERT_TRUE((*made)->run({.input = &value, .output = &value, .count = 1}));
    // Longer than the interval between two comparisons: late ranks find that others have left already.
    if (rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(250));
    const Status done = (*made)->finish();
    EXPECT_TRUE(done) << done.error().message;
  });
}

// A virtual machine that was copied while it ran: its copy has the same name and boot id. Rank 1 does not see the
// abstract sockets of rank 0's host, although the two hosts have one id.
TEST(CallBoards, TwoHostsWithOneIdAreFoundAndGetTheFix) {
  const auto root = make_root(2);
  run_ranks(first_ranks(2), [&](int rank) {
    const auto bootstrap = must_join(rank, 2, root->id());
    if (rank == 1 && ::unshare(CLONE_NEWNET) != 0) {
      bootstrap->abort();
      GTEST_SKIP() << "no network of its own may be made here";
    }
    const auto board = CallBoard::make(*bootstrap, "twin/boot/net", true,
                                       deadline_in(std::chrono::milliseconds(800)));
    ASSERT_FALSE(board);
    if (rank != 1) return;
    EXPECT_NE(board.error().message.find("rank 1 does not reach rank 0 within their host"),
              std::string::npos)
        << board.error().message;
    EXPECT_NE(board.error().help.find("NCCL_HOSTID"), std::string::npos);
  });
}

}  // namespace
}  // namespace ringside
