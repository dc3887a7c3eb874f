#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "engine/cuda/device_traffic.h"
#include "tests/cuda/host_answer.h"
#include "tests/cuda/process_job.h"

// Buffers that ranks in different processes have registered: other ranks store directly into them.
namespace ringside {
namespace {

constexpr int kRanks = 3;
constexpr std::size_t kRoom = 1 << 17;  // of each of input and output
constexpr std::size_t kOutputs = kRoom + 640;

class CudaWindows : public testing::TestWithParam<MemoryAccess> {
 protected:
  [[nodiscard]] static ProcessJob job() {
    return {.nranks = kRanks,
            .shares_by = GetParam(),
            .memory = {.by_file = GetParam() == MemoryAccess::File}};
  }
  /// Takes memory that others can open.
  static Result<std::byte*> take(const ProcessRank& rank) {
    return rank.device.launcher().memory.take_to_share(Bytes{2 * kRoom + 4096}, GetParam());
  }
  static void run(const ProcessJob& job,
                  const std::function<Result<int>(const ProcessRank& rank)>& main) {
    const auto status = run_processes(job, main);
    if (!status && status.error().message.find("no NVIDIA driver") != std::string::npos) {
      GTEST_SKIP() << status.error().message;
    }
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(*status, 0);
  }
};

/// Makes the call with input and output next to each other in `base`, the output shifted by as many bytes.
Result<std::vector<std::byte>> run_in(const ProcessRank& rank, const DeviceCase& test,
                                      std::byte* base) {
  std::byte* const out = base + kOutputs + test.offset;
  std::byte* in = base + 128;
  if (test.in_place) {
    const bool gathers = test.call.collective == Collective::AllGather;
    const std::size_t own = input_of(test, rank.rank).size();
    in = out + (gathers ? own * static_cast<std::size_t>(rank.rank) : 0);
  }
  return run_case_in(rank, test, in, out);
}

int print_wrong(const DeviceCase& test, int rank, const std::string& what) {
  std::fprintf(stderr, "%s, rank %d: %s\n", to_string(test).c_str(), rank, what.c_str());
  return 1;
}

// Calls at all kinds of places in one registered buffer, one after the other; LL in between does not use the
// registration.
TEST_P(CudaWindows, EveryCollectiveAndAlgorithmGivesTheHostsBits) {
  std::vector<DeviceCase> cases = integer_grid(kRanks, false);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].offset = static_cast<int>(i % 4 * size_of(cases[i].call.type).value % 16);
    const Collective collective = cases[i].call.collective;
    cases[i].in_place =
        i % 2 == 0 && (collective == Collective::AllReduce || collective == Collective::AllGather ||
                       collective == Collective::Broadcast);
  }
  const auto expected = host_answers(cases);
  run(job(), [&](const ProcessRank& rank) -> Result<int> {
    RINGSIDE_TRY(std::byte* const base, take(rank));
    RINGSIDE_TRY(const int number,
                 rank.communicator.register_buffer(base, Bytes{2 * kRoom + 4096}));
    if (number == 0) return 2;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      RINGSIDE_TRY(const auto output, run_in(rank, cases[i], base));
      const std::string wrong =
          difference(cases[i], output, expected[i][static_cast<std::size_t>(rank.rank)]);
      if (!wrong.empty()) return print_wrong(cases[i], rank.rank, wrong);
    }
    return 0;
  });
}

DeviceCase long_case(Collective collective, std::int64_t count) {
  DeviceCase test = all_reduce_case(kRanks, Protocol::Simple, count);
  test.call.collective = test.choice.collective = collective;
  return test;
}

/// Returns the chunks that a ring's rank stores in an all-reduce of 3 chunks: 2n - 1 with direct stores, 3n - 2
/// through slots.
Result<std::uint64_t> chunks_stored(const ProcessRank& rank, std::byte* base) {
  const DeviceCase test = long_case(Collective::AllReduce, 128 * kRanks * 20);
  RINGSIDE_TRY(const auto output, run_in(rank, test, base));
  return rank.device.last_traffic.stored.value * kRanks / output.size();
}

