#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tests/cuda/device_under_test.h"

namespace ringside {
namespace {

/// Returns a ring's all-reduce of int32 whose chunks are one slot each, so that two slots per connection suffice.
DeviceCase ring_case(Protocol protocol, std::int64_t count) {
  DeviceCase test;
  test.nranks = 3;
  test.call.type = DataType::Int32;
  test.call.count = count;
  test.choice = {.protocol = protocol, .slot = 512_B, .slots_per_chunk = 1, .chunk = 512_B};
  return test;
}

/// The time-out of waits that are meant to time out.
constexpr Nanoseconds kShort = std::chrono::milliseconds(100);

/// Returns the sum of the ranks' inputs.
std::vector<std::byte> sum_of(const DeviceCase& test) {
  std::vector<std::byte> sum = input_of(test, 0);
  const ReduceOp op = *make_reduce_op(test.call.type, RedOp::Sum, test.nranks);
  for (int rank = 1; rank < test.nranks; ++rank) {
    const std::vector<std::byte> input = input_of(test, rank);
    op.combine(sum.data(), sum.data(), input.data(), FirstInput::Partial,
               static_cast<std::size_t>(test.call.count));
  }
  return sum;
}

void expect_sums(DeviceJob& job, const DeviceCase& test) {
  const auto outputs = job.run(test);
  ASSERT_TRUE(outputs) << to_string(test) << ": " << outputs.error().message;
  for (const auto& output : *outputs) ASSERT_EQ(difference(test, output, sum_of(test)), "");
}

class CudaWaits : public testing::TestWithParam<Protocol> {};

// With 40 loops of 3 chunks, a sender that does not wait for room overwrites unread data.
TEST_P(CudaWaits, ASenderUsesAllSlotsAndNoMore) {
  for (int slots = 2; slots <= kSlots; slots *= 2) {
    SCOPED_TRACE(slots);
    RINGSIDE_DEVICE_OR_SKIP(device);
    DeviceJob job(device.launcher(), slots);
    for (int i = 0; i < 3; ++i) expect_sums(job, ring_case(GetParam(), 128 * 3 * 40 + 5));
  }
}

// A chain needs only one slot, as no rank sends before it has received.
TEST_P(CudaWaits, OneSlotIsEnoughForAChain) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  DeviceJob job(device.launcher(), 1);
  DeviceCase test = ring_case(GetParam(), 4000);
  test.call.collective = test.choice.collective = Collective::Broadcast;
  test.call.root = Rank{1};
  const auto outputs = job.run(test);
  ASSERT_TRUE(outputs) << outputs.error().message;
  for (const auto& output : *outputs) {
    EXPECT_EQ(difference(test, output, input_of(test, 1)), "");
  }
}

// A ring whose connections hold one chunk each: every rank fills its own connection before it empties the one towards
// it.
TEST_P(CudaWaits, AnEndlessWaitTimesOutAndNamesThePeer) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  DeviceJob job(device.launcher(), 1);
  DeviceCase test = ring_case(GetParam(), 128 * 3 * 4);
  test.timeout = kShort;
  const auto outputs = job.run(test);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, ErrorCode::Timeout);
  EXPECT_NE(outputs.error().message.find("waited in vain for"), std::string::npos)
      << outputs.error().message;
}

// Its neighbours wait for it and for each other, and each names the rank that it waits for.
TEST_P(CudaWaits, ARankThatDoesNotComeIsWaitedForNoLongerThanTheTimeOut) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  device.dead_rank = 1;
  DeviceJob job(device.launcher());
  DeviceCase test = ring_case(GetParam(), 128 * 3 * 4);
  test.timeout = kShort;
  const auto outputs = job.run(test);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, ErrorCode::Timeout);
}

// As dumps report it, each message counts at both ends, and a rank that has waited in between no longer waits.
TEST_P(CudaWaits, BothEndsOfAConnectionReportTheirProgress) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  DeviceJob job(device.launcher());
  const DeviceCase test = ring_case(GetParam(), 128 * 3 * 40);
  for (int call = 1; call <= 2; ++call) ASSERT_TRUE(job.run(test));
  std::map<ConnectionId, std::vector<std::uint64_t>> messages;
  for (int rank = 0; rank < test.nranks; ++rank) {
    for (const Connections::Progress& one : job.connections().progress(Rank{rank})) {
      EXPECT_FALSE(one.is_waiting) << rank;
      messages[one.id].push_back(one.messages);
    }
  }
  ASSERT_FALSE(messages.empty());
  for (const auto& [id, ends] : messages) {
    ASSERT_EQ(ends.size(), 2U);
    EXPECT_EQ(ends[0], ends[1]);
    EXPECT_GT(ends[0], 2U);
  }
}

