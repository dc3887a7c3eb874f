// Creates a thousand communicators, one after the other: none leaves anything behind.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "engine/flight/recorder.h"
#include "engine/runtime/communicator.h"
#include "engine/runtime/host/host_stream.h"
#include "tests/runtime/ranks.h"

namespace ringside {
namespace {

/// The resources of a process that communicators use.
struct Held {
  int descriptors = 0;
  int threads = 0;
  int mappings = 0;
};

int entries_of(const char* folder) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

/// Counts the mappings of shared memory: the allocator's own mappings vary.
int shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find("memfd:") != std::string::npos ? 1 : 0;
  }
  return count;
}

Held held() {
  return {entries_of("/proc/self/fd"), entries_of("/proc/self/task"), shared_mappings()};
}

/// Makes one of two ranks, which sums, splits and joins, and ends it in one of several ways.
void live_once(int round) {
  const auto root = make_root(2);
  FlightRecorder recorders[2] = {FlightRecorder({}, 0), FlightRecorder({}, 1)};
  run_ranks(first_ranks(2), [&](int rank) {
    CommunicatorOptions options;
    options.host.table_path = "";
    options.op_timeout = Seconds{30};
    options.recorder = &recorders[rank];
    auto made = runtime::Communicator::make(must_join(rank, 2, root->id()), options);
    ASSERT_TRUE(made) << made.error().message;
    const int in = rank + 1;
    int out = 0;
    CollectiveCall call;
    call.type = DataType::Int32;
    call.input = &in;
    call.output = &out;
    call.count = 1;
    HostStream stream;
    ASSERT_TRUE((*made)->enqueue(call, stream));
    stream.synchronize();
    EXPECT_EQ(out, 3);
    if (round % 8 == 1) {
      const auto part = (*made)->split(rank, 0);
      ASSERT_TRUE(part);
      EXPECT_TRUE((*part)->finish());
    }
    if (round % 8 == 2) {
      if (rank == 0) (*made)->abort({ErrorCode::Aborted, "enough"});
      return;
    }
    EXPECT_TRUE((*made)->finish());
  });
}

TEST(ManyCommunicators, AThousandInALoopLeaveNoDescriptorThreadOrMapping) {
  for (int round = 0; round < 16; ++round) live_once(round);
  const Held before = held();
  for (int round = 0; round < 1000; ++round) {
    live_once(round);
    if (testing::Test::HasFailure()) return;
  }
  const Held after = held();
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_EQ(after.threads, before.threads);
  EXPECT_EQ(after.mappings, before.mappings);
}

}  // namespace
}  // namespace ringside