// Before the buffer is registered, after it is deregistered, outside of a window, and with a rank whose memory no
// other can open.
TEST_P(CudaWindows, UnregisteredMemoryUsesSlots) {
  run(job(), [&](const ProcessRank& rank) -> Result<int> {
    RINGSIDE_TRY(std::byte* const base, take(rank));
    RINGSIDE_TRY(std::byte* const other, take(rank));
    RINGSIDE_TRY(std::byte* const own, rank.device.launcher().memory.take(Bytes{2 * kRoom + 4096}));
    RINGSIDE_TRY(const std::uint64_t first, chunks_stored(rank, base));
    const bool counts = first != 0;  // a GPU does not
    const auto expect = [&](std::byte* memory, std::uint64_t stored) -> Status {
      RINGSIDE_TRY(const std::uint64_t found, chunks_stored(rank, memory));
      if (found == stored || !counts) return {};
      return Error{ErrorCode::Corrupt,
                   "stored " + std::to_string(found) + " chunks, not " + std::to_string(stored)};
    };
    RINGSIDE_TRY(expect(base, 7));
    // Registers only a part of the buffer: a call that begins in it and ends outside it does not count as registered.
    RINGSIDE_TRY(const int part, rank.communicator.register_buffer(base, Bytes{kOutputs + 64}));
    RINGSIDE_TRY(expect(base, 7));
    rank.communicator.deregister_buffer(part);
    RINGSIDE_TRY(const int number,
                 rank.communicator.register_buffer(base, Bytes{2 * kRoom + 4096}));
    RINGSIDE_TRY(expect(base, 5));
    RINGSIDE_TRY(expect(other, 7));
    RINGSIDE_TRY(expect(base, 5));
    rank.communicator.deregister_buffer(number);
    RINGSIDE_TRY(expect(base, 7));
    // Rank 1's neighbours store nothing directly into its memory; rank 1 stores its messages to rank 2 directly, and
    // so on.
    RINGSIDE_TRY(
        rank.communicator.register_buffer(rank.rank == 1 ? own : base, Bytes{2 * kRoom + 4096}));
    RINGSIDE_TRY(expect(rank.rank == 1 ? own : base, rank.rank == 1 ? 7 : 5));
    return 0;
  });
}

// Rank 0 finishes its part of a chain early, and its next call has begun: rank 1 keeps its data as long as it is in no
// call.
TEST_P(CudaWindows, NoStoreHappensBetweenAReceiversCalls) {
  run(job(), [&](const ProcessRank& rank) -> Result<int> {
    RINGSIDE_TRY(std::byte* const base, take(rank));
    RINGSIDE_TRY(const int number,
                 rank.communicator.register_buffer(base, Bytes{2 * kRoom + 4096}));
    if (number == 0) return 2;
    DeviceMemory& memory = rank.device.launcher().memory;
    for (std::uint64_t seed = 1; seed < 8; ++seed) {
      DeviceCase test = long_case(Collective::Broadcast, 128 * 40);
      test.seed = seed;
      RINGSIDE_TRY(auto output, run_in(rank, test, base));
      if (rank.rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (rank.rank == 1) RINGSIDE_TRY(memory.read(output, base + kOutputs));
      const std::string wrong = difference(test, output, input_of(test, 0));
      if (!wrong.empty()) return print_wrong(test, rank.rank, wrong);
    }
    return 0;
  });
}

TEST_P(CudaWindows, ASenderTimesOutAndNamesItsReceiver) {
  ProcessJob dying = job();
  dying.op_timeout = Seconds{0.5};
  dying.dead_rank = 1;
  const auto status = run_processes(dying, [&](const ProcessRank& rank) -> Result<int> {
    RINGSIDE_TRY(std::byte* const base, take(rank));
    RINGSIDE_TRY(rank.communicator.register_buffer(base, Bytes{2 * kRoom + 4096}));
    RINGSIDE_TRY(const auto output, run_in(rank, long_case(Collective::Broadcast, 128 * 40), base));
    return rank.rank == 1 ? 0 : 1;
  });
  if (!status && status.error().message.find("no NVIDIA driver") != std::string::npos) {
    GTEST_SKIP() << status.error().message;
  }
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("rank 0 waited in vain for the call of rank 1"),
            std::string::npos)
      << status.error().message;
}

TEST_P(CudaWindows, RegistersNothingIfRegistrationIsOff) {
  ProcessJob plain = job();
  plain.registers = false;
  run(plain, [&](const ProcessRank& rank) -> Result<int> {
    RINGSIDE_TRY(std::byte* const base, take(rank));
    RINGSIDE_TRY(const int number,
                 rank.communicator.register_buffer(base, Bytes{2 * kRoom + 4096}));
    RINGSIDE_TRY(const std::uint64_t stored, chunks_stored(rank, base));
    return number == 0 && (stored == 7 || stored == 0) ? 0 : 1;
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, CudaWindows, testing::Values(MemoryAccess::Ipc, MemoryAccess::File),
                         [](const auto& test) {
                           return test.param == MemoryAccess::Ipc ? "Ipc" : "Files";
                         });

}  // namespace
}  // namespace ringside
