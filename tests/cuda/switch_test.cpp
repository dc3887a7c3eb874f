#include <gtest/gtest.h>

#include "engine/cuda/cuda_choice.h"
#include "engine/cuda/device/switch_reduce.h"
#include "tests/cuda/device_under_test.h"
#include "tests/cuda/host_answer.h"
#include "tests/cuda/switch_cases.h"
#include "tests/cuda/switch_connections.h"

namespace ringside {
namespace {

/// The time-out of waits that are meant to time out.
constexpr Nanoseconds kSoon = std::chrono::milliseconds(100);

/// Makes a case for DeviceJob, which chooses nothing itself.
DeviceCase by_switch_case(Collective collective, int nranks, std::int64_t count) {
  DeviceCase test = nvls_case(collective, nranks, count);
  test.choice.by_switch = true;
  return test;
}

/// Ranks of a device of fibres, each as if it had a GPU of its own behind one switch.
class SwitchJob {
 public:
  explicit SwitchJob(DeviceUnderTest& device, int slots = kSlots)
      : job_(device.launcher(), slots, make(device, slots)) {}

  DeviceJob& job() { return job_; }
  [[nodiscard]] bool has_used_switch() const { return connections_->is_used(); }

 private:
  std::unique_ptr<DeviceConnections> make(DeviceUnderTest& device, int slots) {
    auto made = std::make_unique<SwitchConnections>(device.launcher().memory, slots);
    connections_ = made.get();
    return made;
  }

  SwitchConnections* connections_ = nullptr;  ///< the job's
  DeviceJob job_;
};

/// Expects the results of hosts from runs by a switch.
void expect_the_hosts_answer(std::vector<DeviceCase> cases) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  const auto expected = host_answers(cases);
  SwitchJob ranks(device);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].choice.by_switch = true;
    const auto outputs = ranks.job().run(cases[i]);
    ASSERT_TRUE(outputs) << to_string(cases[i]) << ": " << outputs.error().message;
    for (std::size_t rank = 0; rank < outputs->size(); ++rank) {
      ASSERT_EQ(difference(cases[i], (*outputs)[rank], expected[i][rank]), "")
          << to_string(cases[i]) << ", rank " << rank;
    }
    ASSERT_EQ(ranks.job().touched_outside(cases[i]), "") << to_string(cases[i]);
  }
  EXPECT_TRUE(ranks.has_used_switch());
}

bool is_in_switch(const DeviceCase& test) {
  return !is_reduction(test.call.collective) ||
         can_reduce(Algorithm::Nvls, test.call.type, test.call.op);
}

constexpr std::array kOpsOfSwitch{RedOp::Sum, RedOp::Min, RedOp::Max};

class CudaSwitch : public testing::TestWithParam<int> {};

// Lengths with and without tails, unaligned buffers, in place and not, one channel and two, one warp to three; one
// node, and two nodes whose heads are joined by a tree. Calls follow each other, so groups of nodes of both lengths
// alternate.
TEST_P(CudaSwitch, EveryCollectiveGivesTheHostsAnswer) {
  constexpr std::array<std::int64_t, 8> kCounts{1, 3, 64, 65, 257, 1001, 2048, 3333};
  const int nranks = GetParam();
  std::vector<DeviceCase> cases;
  for (std::uint64_t turn = 0; turn < 48; ++turn) {
    constexpr std::array kCollectives{Collective::AllReduce, Collective::AllGather,
                                      Collective::ReduceScatter, Collective::AllReduce};
    DeviceCase test =
        by_switch_case(kCollectives.at(turn % 4), nranks, kCounts.at(turn * 5 / 4 % 8));
    if (turn % 4 == 3) test.choice.algorithm = Algorithm::NvlsTree;
    test.seed = turn + 1;
    test.call.type = static_cast<DataType>(turn / 4 * 5 % 12);
    test.call.op = kOpsOfSwitch.at(turn % 3);
    if (!is_in_switch(test)) test.call.type = DataType::Uint32;
    test.choice.nchannels = 1 + static_cast<int>(turn / 3 % 2);
    test.choice.slot = 512_B * (1ULL << turn % 3);
    test.warps_per_strand = 1 + static_cast<int>(turn / 2 % 3);
    test.offset = static_cast<int>(turn % 5 * size_of(test.call.type).value % 16);
    test.in_place = turn % 3 == 1;
    cases.push_back(test);
  }
  expect_the_hosts_answer(std::move(cases));
}