// In a ring 0 -> 1 -> 2, rank 2 has nothing to do until rank 1 has sent, whose own end is not blocked.
TEST_P(CudaWaits, AWaitThatTimesOutReportsItsConnection) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  device.dead_rank = 1;
  DeviceJob job(device.launcher());
  DeviceCase test = ring_case(GetParam(), 128 * 3 * 4);
  test.timeout = kShort;
  ASSERT_FALSE(job.run(test));
  const auto waits = [&](int rank, std::uint32_t from) {
    return std::ranges::any_of(job.connections().progress(Rank{rank}),
                               [&](const Connections::Progress& one) {
                                 return one.receives && one.id.from == from && one.is_waiting;
                               });
  };
  EXPECT_TRUE(waits(2, 1));
  EXPECT_FALSE(waits(1, 0));
}

TEST_P(CudaWaits, AnAbortEndsEveryWaitLongBeforeTheTimeOut) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  device.dead_rank = 1;
  device.aborts = true;
  DeviceJob job(device.launcher());
  DeviceCase test = ring_case(GetParam(), 128 * 3 * 4);
  test.timeout = std::chrono::hours(1);
  const auto outputs = job.run(test);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, ErrorCode::Aborted) << outputs.error().message;
  EXPECT_NE(outputs.error().message.find("was stopped while it waited for"), std::string::npos);
}

// A sender that waits alone at a full connection is also informed.
TEST_P(CudaWaits, AnAbortEndsAWaitForRoom) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  device.dead_rank = 1;
  device.aborts = true;
  DeviceJob job(device.launcher());
  DeviceCase test = ring_case(GetParam(), 128 * 40);
  test.nranks = 2;
  test.call.collective = test.choice.collective = Collective::Broadcast;
  test.timeout = std::chrono::hours(1);
  test.stores_directly = false;
  const auto outputs = job.run(test);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, ErrorCode::Aborted);
  EXPECT_NE(outputs.error().message.find("a free slot of rank 1"), std::string::npos)
      << outputs.error().message;
}

// No byte next to an output is written, for any alignment and length.
TEST_P(CudaWaits, NoByteOutsideAnOutputIsTouched) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  DeviceJob job(device.launcher());
  DeviceCase test = ring_case(GetParam(), 1);
  test.call.type = DataType::Uint8;
  for (std::int64_t count = 1; count < 70; ++count) {
    test.call.count = count;
    test.offset = static_cast<int>(count % 16);
    expect_sums(job, test);
    ASSERT_EQ(job.touched_outside(test), "") << to_string(test);
  }
}

// A message sent 2^32 messages ago had the same flag; on the way the slot was cleaned.
TEST_P(CudaWaits, RepeatedFlagsAreNotTakenForNewData) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  DeviceJob job(device.launcher());
  // 2 loops of 4 messages: each slot's lines carry a flag from 1 to 8, as they will again.
  expect_sums(job, ring_case(GetParam(), 128 * 3 * 2));
  ASSERT_TRUE(job.connections().start_over_at(0x7FFFFFF8));
  for (int i = 0; i < 20; ++i) expect_sums(job, ring_case(GetParam(), 7));
  ASSERT_TRUE(job.connections().start_over_at(0x100000000));
  DeviceCase other = ring_case(GetParam(), 128 * 3 * 8);
  other.seed = 2;
  expect_sums(job, other);
}

TEST_P(CudaWaits, EveryPrimitiveLeavesAnEventInOrder) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  DeviceJob job(device.launcher());
  DeviceCase test = ring_case(GetParam(), 128 * 3 * 4);
  test.events = 64;
  expect_sums(job, test);
  const DeviceGrid& grid = job.last_grid();
  for (int block = 0; block < grid.count; ++block) {
    const auto events = take_events(grid, block, 0, device.launcher().memory);
    ASSERT_TRUE(events);
    ASSERT_EQ(events->size(), 4U * 5U);  // 2(n - 1) + 1 primitives in each of 4 loops
    std::uint32_t step = 0;
    std::int64_t last_ns = 0;
    for (const DeviceEvent& event : *events) {
      EXPECT_EQ(event.step, step++);
      EXPECT_LE(last_ns, event.begin_ns);
      EXPECT_LE(event.begin_ns, event.end_ns);
      last_ns = event.end_ns;
    }
    EXPECT_EQ(events->at(0).primitive, Primitive::Send);
    EXPECT_EQ(events->at(0).send_peer, (block + 1) % 3);
    EXPECT_EQ(events->at(4).primitive, Primitive::Recv);
    EXPECT_EQ(events->at(4).recv_peer, (block + 2) % 3);
    EXPECT_EQ(events->at(4).count, 128);
  }
}

INSTANTIATE_TEST_SUITE_P(Protocols, CudaWaits,
                         testing::Values(Protocol::Simple, Protocol::LL, Protocol::LL128),
                         [](const auto& test) { return to_string(test.param); });

}  // namespace
}  // namespace ringside
