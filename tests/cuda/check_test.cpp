#include <gtest/gtest.h>

#include "harness/bench_call.h"
#include "tests/cuda/device_under_test.h"

namespace ringside {
namespace {

/// Checks that hosts and the device count the same number of wrong elements: where all are wrong, and where rank 1's
/// contribution is in place of the result.
void expect_the_hosts_count(DeviceMemory& memory, Collective collective, DataType type, RedOp op) {
  SCOPED_TRACE(testing::Message() << to_string(collective) << ' ' << to_string(type) << ' '
                                  << to_string(op));
  constexpr int kRanks = 3;
  const Bytes element = size_of(type);
  const CheckData data(type, op, 7);
  const BenchCall call(collective, 3000, 1, kRanks, Rank{1});
  std::vector<std::byte> output(static_cast<std::size_t>(call.outputs()) * element.value,
                                std::byte{0xA5});
  const auto place = memory.take(Bytes{output.size() + 1});
  ASSERT_TRUE(place);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(memory.write(*place, output));
    const auto counted = call.count_wrong_on(memory, data, *place, element);
    ASSERT_TRUE(counted) << counted.error().message;
    EXPECT_EQ(*counted, call.count_wrong(data, output.data(), element));
    if (i == 0) {
      EXPECT_EQ(*counted, call.outputs());
    }
    // The buffer of the next passes: a contribution of rank 1, correct where its own part is; then its second call's.
    data.fill(output.data(), call.outputs(), 1, i == 1 ? 1 : 0);
  }
}

TEST(DeviceCheck, CountsWhatHostsCount) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  DeviceMemory& memory = device.launcher().memory;
  for (int c = 0; c < kCollectiveCount; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (collective == Collective::Send || collective == Collective::Recv) continue;
    for (const DataType type : {DataType::Float32, DataType::Bfloat16, DataType::Float8E4m3,
                                DataType::Int64, DataType::Uint8}) {
      expect_the_hosts_count(memory, collective, type, RedOp::Sum);
    }
  }
  // An average of three is off by a rounding error, which neither side counts as wrong.
  expect_the_hosts_count(memory, Collective::AllReduce, DataType::Bfloat16, RedOp::Avg);
}

}  // namespace
}  // namespace ringside