INSTANTIATE_TEST_SUITE_P(Ranks, CudaSwitch, testing::Values(2, 3, 4, 5, 6, 7, 8),
                         [](const auto& test) { return std::to_string(test.param); });

TEST(CudaSwitch, EveryTypeAndOperationThatItReducesGivesTheHostsAnswer) {
  std::vector<DeviceCase> cases;
  for (int type = 0; type < 12; ++type) {
    for (const RedOp op : kOpsOfSwitch) {
      for (const Collective collective : {Collective::AllReduce, Collective::ReduceScatter}) {
        DeviceCase test = by_switch_case(collective, 3, 333 + type);
        test.seed = 100 + cases.size();
        test.call.type = static_cast<DataType>(type);
        test.call.op = op;
        if (is_in_switch(test)) cases.push_back(test);
      }
    }
  }
  EXPECT_EQ(cases.size(), 2U * (6 * 3 + 2));
  expect_the_hosts_answer(std::move(cases));
}

// One list is NCCL's, the other PTX's: the tuner may request what the instruction supports.
TEST(CudaSwitch, ReducesWhatNvlsMayBeAskedFor) {
  for (int type = 0; type < 12; ++type) {
    for (const RedOp op : {RedOp::Sum, RedOp::Prod, RedOp::Min, RedOp::Max}) {
      EXPECT_EQ(switch_reduces(static_cast<DataType>(type), op),
                can_reduce(Algorithm::Nvls, static_cast<DataType>(type), op))
          << to_string(static_cast<DataType>(type)) << ' ' << to_string(op);
    }
  }
}

/// Returns the sum of the ranks' inputs, of int32.
std::vector<std::byte> sum_of_ranks(const DeviceCase& test) {
  std::vector<std::byte> sum = input_of(test, 0);
  const ReduceOp op = *make_reduce_op(test.call.type, RedOp::Sum, test.nranks);
  for (int rank = 1; rank < test.nranks; ++rank) {
    const std::vector<std::byte> input = input_of(test, rank);
    op.combine(sum.data(), sum.data(), input.data(), FirstInput::Partial,
               static_cast<std::size_t>(test.call.count));
  }
  return sum;
}

// With 40 loops, a rank that does not wait for room overwrites unread data, in copies of which one rank is late.
TEST(CudaSwitch, EveryMemberUsesAllSlotsAndNoMore) {
  for (int slots = 1; slots <= kSlots; slots *= 2) {
    SCOPED_TRACE(slots);
    RINGSIDE_DEVICE_OR_SKIP(device);
    SwitchJob ranks(device, slots);
    const DeviceCase test = by_switch_case(Collective::AllReduce, 3, 128 * 3 * 40 + 5);
    for (int i = 0; i < 3; ++i) {
      const auto outputs = ranks.job().run(test);
      ASSERT_TRUE(outputs) << outputs.error().message;
      for (const auto& output : *outputs) {
        ASSERT_EQ(difference(test, output, sum_of_ranks(test)), "");
      }
    }
  }
}

// With one loop every slot has room, and rank 0 waits for the other rank's share; with 40 loops it also waits for room
// in its copy.
TEST(CudaSwitch, ARankThatDoesNotComeIsWaitedForNoLongerThanTheTimeOutAndNamed) {
  for (const Collective collective : {Collective::AllGather, Collective::ReduceScatter}) {
    for (const int loops : {1, 40}) {
      RINGSIDE_DEVICE_OR_SKIP(device);
      device.dead_rank = 1;
      SwitchJob ranks(device);
      DeviceCase test = by_switch_case(collective, 2, 128 * loops);
      test.timeout = kSoon;
      const auto outputs = ranks.job().run(test);
      ASSERT_FALSE(outputs);
      EXPECT_EQ(outputs.error().code, ErrorCode::Timeout);
      EXPECT_NE(outputs.error().message.find(" of rank 1 "), std::string::npos)
          << outputs.error().message;
    }
  }
}

