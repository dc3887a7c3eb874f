#include <gtest/gtest.h>

#include <algorithm>

#include "engine/cuda/launch_works.h"
#include "tests/cuda/device_grid.h"
#include "tests/cuda/device_under_test.h"
#include "tests/cuda/host_answer.h"

// Messages that senders store directly into outputs, among ranks of one launch.
namespace ringside {
namespace {

/// Returns the cases of the grid that use Simple, also in place where that is possible.
std::vector<DeviceCase> simple_cases(int nranks) {
  std::vector<DeviceCase> cases;
  for (DeviceCase test : device_grid(nranks)) {
    if (test.choice.protocol != Protocol::Simple) continue;
    cases.push_back(test);
    if (!has_in_place(test.call.collective)) continue;
    test.in_place = !test.in_place;
    cases.push_back(std::move(test));
  }
  // The average is divided where it is written, and nowhere else.
  DeviceCase average = cases.front();
  average.call.collective = average.choice.collective = Collective::AllReduce;
  average.choice.algorithm = Algorithm::Ring;
  average.call.type = DataType::Int32;
  average.call.op = RedOp::Avg;
  average.offset = 0;
  cases.push_back(std::move(average));
  return cases;
}

class CudaDirect : public testing::TestWithParam<int> {};

// They also store as many bytes as the plan computes, fewer than through slots where data are stored directly.
TEST_P(CudaDirect, StoresGiveTheBitsThatSlotsGiveAndMoveLess) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  std::vector<DeviceCase> cases = simple_cases(GetParam());
  const auto expected = host_answers(cases);
  DeviceJob job(device.launcher());
  int fewer = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::uint64_t moved[2] = {};
    for (const bool directly : {false, true}) {
      cases[i].stores_directly = directly;
      const auto outputs = job.run(cases[i]);
      ASSERT_TRUE(outputs) << to_string(cases[i]) << ": " << outputs.error().message;
      for (std::size_t rank = 0; rank < outputs->size(); ++rank) {
        ASSERT_EQ(difference(cases[i], (*outputs)[rank], expected[i][rank]), "")
            << to_string(cases[i]) << ", rank " << rank;
      }
      EXPECT_EQ(job.last_traffic().loaded, device.last_traffic.loaded) << to_string(cases[i]);
      EXPECT_EQ(job.last_traffic().stored, device.last_traffic.stored) << to_string(cases[i]);
      moved[directly ? 1 : 0] = job.last_traffic().as_copy().value;
    }
    EXPECT_LE(moved[1], moved[0]) << to_string(cases[i]);
    if (moved[1] < moved[0]) ++fewer;
  }
  EXPECT_GT(fewer, 0);
}

INSTANTIATE_TEST_SUITE_P(Ranks, CudaDirect, testing::Values(2, 3, 4, 8),
                         [](const auto& test) { return std::to_string(test.param); });

/// Returns a case with whole chunks of one slot, in so many loops that senders reach data that have not been read yet.
DeviceCase long_case(Collective collective, Algorithm algorithm, int nranks) {
  DeviceCase test;
  test.nranks = nranks;
  test.call.collective = collective;
  test.call.type = DataType::Int32;
  test.call.count = 128 * nranks * 12;
  test.choice = {.collective = collective,
                 .algorithm = algorithm,
                 .protocol = Protocol::Simple,
                 .slot = 512_B,
                 .slots_per_chunk = 1,
                 .chunk = 512_B};
  return test;
}

/// The loads and stores of all ranks in the call's buffers (call_bytes()).
struct Moved {
  double loaded = 0, stored = 0;
};

Moved moved_by(DeviceJob& job, DeviceCase test, bool directly) {
  test.stores_directly = directly;
  const auto outputs = job.run(test);
  EXPECT_TRUE(outputs) << outputs.error().message;
  const auto bytes =
      static_cast<double>(call_bytes(test.call.collective, shape_of(test.call), test.nranks).value);
  return {static_cast<double>(job.last_traffic().loaded.value) / bytes,
          static_cast<double>(job.last_traffic().stored.value) / bytes};
}

// The table in engine/cuda/README.md, of 4 ranks: a ring's 2(n - 1) + 1 steps load 3n - 2 chunks and store as many; directly
// it is one load and n - 1 stores less.
TEST(CudaDirectTraffic, EqualsTheAlgorithmsMinimum) {
  struct Row {
    Collective collective;
    Algorithm algorithm;
    Moved by_slots, directly;
  };
  using enum Collective;
  const std::vector<Row> rows{
      {AllReduce, Algorithm::Ring, {10, 10}, {9, 7}},
      {AllReduce, Algorithm::Tree, {10, 10}, {8, 7}},
      {AllReduce, Algorithm::TwoShot, {10, 10}, {7, 7}},
      {AllReduce, Algorithm::OneShot, {20, 20}, {20, 20}},
      {AllReduce, Algorithm::Nvls, {12, 12}, {8, 8}},
      {AllGather, Algorithm::Ring, {4, 7}, {3, 4}},
      {AllGather, Algorithm::Pat, {4, 7}, {2, 4}},
      {Broadcast, Algorithm::Ring, {4, 7}, {3, 4}},
      {ReduceScatter, Algorithm::Ring, {7, 4}, {7, 4}},
      {Reduce, Algorithm::Ring, {7, 4}, {7, 4}},
      {AllToAll, Algorithm::Ring, {7, 7}, {4, 4}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(to_string(row.collective)) + " by " + to_string(row.algorithm));
    RINGSIDE_DEVICE_OR_SKIP(device);
    DeviceJob job(device.launcher());
    const DeviceCase test = long_case(row.collective, row.algorithm, 4);
    const Moved slots = moved_by(job, test, false);
    const Moved direct = moved_by(job, test, true);
    EXPECT_DOUBLE_EQ(slots.loaded, row.by_slots.loaded);
    EXPECT_DOUBLE_EQ(slots.stored, row.by_slots.stored);
    EXPECT_DOUBLE_EQ(direct.loaded, row.directly.loaded);
    EXPECT_DOUBLE_EQ(direct.stored, row.directly.stored);
  }
}

