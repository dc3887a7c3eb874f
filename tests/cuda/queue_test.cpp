// Tests calls that do not wait: several under way, in one launch or one after the other, ordered with a stream, in
// graphs. Ranks are threads, each with fibres of its own.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <latch>
#include <numeric>

#include "engine/cuda/device/call_ranges.h"
#include "engine/cuda/process_executor.h"
#include "engine/runtime/call_group.h"
#include "engine/runtime/communicator.h"
#include "tests/cuda/device_under_test.h"
#include "tests/cuda/fake_queue.h"
#include "tests/runtime/ranks.h"
#include "trace/recorder.h"
#include "trace/sink.h"

namespace ringside {
namespace {

constexpr int kPair = 2;

struct QueueOptions {
  const char* transport = "";
  Seconds op_timeout{20};
  bool has_trace = false;
  int dead_rank = -1;
};

/// One rank's part of a test.
class QueueRank {
 public:
  QueueRank(int number, std::unique_ptr<DeviceUnderTest> on, std::unique_ptr<TraceRecorder> into)
      : rank(number), device(std::move(on)), trace(std::move(into)) {}

  [[nodiscard]] FakeQueue& queue() const { return dynamic_cast<FakeQueue&>(device->queue()); }

  /// Returns device memory in which each element has this value.
  std::int32_t* numbers(std::int64_t count, std::int32_t value = 0) {
    auto* const all = reinterpret_cast<std::int32_t*>(
        *device->launcher().memory.take(Bytes{static_cast<std::uint64_t>(count) * 4}));
    std::fill_n(all, count, value);
    return all;
  }

  const int rank;
  std::unique_ptr<DeviceUnderTest> device;
  std::unique_ptr<TraceRecorder> trace;
  std::unique_ptr<runtime::Communicator> communicator;
};

void with_queues(const QueueOptions& options, const std::function<void(QueueRank& rank)>& body) {
  const auto root = make_root(kPair);
  run_ranks(first_ranks(kPair), [&](int number) {
    std::unique_ptr<TraceRecorder> trace;
    if (options.has_trace) {
      trace = *TraceRecorder::start(std::make_shared<TraceMemorySink>(),
                                    this_process_info(TraceClock::HostMonotonic));
    }
    QueueRank rank(number, *make_device({.has_others = true, .number = number}), std::move(trace));
    rank.device->dead_rank = options.dead_rank;
    CommunicatorOptions own;
    own.op_timeout = options.op_timeout;
    own.connect_timeout = Seconds{20};
    own.trace = rank.trace.get();
    const Transport* transport = nullptr;
    if (*options.transport != 0) transport = *parse_transport(options.transport);
    const auto make = [&](const ExecutorSetup& setup) {
      const DeviceLauncher launcher = rank.device->launcher();
      const CudaDevice device{.memory = &launcher.memory,
                              .control = launcher.control,
                              .multiprocessors = 64,
                              .queue = &rank.device->queue()};
      return make_cuda_process_executor(device, {.transport = transport}, setup);
    };
    auto made = runtime::Communicator::make(must_join(number, kPair, root->id()), own, make);
    ASSERT_TRUE(made) << made.error().message;
    rank.communicator = *std::move(made);
    body(rank);
    rank.communicator.reset();
  });
}

CollectiveCall sum(const std::int32_t* input, std::int32_t* output, std::int64_t count) {
  CollectiveCall call;
  call.type = DataType::Int32;
  call.input = input;
  call.output = output;
  call.count = count;
  return call;
}

/// Returns whether every element has this value.
testing::AssertionResult are(const std::int32_t* all, std::int64_t count, std::int32_t value) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (all[i] != value) {
      return testing::AssertionFailure()
             << "element " << i << " is " << all[i] << ", not " << value;
    }
  }
  return testing::AssertionSuccess();
}