// All ranks wait for a head, which waits for the missing rank.
TEST(CudaSwitch, AnAllReduceWithoutARankEndsAtTheTimeOut) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  device.dead_rank = 2;
  SwitchJob ranks(device);
  DeviceCase test = by_switch_case(Collective::AllReduce, 4, 128 * 40);
  test.timeout = kSoon;
  const auto outputs = ranks.job().run(test);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, ErrorCode::Timeout);
}

TEST(CudaSwitch, AnAbortEndsEveryWaitLongBeforeTheTimeOut) {
  for (const Collective collective : {Collective::AllReduce, Collective::AllGather}) {
    RINGSIDE_DEVICE_OR_SKIP(device);
    device.dead_rank = 1;
    device.aborts = true;
    SwitchJob ranks(device);
    DeviceCase test = by_switch_case(collective, 3, 128 * 40);
    test.timeout = std::chrono::hours(1);
    const auto outputs = ranks.job().run(test);
    ASSERT_FALSE(outputs);
    EXPECT_EQ(outputs.error().code, ErrorCode::Aborted) << outputs.error().message;
  }
}

TEST(CudaSwitch, WithoutOneNoCallIsLaidOutForIt) {
  RINGSIDE_DEVICE_OR_SKIP(device);
  DeviceJob job(device.launcher());
  const auto outputs = job.run(by_switch_case(Collective::AllReduce, 2, 100));
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, ErrorCode::Unsupported);
}

/// Four ranks behind a switch.
GpuSituation four_ranks() {
  return {.bytes = 1_MiB, .nranks = 4, .multiprocessors = 64, .has_switch = true};
}

bool is_by_switch(const GpuSituation& situation, const CallSettings& settings) {
  const auto choice = choose_on_gpu(situation, settings);
  EXPECT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->by_switch, !is_modelled(*choice) && facts_of(choice->algorithm).is_modelled());
  return choice->by_switch;
}

TEST(CudaSwitchChoice, NvlsRunsByTheSwitchWhereThereIsOne) {
  GpuSituation at = four_ranks();
  EXPECT_TRUE(is_by_switch(at, {.algorithm = Algorithm::Nvls}));
  EXPECT_TRUE(is_by_switch(at, {.algorithm = Algorithm::NvlsTree}));
  EXPECT_FALSE(is_by_switch(at, {.algorithm = Algorithm::Ring}));
  EXPECT_FALSE(is_by_switch(at, {}));  // no measurement favours it
  at.has_switch = false;
  EXPECT_FALSE(is_by_switch(at, {.algorithm = Algorithm::Nvls}));
}

TEST(CudaSwitchChoice, LinesOfLlAndLl128AreNotForSwitches) {
  const CallSettings lines{.algorithm = Algorithm::Nvls, .protocol = Protocol::LL};
  EXPECT_FALSE(is_by_switch(four_ranks(), lines));
}

TEST(CudaSwitchChoice, BlocksOfAnyTypeAreMulticast) {
  GpuSituation at = four_ranks();
  at.type = DataType::Float8E4m3;
  at.collective = Collective::AllGather;
  EXPECT_TRUE(is_by_switch(at, {.algorithm = Algorithm::Nvls}));
}

// Where nodes of one rank are joined, a switch has nothing to do. A network that reduces is modelled together with the
// switch.
TEST(CudaSwitchChoice, NodesOfOneRankAndNetworksThatReduceAreModelled) {
  GpuSituation at = four_ranks();
  at.nranks = 3;
  EXPECT_FALSE(is_by_switch(at, {.algorithm = Algorithm::NvlsTree}));
  at.nranks = 4;
  at.ranks_per_node = 2;
  EXPECT_TRUE(is_by_switch(at, {.algorithm = Algorithm::NvlsTree}));
  EXPECT_FALSE(is_by_switch(at, {.algorithm = Algorithm::Nvls}));
}

}  // namespace
}  // namespace ringside
