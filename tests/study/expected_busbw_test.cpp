#include "study/expected_busbw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "study/simulation.h"
#include "tests/trace/trace_files.h"

namespace ringside::study {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Bytes kSize = 64_MiB;

using Values = std::vector<std::pair<std::string, std::string>>;

/// A trace in which each communicator of `ranks` makes one call.
class Trace {
 public:
  explicit Trace(Values values = {}) {
    bytes_ = file_header();
    TraceInfo info;
    info.values = std::move(values);
    append_bytes(bytes_, info_block(info));
  }
  Trace& add(std::uint32_t communicator, Collective collective, const std::vector<int>& ranks) {
    std::vector<TraceEvent> events;
    for (const int rank : ranks) {
      TraceEvent event;
      event.kind = EventKind::Collective;
      event.rank = rank;
      event.communicator = communicator;
      event.collective = collective;
      event.bytes = kSize.value;
      event.end_ns = 1'000'000;
      events.push_back(event);
    }
    append_bytes(bytes_, events_block(events));
    return *this;
  }
  /// The file reads this trace's bytes.
  [[nodiscard]] TraceFile file() const { return TraceFile::parse(bytes_, "made").value(); }

 private:
  FileBytes bytes_;
};

std::vector<int> range(int first, int count) {
  std::vector<int> ranks;
  for (int i = 0; i < count; ++i) ranks.push_back(first + i);
  return ranks;
}

/// What `sim` has for the call alone.
double simulated(const char* collective, int nodes) {
  const SimPlan plan = plan_simulation({.job = {.on = "dgx-h100", .nodes = nodes},
                                        .calls = {.collective = collective, .sizes = "64M"}})
                           .value();
  return simulate_call(plan, tune_call(plan, kSize).value())->busbw.value;
}

// Communicator 0 is the job on 2 hosts, communicator 1 the GPUs of the second one.
TEST(ExpectedBusbw, IsWhatSimPredictsForTheRanksOfTheCommunicator) {
  const Trace trace = Trace()
                          .add(0, Collective::AllReduce, range(0, 16))
                          .add(1, Collective::AllGather, range(8, 8));
  const TraceFile file = trace.file();
  std::vector<CallSummary> calls = calls_of(file);
  ASSERT_THAT(calls, SizeIs(2));
  const auto expected = expect_busbw({.on = "dgx-h100"}, file, calls);
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_THAT(expected->notes, IsEmpty());
  EXPECT_GT(expected->error_percent, 0);
  for (const CallSummary& call : calls) {
    ASSERT_TRUE(call.expected_busbw) << call.communicator;
    const double alone =
        call.communicator == 0 ? simulated("all_reduce", 2) : simulated("all_gather", 1);
    EXPECT_NEAR(call.expected_busbw->value / alone, 1, 1e-6) << call.communicator;
  }
  for (const SizeSummary& one : sizes_of(calls)) EXPECT_TRUE(one.expected_busbw);
}

// 8 pairs of GPUs with one number on two hosts call at the same time, each by a NIC of its own.
TEST(ExpectedBusbw, ACommunicatorOfOneGpuAHostGoesByTheNic) {
  Trace trace;
  trace.add(0, Collective::AllReduce, range(0, 16));
  for (int gpu = 0; gpu < 8; ++gpu)
    trace.add(static_cast<std::uint32_t>(gpu + 1), Collective::AllReduce, {gpu, gpu + 8});
  const TraceFile file = trace.file();
  std::vector<CallSummary> calls = calls_of(file);
  ASSERT_TRUE(expect_busbw({.on = "dgx-h100"}, file, calls));
  for (const CallSummary& call : calls) {
    ASSERT_TRUE(call.expected_busbw);
    if (call.nranks == 2) {
      EXPECT_LT(in_gbs(*call.expected_busbw), 50);
    } else if (call.nranks == 16) {
      EXPECT_GT(in_gbs(*call.expected_busbw), 100);
    }
  }
}

// The trace holds 2 of the 4 ranks of communicator 1: the hosts of the other two are not known.
TEST(ExpectedBusbw, UnknownRanksHaveNoExpectation) {
  const Trace trace = Trace(Values{{kGroupSizes, "8; 4"}})
                          .add(0, Collective::AllReduce, {0, 1})
                          .add(1, Collective::AllReduce, {0, 1});
  const TraceFile file = trace.file();
  std::vector<CallSummary> calls = calls_of(file);
  ASSERT_THAT(calls, SizeIs(2));
  const auto expected = expect_busbw({.on = "dgx-h100"}, file, calls);
  ASSERT_TRUE(expected) << expected.error().message;
  for (const CallSummary& call : calls)
    EXPECT_EQ(call.expected_busbw.has_value(), call.communicator == 0);
  ASSERT_THAT(expected->notes, SizeIs(1));
  EXPECT_THAT(expected->notes[0], HasSubstr("communicators of 4 ranks"));
}

TEST(ExpectedBusbw, TooManyRanksAreAnError) {
  for (const int last : {4096, std::numeric_limits<int>::max()}) {
    const Trace trace = Trace().add(0, Collective::AllReduce, {0, last});
    const TraceFile file = trace.file();
    std::vector<CallSummary> calls = calls_of(file);
    const auto expected = expect_busbw({.on = "dgx-h100"}, file, calls);
    ASSERT_FALSE(expected) << last;
    EXPECT_EQ(expected.error().code, ErrorCode::Unsupported);
  }
}

TEST(ExpectedBusbw, TransfersAndCallsWithoutSizeHaveNone) {
  const Trace trace = Trace()
                          .add(0, Collective::Send, {0})
                          .add(0, Collective::Recv, {1})
                          .add(1, Collective::AllReduce, {0});
  const TraceFile file = trace.file();
  std::vector<CallSummary> calls = calls_of(file);
  for (CallSummary& call : calls) call.nranks = 2;
  calls.back().bytes = {};
  const auto expected = expect_busbw({.on = "no such host"}, file, calls);
  ASSERT_TRUE(expected) << "no host is needed";
  EXPECT_EQ(expected->error_percent, 0);
}

TEST(ExpectedBusbw, TooFewGpusAreAnError) {
  const Trace trace = Trace().add(0, Collective::AllReduce, range(0, 16));
  const TraceFile file = trace.file();
  std::vector<CallSummary> calls = calls_of(file);
  const auto expected = expect_busbw({.on = "dgx-h100", .nodes = 1}, file, calls);
  ASSERT_FALSE(expected);
  EXPECT_THAT(expected.error().help, HasSubstr("nodes: 2"));
}

TEST(ExpectedBusbw, TheTraceStatesItsHosts) {
  const auto on = [](const char* key, const char* value) {
    const auto hosts = hosts_of_trace(Trace(Values{{key, value}}).file());
    return hosts ? hosts->job.on : "";
  };
  EXPECT_EQ(on(kTraceCluster, "gb200-nvl72"), "gb200-nvl72");
  EXPECT_EQ(on(kTraceCluster, "/etc/passwd"), "") << "a trace cannot name files";
  EXPECT_EQ(on(kTraceGpu, "NVIDIA H100 80GB HBM3"), "dgx-h100");
  EXPECT_EQ(on(kTraceGpu, "NVIDIA A100-SXM4-40GB"), "dgx-a100");
  EXPECT_EQ(on(kTraceGpu, "NVIDIA A100-PCIE-40GB"), "");
  EXPECT_EQ(on("other", "dgx-h100"), "");
}

}  // namespace
}  // namespace ringside::study