TEST(CudaQueue, CallsOfAGroupAreOneLaunchWhateverTheirLengths) {
  with_queues({}, [](QueueRank& rank) {
    for (const int count : {1, 7, 50}) {
      std::vector<CollectiveCall> calls;
      for (int i = 0; i < count; ++i) {
        // Up to 30 KB with LL and one_shot, and with LL on a ring.
        const std::int64_t length = 1 + i * 37 % 1500;
        calls.push_back(
            sum(rank.numbers(length, 10 * i + rank.rank), rank.numbers(length), length));
      }
      // The first call connects, which separates them.
      ASSERT_TRUE(rank.communicator->run_all(calls));
      rank.queue().launches.clear();
      for (const CollectiveCall& call : calls) {
        std::fill_n(static_cast<std::int32_t*>(call.output), call.count, -1);
      }
      ASSERT_TRUE(rank.communicator->run_all(calls));
      EXPECT_EQ(rank.queue().launches.size(), 1U);
      EXPECT_EQ(rank.queue().launches.front().works, count);
      for (int i = 0; i < count; ++i) {
        const CollectiveCall& call = calls[static_cast<std::size_t>(i)];
        ASSERT_TRUE(are(static_cast<std::int32_t*>(call.output), call.count, 20 * i + 1)) << i;
      }
    }
    ASSERT_TRUE(rank.communicator->finish());
  });
}

// The sum is 1 + 2, then that of both ranks, and so on: each launch waits for the one before.
TEST(CudaQueue, ACallThatReadsWhatAnotherWritesIsInTheNextLaunch) {
  with_queues({}, [](QueueRank& rank) {
    constexpr std::int64_t kLength = 3000;
    std::int32_t* const input = rank.numbers(kLength, 1 + rank.rank);
    std::int32_t* const output = rank.numbers(kLength);
    const std::vector<CollectiveCall> calls{
        sum(input, output, kLength), sum(output, output, kLength), sum(output, output, kLength)};
    for (int i = 0; i < 3; ++i) {
      rank.queue().launches.clear();
      ASSERT_TRUE(rank.communicator->run_all(calls));
      EXPECT_EQ(rank.queue().launches.size(), 3U);
      EXPECT_TRUE(are(output, kLength, 12));
    }
    ASSERT_TRUE(rank.communicator->finish());
  });
}

TEST(CudaQueue, AnotherKernelIsAnotherLaunchInItsOrder) {
  with_queues({}, [](QueueRank& rank) {
    std::int32_t* const all = rank.numbers(200);
    CollectiveCall gather = sum(rank.numbers(100, 5 + rank.rank), all, 100);
    gather.collective = Collective::AllGather;
    const std::vector<CollectiveCall> calls{sum(rank.numbers(100, 1), rank.numbers(100), 100),
                                            gather, sum(all, rank.numbers(200), 200),
                                            sum(rank.numbers(100, 2), rank.numbers(100), 100)};
    for (int i = 0; i < 2; ++i) {
      rank.queue().launches.clear();
      ASSERT_TRUE(rank.communicator->run_all(calls));
    }
    EXPECT_EQ(rank.queue().launches.size(), 3U);
    const auto* const sums = static_cast<std::int32_t*>(calls[2].output);
    EXPECT_TRUE(are(sums, 100, 10));
    EXPECT_TRUE(are(sums + 100, 100, 12));
    EXPECT_TRUE(are(static_cast<std::int32_t*>(calls[3].output), 100, 4));
    ASSERT_TRUE(rank.communicator->finish());
  });
}

class CudaStreams : public testing::TestWithParam<const char*> {};

// Work that is on the stream before the call writes its input late; work after it reads its output.
TEST_P(CudaStreams, ACallIsOrderedWithItsStreamsWork) {
  with_queues({.transport = GetParam()}, [](QueueRank& rank) {
    constexpr std::int64_t kLength = 2000;
    FakeStream stream;
    std::int32_t* const input = rank.numbers(kLength);
    std::int32_t* const output = rank.numbers(kLength);
    ASSERT_TRUE(rank.communicator->run(sum(input, output, kLength)));  // connects
    for (int round = 1; round < 4; ++round) {
      std::latch gate(1);
      std::int32_t seen = 0;
      stream.push([&] {
        gate.wait();
        std::fill_n(input, kLength, round);
      });
      ASSERT_TRUE(rank.communicator->enqueue({sum(input, output, kLength)}, DeviceStream{&stream}));
      stream.push([&] { seen = output[kLength - 1]; });
      EXPECT_EQ(seen, 0);  // no call has waited for it
      gate.count_down();
      stream.synchronize();
      EXPECT_EQ(seen, 2 * round);
      EXPECT_FALSE(rank.communicator->async_error());
    }
    ASSERT_TRUE(rank.communicator->finish());
  });
}

