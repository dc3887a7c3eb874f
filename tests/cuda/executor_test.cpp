#include <gtest/gtest.h>

#include <array>

#include "engine/cuda/cuda_choice.h"
#include "engine/cuda/cuda_executor.h"
#include "engine/runtime/communicator.h"
#include "tests/cuda/device_under_test.h"
#include "tests/runtime/ranks.h"
#include "trace/clock.h"
#include "trace/recorder.h"
#include "trace/sink.h"

namespace ringside {
namespace {

constexpr int kRanks = 3;
constexpr std::int64_t kCount = 1000;

/// Ranks that are threads and share one device.
class CudaExecutorTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = make_device();
    if (!made && is_absent(made.error())) GTEST_SKIP() << made.error().message;
    ASSERT_TRUE(made) << made.error().message;
    device_ = *std::move(made);
    const DeviceLauncher launcher = device_->launcher();
    memory_ = &launcher.memory;
    group_ = std::make_shared<CudaGroup>(CudaDevice{.memory = &launcher.memory,
                                                    .control = launcher.control,
                                                    .multiprocessors = 64,
                                                    .queue = &device_->queue()},
                                         kRanks);
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto input = memory_->take(Bytes{kCount * 4});
      const auto output = memory_->take(Bytes{kCount * 4});
      ASSERT_TRUE(input && output);
      buffers_.at(static_cast<std::size_t>(rank)) = {*input, *output};
      auto recorder = TraceRecorder::start(std::make_shared<TraceMemorySink>(),
                                           this_process_info(TraceClock::HostMonotonic));
      ASSERT_TRUE(recorder);
      recorders_.at(static_cast<std::size_t>(rank)) = *std::move(recorder);
    }
  }

  [[nodiscard]] CollectiveCall call_of(int rank) const {
    CollectiveCall call;
    call.input = buffers_.at(static_cast<std::size_t>(rank)).input;
    call.output = buffers_.at(static_cast<std::size_t>(rank)).output;
    call.count = kCount;
    call.type = DataType::Int32;
    return call;
  }

  /// Runs `body` with each rank's communicator.
  void run_all(Seconds op_timeout, const std::function<void(runtime::Communicator&, int)>& body) {
    const auto root = make_root(kRanks);
    run_ranks(first_ranks(kRanks), [&](int rank) {
      CommunicatorOptions options;
      options.op_timeout = op_timeout;
      options.trace = recorders_.at(static_cast<std::size_t>(rank)).get();
      auto made = runtime::Communicator::make(must_join(rank, kRanks, root->id()), options,
                                              cuda_executor(group_));
      ASSERT_TRUE(made) << made.error().message;
      body(**made, rank);
    });
  }

  std::unique_ptr<DeviceUnderTest> device_;
  DeviceMemory* memory_ = nullptr;
  std::shared_ptr<CudaGroup> group_;
  std::array<DeviceBuffers, kRanks> buffers_;
  std::array<std::unique_ptr<TraceRecorder>, kRanks> recorders_;
};

TEST_F(CudaExecutorTest, RunsTheCallsOfACommunicatorOneAfterTheOther) {
  std::vector<std::int32_t> values(kCount);
  for (int rank = 0; rank < kRanks; ++rank) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i) + rank;
    ASSERT_TRUE(
        memory_->write(const_cast<std::byte*>(buffers_.at(static_cast<std::size_t>(rank)).input),
                       std::as_bytes(std::span(values))));
  }
  run_all(Seconds{60}, [&](runtime::Communicator& communicator, int rank) {
    EXPECT_EQ(communicator.transport(), "cuda");
    for (const Protocol protocol : {Protocol::LL, Protocol::Simple, Protocol::LL}) {
      communicator.set_settings({.protocol = protocol, .nchannels = 2});
      const Status done = communicator.run(call_of(rank));
      ASSERT_TRUE(done) << done.error().message;
    }
    ASSERT_TRUE(communicator.finish());
  });
  for (const DeviceBuffers& own : buffers_) {
    ASSERT_TRUE(memory_->read(std::as_writable_bytes(std::span(values)), own.output));
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i], 3 * static_cast<std::int32_t>(i) + 3);  // i + (i + 1) + (i + 2)
    }
  }
}