/// Two broadcasts from rank 0 in one launch, along a chain. Rank 1 in the middle uses one output for both.
class CudaDirectCalls : public testing::Test {
 protected:
  static constexpr int kRanks = 3;
  static constexpr std::int64_t kCount = 128 * 40;

  Result<std::byte*> filled(DeviceMemory& memory, std::int32_t value) {
    RINGSIDE_TRY(std::byte* const place, memory.take(Bytes{kCount * 4}));
    const std::vector<std::int32_t> values(kCount, value);
    RINGSIDE_TRY(memory.write(place, std::as_bytes(std::span(values))));
    return place;
  }
};

// Rank 1 passes data on from its output. Rank 0 finishes its first call much earlier; if it did not wait for rank 1's
// second call, rank 2 would receive data of the second call too early.
TEST_F(CudaDirectCalls, AnEarlySenderWaitsForItsReceiversCall) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  const DeviceLauncher launcher = device.launcher();
  DeviceMemory& memory = launcher.memory;
  VirtualRanks ranks(memory, launcher.control, kRanks);
  const DeviceCase test = long_case(Collective::Broadcast, Algorithm::Ring, kRanks);
  std::vector<CollectiveCall> calls(kRanks, test.call);
  for (CollectiveCall& call : calls) call.count = kCount;
  const auto plan = ranks.plan(calls, test.choice, {.warps_per_strand = 2});
  ASSERT_TRUE(plan) << plan.error().message;
  const auto shared = filled(memory, 0);
  ASSERT_TRUE(shared);
  for (int round = 0; round < 8; ++round) {
    DeviceLaunch launch;
    std::vector<std::byte*> last;
    for (const std::int32_t value : {1, 2}) {
      const auto input = filled(memory, value);
      const auto root = filled(memory, 0);
      const auto end = filled(memory, 0);
      ASSERT_TRUE(input && root && end);
      last.push_back(*end);
      const std::vector<DeviceBuffers> buffers{
          {*input, *root}, {nullptr, *shared}, {nullptr, *end}};
      ASSERT_TRUE(add_work(launch, (*plan)->grid, buffers));
    }
    ASSERT_TRUE(launcher.run(launch, Collective::Broadcast));
    for (std::size_t i = 0; i < last.size(); ++i) {
      std::vector<std::int32_t> got(kCount);
      ASSERT_TRUE(memory.read(std::as_writable_bytes(std::span(got)), last[i]));
      const auto is_other = [&](std::int32_t one) {
        return one != static_cast<std::int32_t>(i) + 1;
      };
      ASSERT_EQ(std::ranges::count_if(got, is_other), 0) << "call " << i << ", round " << round;
    }
  }
}

// A ring whose connections hold one chunk each: through slots, every rank would fill its own connection before it
// empties the one towards it.
TEST_F(CudaDirectCalls, DirectStoresNeedNoRoomInSlots) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  DeviceJob job(device.launcher(), 1);
  DeviceCase test = long_case(Collective::AllGather, Algorithm::Ring, kRanks);
  const auto outputs = job.run(test);
  ASSERT_TRUE(outputs) << outputs.error().message;
  test.stores_directly = false;
  test.timeout = std::chrono::milliseconds(100);
  EXPECT_FALSE(job.run(test));
}

// The sender does not lack room for messages, and so its error does not name that.
TEST_F(CudaDirectCalls, ASenderTimesOutIfItsReceiverMakesNoCall) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  device.dead_rank = 1;
  for (const bool aborts : {false, true}) {
    device.aborts = aborts;
    DeviceJob job(device.launcher());
    DeviceCase test = long_case(Collective::Broadcast, Algorithm::Ring, 2);
    test.timeout = aborts ? Nanoseconds(std::chrono::hours(1)) : std::chrono::milliseconds(100);
    const auto outputs = job.run(test);
    ASSERT_FALSE(outputs);
    EXPECT_EQ(outputs.error().code, aborts ? ErrorCode::Aborted : ErrorCode::Timeout);
    EXPECT_NE(outputs.error().message.find("the call of rank 1"), std::string::npos)
        << outputs.error().message;
  }
}

}  // namespace
}  // namespace ringside
