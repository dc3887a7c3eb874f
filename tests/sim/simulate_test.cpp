#include "sim/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "engine/collectives/record.h"
#include "ringside/trace_info.h"
#include "ringside/trace_reader.h"
#include "tests/sim/requests.h"
#include "trace/statistics.h"

namespace ringside {
namespace {

using testing::HasSubstr;

double seconds(const Result<SimResult>& result) {
  EXPECT_TRUE(result) << result.error().message;
  return result ? result->time.count() : -1;
}

/// alpha + bytes / B
double step_time(double bytes) { return kAlpha.count() + bytes / kRate.value; }

class ClosedForm : public testing::TestWithParam<int> {};

/// The time of steps of two slices each, which all ranks of a ring make at once: the first slice is passed on when it
/// has arrived, and not before the second has left.
double slices_time(int steps, double first, double second) {
  const double alpha = kAlpha.count();
  const double t1 = first / kRate.value, t2 = second / kRate.value;
  return (steps - 1) * (t1 + std::max(t2, alpha)) + t1 + t2 + alpha;
}

/// The time for a chunk's bytes: up to 32 KiB in one slice, more in halves.
double ring_time(int steps, double chunk) {
  return chunk <= 32'768 ? steps * step_time(chunk) : slices_time(steps, chunk / 2, chunk / 2);
}

// 2(n-1) steps of S/n bytes each, all ranks in step: ranks only wait for the links.
TEST_P(ClosedForm, AnAllReduceOfOneLoopTakesTwiceNLessOneSteps) {
  const int n = GetParam();
  for (const std::int64_t floats_a_chunk : {4, 1000, 1 << 19}) {
    const std::int64_t floats = floats_a_chunk * n;
    const double expected = ring_time(2 * (n - 1), 4.0 * static_cast<double>(floats_a_chunk));
    for (const int ranks_per_node : {0, 1}) {
      const Case one = ideal_case(n, Collective::AllReduce, floats, ranks_per_node);
      EXPECT_NEAR(seconds(simulate(one.request)), expected, expected * 1e-6);
    }
  }
}

TEST_P(ClosedForm, AllGatherAndReduceScatterTakeNLessOneSteps) {
  const int n = GetParam();
  const std::int64_t floats = 100'000;  // a rank's block, in one chunk
  const double expected = ring_time(n - 1, 4e5);
  for (const Collective collective : {Collective::AllGather, Collective::ReduceScatter}) {
    const Case one = ideal_case(n, collective, floats);
    EXPECT_NEAR(seconds(simulate(one.request)), expected, expected * 1e-6);
  }
}

// A chain: the first chunk needs n - 1 steps to its end, each further one follows a transfer behind.
TEST_P(ClosedForm, ABroadcastIsAPipeline) {
  const int n = GetParam();
  constexpr int kChunks = 20;
  const Case one = ideal_case(n, Collective::Broadcast, kChunks * (1 << 19));
  const double transfer = 2'097'152 / kRate.value;
  const double expected = (n - 1) * step_time(2'097'152) + (kChunks - 1) * transfer;
  EXPECT_NEAR(seconds(simulate(one.request)), expected, expected * 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Ranks, ClosedForm, testing::Values(2, 3, 8, 33));

// Ranks 0 -> 1 in a node, 1 -> 3 between nodes at an eighth of the rate, 3 -> 2 in a node. What rank 0
// sends lies at rank 1 long before its turn: each chunk costs the slow link's time alone, and the fast
// link's latency, though longer than that, is paid once.
TEST(Simulate, AChunkThatHasLainThereForLongIsNotLate) {
  const double alpha = 30e-6;
  constexpr int kChunks = 24;
  Case one = ideal_case(4, Collective::Broadcast, kChunks * 16'384, 2);
  ideal(one).between = BytesPerSecond{kRate.value / 8};
  SimRequest& request = one.request;
  request.costs.step = {Seconds{alpha}, Seconds{alpha}, Seconds{2e-6}};
  request.channels.rings = {{Rank{0}, Rank{1}, Rank{3}, Rank{2}}};
  request.choice.slots_per_chunk = 1;
  request.choice.chunk = 64_KiB;
  const double fast = 65'536 / kRate.value;
  const double expected = (fast + alpha) + (kChunks * 8 * fast + 2e-6) + (fast + alpha);
  EXPECT_NEAR(seconds(simulate(request)), expected, expected * 1e-6);
}

TEST(Simulate, ALoneRankOnlyLaunches) {
  Case one = ideal_case(1, Collective::AllReduce, 1000);
  one.request.costs.launch = Seconds{8e-6};
  const auto result = simulate(one.request);
  EXPECT_DOUBLE_EQ(seconds(result), 8e-6);
  EXPECT_EQ(result->transfers, 0);
  EXPECT_EQ(result->busiest_link, -1);
}

// The launch is part of the kernel's time.
TEST(Simulate, ACallWithoutDataTakesTheLaunchOnly) {
  const auto one = forced_case("dgx-h100", 1, Collective::AllReduce, Bytes{0}, Algorithm::Ring,
                               Protocol::Simple);
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_DOUBLE_EQ(seconds(simulate(one->request)), one->request.costs.launch.count());
}

// Two rings over the same links: twice the bytes through each.
TEST(Simulate, ChannelsShareTheLinks) {
  const int n = 4;
  Case one = ideal_case(n, Collective::AllReduce, 8 * 128 * 100);
  SimRequest& request = one.request;
  request.channels = host_channels(n, 2);
  request.choice.nchannels = 2;
  const double chunk = 4.0 * 128 * 100;  // of each of the 8 chunks: 2 channels x 4 ranks
  const double slice = 32'768;           // a 32nd of its slots, more than half of the chunk
  const double expected = slices_time(2 * (n - 1), 2 * slice, 2 * (chunk - slice));
  EXPECT_NEAR(seconds(simulate(request)), expected, expected * 1e-6);
}

TEST(Simulate, TheSameRequestGivesTheSameTimeToTheLastDigit) {
  for (const Algorithm algorithm : {Algorithm::Ring, Algorithm::Tree, Algorithm::NvlsTree}) {
    const auto one = forced_case("dgx-h100", 2, Collective::AllReduce, Bytes{12'000'004}, algorithm,
                                 Protocol::Simple);
    ASSERT_TRUE(one) << one.error().message;
    const double first = seconds(simulate(one->request));
    for (int i = 0; i < 2; ++i) {
      const double again = seconds(simulate(one->request));
      EXPECT_EQ(std::memcmp(&first, &again, sizeof first), 0) << first << " " << again;
    }
  }
}

// NCCL's model and the simulation stay near each other: one is for choosing, the other for predicting.
TEST(Simulate, StaysWithinReasonOfNcclsModel) {
  for (const int nodes : {1, 2}) {
    for (const Bytes bytes : {8_B, 64_KiB, 4_MiB, 128_MiB}) {
      const auto one = job_case("dgx-h100", nodes, Collective::AllReduce, bytes);
      ASSERT_TRUE(one) << one.error().message;
      const double simulated = seconds(simulate(one->request)) * 1e6;
      const double predicted = static_cast<double>(one->prediction.time_us);
      EXPECT_LT(std::abs(std::log(simulated / predicted)), std::log(2.0))
          << bytes.value << " on " << nodes;
    }
  }
}

// 64 MiB on 16 ranks: 30 steps of 4 MiB over 8 NICs of 48 GB/s are 327 us, and steps' latencies.
TEST(Simulate, ALongRingFillsTheNics) {
  const auto one =
      forced_case("dgx-h100", 2, Collective::AllReduce, 64_MiB, Algorithm::Ring, Protocol::Simple);
  ASSERT_TRUE(one) << one.error().message;
  const auto result = simulate(one->request);
  const SimCosts& costs = one->request.costs;
  const double share = costs.share[static_cast<std::size_t>(StepLink::Net)];
  const double step = costs.step[static_cast<std::size_t>(StepLink::NvLink)].count();
  EXPECT_NEAR(result->busiest.count() * share, 327.7e-6, 1e-6);
  EXPECT_GT(seconds(result), result->busiest.count() + 15 * step);
}

// Each rank fills its connection before it empties the one towards it: with room for only one chunk, a chunk that must
// be passed on finds no room, and is never consumed.
TEST(Simulate, OneChunkInFlightIsADeadlockThatNamesTheWaitingRanks) {
  Case one = ideal_case(4, Collective::AllReduce, 4000);
  one.request.choice.protocol = Protocol::LL;  // whose chunks are not divided
  one.request.choice.slots_per_chunk = 8;
  const auto result = simulate(one.request);
  ASSERT_FALSE(result);
  EXPECT_EQ(exit_status(result.error().code), 3);
  EXPECT_THAT(result.error().message,
              HasSubstr("rank 0 channel 0 step 1 waits for a free slot to rank 1"));
  EXPECT_THAT(result.error().message, HasSubstr("rank 3 channel 0 step 1"));
}

// Two ranks, a link of long latency. A chunk's slots come back alpha after its last byte has crossed, so
// of w chunks that fit the connection the next w may start T + alpha after them. Of C chunks the last
// one starts (C/w - 1)(T + alpha) + (w - 1)T after the first, and is there T + alpha later.
TEST(Simulate, SlotsComeBackWhenTheReceiverHasConsumedTheChunk) {
  const double alpha = 50e-6;
  const double transfer = 65'536 / kRate.value;
  constexpr int kChunks = 24;
  for (const int slots_per_chunk : {1, 2, 4, 8}) {
    const int window = 8 / slots_per_chunk;
    Case one = ideal_case(2, Collective::Broadcast, kChunks * 16'384);
    SimRequest& request = one.request;
    request.costs.step = {Seconds{alpha}, Seconds{alpha}, Seconds{alpha}};
    request.choice.slots_per_chunk = slots_per_chunk;
    request.choice.chunk = 64_KiB;
    const double expected = kChunks / window * (transfer + alpha) + (window - 1) * transfer;
    EXPECT_NEAR(seconds(simulate(request)), expected, expected * 1e-6);
  }
}

TEST(Simulate, RefusesWhatCannotBeSimulated) {
  Case one = ideal_case(4, Collective::AllReduce, 4000);
  one.request.choice.slots_per_chunk = 9;
  const auto nine = simulate(one.request);
  EXPECT_EQ(nine.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(nine.error().help, HasSubstr("give 1 to 8"));  // as it accepts: see the test above
  one.request.choice.slots_per_chunk = 4;
  one.request.channels = host_channels(5, 1);
  EXPECT_EQ(simulate(one.request).error().code, ErrorCode::InvalidArgument);
  one.request.channels = host_channels(4, 1);
  one.request.choice.algorithm = Algorithm::NvlsTree;  // of one node
  EXPECT_EQ(simulate(one.request).error().code, ErrorCode::Unsupported);
}

TEST(SimulateTrace, AFailingSinkEndsTheSimulation) {
  struct Full : TraceSink {
    Status write(std::span<const std::byte>) override {
      return Error{ErrorCode::System, "t.rtrace: no room", "make some"};
    }
  };
  Full full;
  Case one = ideal_case(2, Collective::AllReduce, 1000);
  one.request.trace = &full;
  const auto result = simulate(one.request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "t.rtrace: no room");
  EXPECT_EQ(result.error().help, "make some");
}

using LaneKey = std::pair<int, int>;  // rank, channel
using Steps = std::vector<std::pair<Primitive, std::uint64_t>>;

/// Returns the primitive and the bytes of each step of the recorded programs, by rank and channel.
std::map<LaneKey, Steps> expected_steps(const SimRequest& request) {
  std::map<LaneKey, Steps> all;
  for (int rank = 0; rank < request.network->nranks(); ++rank) {
    const auto tasks = plan_channels(request.choice, request.channels, request.call, Rank{rank});
    for (std::size_t channel = 0; channel < tasks->size(); ++channel) {
      const ChannelTask& task = (*tasks)[channel];
      const Program program = record(task);
      for (std::int64_t loop = 0; loop < program.loops; ++loop) {
        for_each_step(program, 0, 0, [&](const Step& step) {
          const auto bytes = static_cast<std::uint64_t>(task.map.at(loop, step.chunk).count) * 4;
          all[{rank, static_cast<int>(channel)}].emplace_back(step.primitive, bytes);
        });
      }
    }
  }
  return all;
}

// The simulator has no steps of its own: they are those of the programs that are proved correct.
TEST(SimulateTrace, ShowsTheStepsOfTheRecordedProgramsAndTheWholeCall) {
  for (const Collective collective : {Collective::AllReduce, Collective::AllGather,
                                      Collective::ReduceScatter, Collective::Broadcast}) {
    for (const int nodes : {1, 2}) {
      TraceMemorySink sink;
      auto one = forced_case("dgx-h100", nodes, collective, Bytes{16 * 70'001 * 4}, Algorithm::Ring,
                             Protocol::Simple);
      ASSERT_TRUE(one) << one.error().message;
      SimRequest& request = one->request;
      request.call.root = Rank{5};
      request.trace = &sink;
      request.trace_label = "two nodes";
      const auto result = simulate(request);
      ASSERT_TRUE(result) << result.error().message;

      const std::vector<std::byte> bytes = sink.bytes();
      const auto file = TraceFile::parse(bytes, "memory");
      ASSERT_TRUE(file) << file.error().message;
      ASSERT_EQ(file->processes().size(), 1U);
      const TraceInfo& writer = file->processes()[0];
      const TraceInfo self = this_process_info(TraceClock::Simulated);
      EXPECT_EQ(writer.clock, TraceClock::Simulated);
      EXPECT_EQ(writer.pid, self.pid);
      EXPECT_EQ(writer.command_line, self.command_line);
      EXPECT_EQ(writer.values.at(1).second, "two nodes");
      std::map<LaneKey, Steps> seen;
      std::int64_t steps = 0;
      std::int64_t latest = 0;
      int calls = 0;
      file->for_each_event([&](const TraceEvent& event) {
        EXPECT_LE(event.begin_ns, event.end_ns);
        if (event.kind == EventKind::Collective) {
          ++calls;
          latest = std::max(latest, event.end_ns);
          return;
        }
        ++steps;
        Steps& lane = seen[{event.rank, event.channel}];
        EXPECT_EQ(event.step, lane.size());
        EXPECT_EQ(event.recv_peer >= 0, parts_of(event.primitive).receives);
        EXPECT_EQ(event.send_peer >= 0, parts_of(event.primitive).sends);
        lane.emplace_back(event.primitive, event.bytes);
      });
      EXPECT_EQ(seen, expected_steps(request)) << to_string(collective) << " on " << nodes;
      EXPECT_EQ(steps, result->steps);
      EXPECT_EQ(calls, request.network->nranks());
      const Seconds steps_end{static_cast<double>(latest) * 1e-9};
      EXPECT_NEAR(request.overheads.total(steps_end, result->busiest).count(), result->time.count(),
                  1e-9);
    }
  }
}

// NVLS and CollNet have groups on both sides of a step.
TEST(SimulateTrace, EverySendFindsItsReceiveWhateverTheAlgorithm) {
  const std::vector<std::pair<Algorithm, int>> on_nodes{
      {Algorithm::Ring, 2}, {Algorithm::Tree, 2}, {Algorithm::Nvls, 1}, {Algorithm::NvlsTree, 2}};
  for (const auto& [algorithm, nodes] : on_nodes) {
    TraceMemorySink sink;
    auto one =
        forced_case("dgx-h100", nodes, Collective::AllReduce, 4_MiB, algorithm, Protocol::Simple);
    ASSERT_TRUE(one) << one.error().message;
    one->request.trace = &sink;
    const auto result = simulate(one->request);
    ASSERT_TRUE(result) << result.error().message;
    const std::vector<std::byte> bytes = sink.bytes();
    const auto file = TraceFile::parse(bytes, "memory");
    ASSERT_TRUE(file) << file.error().message;
    const TraceStatistics all = statistics_of(*file);
    EXPECT_GT(all.transfers, 0U);
    EXPECT_EQ(all.unmatched_halves, 0U) << to_string(algorithm);
  }
}

TEST(Simulate, ReportsItsProgressUntilItIsDone) {
  Case one = ideal_case(128, Collective::AllReduce, 1 << 22);
  SimRequest& request = one.request;
  std::vector<double> shares;
  request.progress = [&](double share) { shares.push_back(share); };
  ASSERT_TRUE(simulate(request));
  ASSERT_FALSE(shares.empty());
  EXPECT_EQ(shares.front(), 0);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  for (const double share : shares) EXPECT_TRUE(share >= 0 && share <= 1) << share;
}

}  // namespace
}  // namespace ringside