// There are more calls than the cache of plans holds, all of them behind a blocked stream: evicted plans are kept
// until then.
TEST_P(CudaStreams, ManyCallsAreUnderWay) {
  with_queues({.transport = GetParam()}, [](QueueRank& rank) {
    FakeStream stream;
    std::latch gate(1);
    stream.push([&] { gate.wait(); });
    std::vector<CollectiveCall> calls;
    ASSERT_TRUE(rank.communicator->run(sum(rank.numbers(8, 1), rank.numbers(8), 8)));
    for (std::int64_t i = 0; i < 80; ++i) {
      calls.push_back(sum(rank.numbers(i + 1, static_cast<int>(i)), rank.numbers(i + 1), i + 1));
      ASSERT_TRUE(rank.communicator->enqueue({calls.back()}, DeviceStream{&stream}));
    }
    gate.count_down();
    ASSERT_TRUE(rank.communicator->finish());
    for (const CollectiveCall& call : calls) {
      EXPECT_TRUE(are(static_cast<std::int32_t*>(call.output), call.count,
                      2 * static_cast<std::int32_t>(call.count - 1)));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, CudaStreams, testing::Values("", "tcp"), [](const auto& test) {
  return std::string(*test.param == 0 ? "Pages" : "Proxies");
});

TEST(CudaStreams, AGroupOfOneThreadWithBothRanksDoesNotDeadlock) {
  std::array<QueueRank*, kPair> ranks{};
  std::latch are_made(kPair), is_done(1);
  with_queues({}, [&](QueueRank& rank) {
    ranks.at(static_cast<std::size_t>(rank.rank)) = &rank;
    are_made.arrive_and_wait();
    if (rank.rank == 0) {
      std::array<FakeStream, kPair> streams;
      for (int round = 0; round < 2; ++round) {
        CallGroup group;
        std::vector<CollectiveCall> calls;
        for (std::size_t i = 0; i < 2 * kPair; ++i) {
          QueueRank& own = *ranks.at(i % kPair);
          calls.push_back(sum(own.numbers(100, static_cast<int>(i)), own.numbers(100), 100));
          group.add(*own.communicator, DeviceStream{&streams.at(i % kPair)}, calls.back());
        }
        ASSERT_TRUE(group.launch());
        for (FakeStream& stream : streams) stream.synchronize();
        // 0 + 1 and 2 + 3
        for (std::size_t i = 0; i < calls.size(); ++i) {
          EXPECT_TRUE(are(static_cast<std::int32_t*>(calls[i].output), 100, i < kPair ? 1 : 5));
        }
      }
      is_done.count_down();
    }
    is_done.wait();
    ASSERT_TRUE(rank.communicator->finish());
  });
}

TEST(CudaGraphs, ACapturedCallRunsAtEachLaunchOfTheGraph) {
  with_queues({}, [](QueueRank& rank) {
    constexpr std::int64_t kLength = 500;
    FakeStream stream;
    std::int32_t* const input = rank.numbers(kLength, 1);
    std::int32_t* const output = rank.numbers(kLength);
    const std::vector<CollectiveCall> calls{sum(input, output, kLength),
                                            sum(output, input, kLength)};
    ASSERT_TRUE(rank.communicator->run_all(calls));  // 2, then 4 of both
    ASSERT_TRUE(are(input, kLength, 4));
    stream.begin_capture();
    ASSERT_TRUE(rank.communicator->enqueue(calls, DeviceStream{&stream}));
    const FakeStream::Graph graph = stream.end_capture();
    EXPECT_EQ(graph.size(), 2U);
    EXPECT_TRUE(are(input, kLength, 4));
    // Calls that have been planned since then do not evict it.
    for (std::int64_t i = 0; i < 70; ++i) {
      ASSERT_TRUE(rank.communicator->run(sum(rank.numbers(i + 1, 1), rank.numbers(i + 1), i + 1)));
    }
    for (int i = 0; i < 5; ++i) stream.launch(graph);
    stream.synchronize();
    EXPECT_TRUE(are(input, kLength, 4 << 10));
    // Other calls run between them.
    ASSERT_TRUE(rank.communicator->run(sum(input, output, kLength)));
    EXPECT_TRUE(are(output, kLength, 8 << 10));
    stream.launch(graph);
    ASSERT_NO_FATAL_FAILURE(stream.synchronize());
    EXPECT_TRUE(are(input, kLength, 16 << 10));
    ASSERT_TRUE(rank.communicator->finish());
  });
}

/// Expects the error that a captured call returns.
void expect_refusal(const QueueOptions& options, bool connects, const std::string& help) {
  with_queues(options, [&](QueueRank& rank) {
    FakeStream stream;
    const CollectiveCall call = sum(rank.numbers(10, 3), rank.numbers(10), 10);
    if (connects) {
      ASSERT_TRUE(rank.communicator->run(call));
    }
    stream.begin_capture();
    const Status refused = rank.communicator->enqueue({call}, DeviceStream{&stream});
    EXPECT_TRUE(stream.end_capture().empty());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
    EXPECT_NE(refused.error().help.find(help), std::string::npos) << refused.error().help;
    // The communicator still works afterwards.
    ASSERT_TRUE(rank.communicator->run(call));
    EXPECT_TRUE(are(static_cast<std::int32_t*>(call.output), 10, 6));
    ASSERT_TRUE(rank.communicator->finish());
  });
}

TEST(CudaGraphs, RefusesUnsupportedCallsAndNamesTheFix) {
  expect_refusal({}, false, "make the call once before cudaStreamBeginCapture()");
  expect_refusal({.transport = "tcp"}, true, "outside of graphs");
  expect_refusal({.has_trace = true}, true, "record no trace");
}

// Rank 1's blocks are missing: no call waits for the graph, but a caller that asks gets the error.
TEST(CudaGraphs, AFailureInOneIsReportedToACallerThatAsks) {
  std::latch is_reported(1);
  with_queues({.op_timeout = Seconds{0.3}}, [&](QueueRank& rank) {
    FakeStream stream;
    const CollectiveCall call = sum(rank.numbers(10, 3), rank.numbers(10), 10);
    ASSERT_TRUE(rank.communicator->run(call));
    stream.begin_capture();
    ASSERT_TRUE(rank.communicator->enqueue({call}, DeviceStream{&stream}));
    const FakeStream::Graph graph = stream.end_capture();
    EXPECT_FALSE(rank.communicator->async_error());
    rank.device->dead_rank = 1;
    stream.launch(graph);
    stream.synchronize();
    if (rank.rank == 1) {
      is_reported.wait();
      return;
    }
    const auto error = rank.communicator->async_error();
    is_reported.count_down();
    ASSERT_TRUE(error);
    EXPECT_NE(error->message.find("rank 0 waited in vain for a chunk of rank 1"), std::string::npos)
        << error->message;
    EXPECT_FALSE(rank.communicator->run(call));
  });
}

// The launches after the first one end with it, and do not overwrite its report.
TEST(CudaQueue, ReportsTheFirstOfSeveralFailedLaunches) {
  with_queues({.op_timeout = Seconds{0.5}}, [](QueueRank& rank) {
    FakeStream stream;
    std::latch gate(1);
    const CollectiveCall call = sum(rank.numbers(10, 3), rank.numbers(10), 10);
    ASSERT_TRUE(rank.communicator->run(call));
    ASSERT_TRUE(rank.communicator->run(call));
    stream.push([&] { gate.wait(); });
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(rank.communicator->enqueue({call}, DeviceStream{&stream}));
    }
    rank.device->dead_rank = 1;
    gate.count_down();
    stream.synchronize();
    while (!rank.communicator->async_error()) std::this_thread::yield();
    const std::string message = rank.communicator->async_error()->message;
    if (rank.rank == 0) {
      // Two calls of one message each came before.
      EXPECT_NE(message.find("rank 0 waited in vain for a chunk of rank 1 on channel 0: message 2"),
                std::string::npos)
          << message;
    }
    EXPECT_FALSE(rank.communicator->enqueue({call}, DeviceStream{&stream}));
  });
}

// One call has two launches under way: each has events of its own.
TEST(CudaQueue, ReadsEventsBeforeTheNextLaunchOverwritesThem) {
  with_queues({.has_trace = true}, [](QueueRank& rank) {
    rank.communicator->set_settings(
        {.algorithm = Algorithm::Ring, .protocol = Protocol::Simple, .nchannels = 1});
    const CollectiveCall call = sum(rank.numbers(100, 1), rank.numbers(100), 100);
    const CollectiveCall same = sum(rank.numbers(100, 1), rank.numbers(100), 100);
    ASSERT_TRUE(rank.communicator->run_all({call, same, call}));
    FakeStream stream;
    ASSERT_TRUE(rank.communicator->enqueue({call}, DeviceStream{&stream}));
    ASSERT_TRUE(rank.communicator->enqueue({same}, DeviceStream{&stream}));
    ASSERT_TRUE(rank.communicator->finish());
    for (const DeviceLaunch& launch : rank.queue().launches) EXPECT_EQ(launch.works, 1);
    rank.trace->flush();
    // A ring of 2: 3 primitives, and the call itself.
    EXPECT_EQ(rank.trace->stats().events, 5U * (3U + 1U));
  });
}

// Every access to a head is as slow as the memory. Here a sender that looks at it never finds room.
TEST(CudaEnds, RoomThatAnEarlierCallHasSeenIsNotAskedForAgain) {
  const auto device = *make_device();
  DeviceJob job(device->launcher());
  DeviceCase test;
  test.call.collective = test.choice.collective = Collective::Broadcast;
  test.call.type = DataType::Int32;
  test.call.count = 5;
  test.timeout = std::chrono::milliseconds(50);
  for (const Protocol protocol : {Protocol::LL, Protocol::LL128}) {
    test.choice = {.collective = Collective::Broadcast,
                   .protocol = protocol,
                   .slot = 512_B,
                   .slots_per_chunk = 1,
                   .chunk = 512_B};
    for (int i = 0; i < kSlots; ++i) {
      ASSERT_TRUE(job.run(test)) << to_string(test) << ": " << i;
      *job.last_grid().blocks->send_ends->head = ~std::uint64_t{kSlots} + 1;
    }
    const auto ninth = job.run(test);
    ASSERT_FALSE(ninth);
    // The sender waits for room, and the receiver waits for the sender.
    EXPECT_EQ(ninth.error().code, ErrorCode::Timeout);
    device->launcher().control->abort = 0;
  }
}

TEST(CallRanges, TwoCallsDependIfOneWritesMemoryThatTheOtherUses) {
  std::array<std::int32_t, 100> all{};
  const auto ranges = [&](Collective collective, std::size_t in, std::size_t out) {
    CollectiveCall call = sum(&all[in], &all[out], 10);
    call.collective = collective;
    return ranges_of(call, Rank{0}, 2);
  };
  const CallRanges first = ranges(Collective::AllReduce, 0, 10);
  EXPECT_FALSE(depend(first, ranges(Collective::AllReduce, 20, 30)));
  EXPECT_FALSE(depend(first, ranges(Collective::AllReduce, 0, 30)));  // both read
  EXPECT_TRUE(depend(first, ranges(Collective::AllReduce, 19, 30)));
  EXPECT_TRUE(depend(first, ranges(Collective::AllReduce, 20, 9)));
  EXPECT_TRUE(depend(first, ranges(Collective::AllReduce, 30, 19)));
  // 20 elements of output, 20 of input.
  const CallRanges gather = ranges(Collective::AllGather, 0, 20);
  EXPECT_TRUE(depend(gather, ranges(Collective::AllReduce, 39, 60)));
  EXPECT_FALSE(depend(gather, ranges(Collective::AllReduce, 40, 60)));
  EXPECT_TRUE(
      depend(ranges(Collective::ReduceScatter, 0, 60), ranges(Collective::AllReduce, 80, 19)));
  CollectiveCall listed;
  listed.collective = Collective::SendRecv;
  listed.type = DataType::Int32;
  listed.input = listed.output = all.data();
  listed.sends = {{Rank{1}, 50, 5}};
  listed.recvs = {{Rank{1}, 60, 5}};
  const CallRanges messages = ranges_of(listed, Rank{0}, 2);
  EXPECT_FALSE(depend(first, messages));
  EXPECT_TRUE(depend(ranges(Collective::AllReduce, 0, 54), messages));
  EXPECT_TRUE(depend(ranges(Collective::AllReduce, 64, 80), messages));
}

}  // namespace
}  // namespace ringside