// A ring makes 2(n - 1) + 1 = 5 primitives in one loop, which are in the rank's trace with times of the host's clock.
// Rank 0 sends a megabyte alone, rank 1 receives it together with a send of 8 bytes: both make the same choice for it.
TEST(CudaChoice, ListedMessagesAreChosenForWhateverElseIsInTheCall) {
  const CollectiveCall alone{
      .collective = Collective::Send, .count = 1 << 18, .sends = {{Rank{1}, 0, 1 << 18}}};
  const CollectiveCall grouped{.collective = Collective::SendRecv,
                               .sends = {{Rank{2}, 0, 2}},
                               .recvs = {{Rank{0}, 0, 1 << 18}}};
  EXPECT_EQ(bytes_to_choose_by(alone, 3), bytes_to_choose_by(grouped, 3));
  EXPECT_EQ(bytes_to_choose_by({.collective = Collective::AllGather, .count = 2}, 3), 24_B);
}

// Uses one block for each multiprocessor that the ranks leave each other.
TEST(CudaChoice, LongCallsTakeTheMultiprocessorsThatThereAre) {
  for (const auto& [sharing, channels] : {std::pair(2, 64), std::pair(4, 33), std::pair(8, 16)}) {
    const auto choice = choose_on_gpu(
        {.bytes = 1_GiB, .nranks = sharing, .sharing = sharing, .multiprocessors = 132});
    ASSERT_TRUE(choice) << choice.error().message;
    EXPECT_EQ(choice->nchannels, channels);
  }
}

TEST_F(CudaExecutorTest, PutsWhatKernelsRecordIntoTheTrace) {
  run_all(Seconds{60}, [&](runtime::Communicator& communicator, int rank) {
    communicator.set_settings(
        {.algorithm = Algorithm::Ring, .protocol = Protocol::Simple, .nchannels = 1});
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(communicator.run(call_of(rank)));
    const std::vector<DeviceTrace::Event> events = group_->last_events(Rank{rank});
    ASSERT_EQ(events.size(), 5U);
    EXPECT_EQ(events[0].event.primitive, Primitive::Send);
    EXPECT_EQ(events[0].event.send_peer, (rank + 1) % kRanks);
    EXPECT_EQ(events[4].event.primitive, Primitive::Recv);
    for (const DeviceTrace::Event& one : events) {
      EXPECT_LE(one.event.begin_ns, one.event.end_ns);
      EXPECT_LE(one.event.end_ns, trace_now().count());
    }
    recorders_.at(static_cast<std::size_t>(rank))->flush();
    // Each call is an event of its own.
    EXPECT_EQ(recorders_.at(static_cast<std::size_t>(rank))->stats().events, 2U * (5U + 1U));
    ASSERT_TRUE(communicator.finish());
  });
}

TEST_F(CudaExecutorTest, ARankThatDiesInAKernelBreaksTheCommunicatorOnEveryRank) {
  device_->dead_rank = 1;
  run_all(Seconds{0.2}, [&](runtime::Communicator& communicator, int rank) {
    const Status done = communicator.run(call_of(rank));
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("waited in vain for"), std::string::npos)
        << done.error().message;
    EXPECT_FALSE(communicator.run(call_of(rank)));
  });
}

TEST_F(CudaExecutorTest, ARankThatDoesNotCallIsNamed) {
  run_all(Seconds{0.2}, [&](runtime::Communicator& communicator, int rank) {
    if (rank == 2) {
      // Waits until the others have given up and notified this rank.
      while (!communicator.async_error()) std::this_thread::yield();
      return;
    }
    const Status done = communicator.run(call_of(rank));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::Timeout);
    EXPECT_NE(done.error().message.find("the call of rank 2"), std::string::npos)
        << done.error().message;
  });
}

}  // namespace
}  // namespace ringside
