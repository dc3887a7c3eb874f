// Tests a rank that hangs or dies in a kernel: the ranks that wait for it give up in time, and `hang` names it from
// the files that the ranks leave.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "diag/hangdetect/examine.h"
#include "diag/report/sentences/hang_sentences.h"
#include "tests/cuda/process_job.h"

namespace ringside {
namespace {

struct HangWay {
  const char* name;
  const char* transport;
  MemoryAccess shares_by = MemoryAccess::None;
  Protocol protocol = Protocol::Simple;
};

class KernelThatStops : public testing::TestWithParam<HangWay> {
 protected:
  KernelThatStops() { std::filesystem::create_directories(dumps_); }
  ~KernelThatStops() override { std::filesystem::remove_all(dumps_); }
  KernelThatStops(const KernelThatStops&) = delete;
  KernelThatStops& operator=(const KernelThatStops&) = delete;

  /// Rank 2 of 4 stops in the third call, in the way that `how` selects.
  ///
  /// returns  the verdict of `hang`
  Result<hang::Verdict> stop(bool DeviceUnderTest::*how) {
    ProcessJob job;
    job.nranks = 4;
    job.transport = GetParam().transport;
    job.shares_by = GetParam().shares_by;
    job.memory = {.may_open = job.shares_by != MemoryAccess::None,
                  .by_file = job.shares_by == MemoryAccess::File};
    job.op_timeout = Seconds{1};
    job.dumps = dumps_;
    DeviceCase test;
    test.nranks = job.nranks;
    test.call.type = DataType::Int32;
    test.call.count = 20000;
    test.choice = {.algorithm = Algorithm::Ring, .protocol = GetParam().protocol, .slot = 512_B};
    const auto ended = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
      for (int call = 0; call < 3; ++call) {
        if (rank.rank == 2 && call == 2) rank.device.*how = true;
        RINGSIDE_TRY(const auto output, run_case(rank, test));
      }
      return 0;
    });
    EXPECT_FALSE(ended);
    if (!ended) reason_ = ended.error().message;
    RINGSIDE_TRY(hang::Examination examined, hang::examine({dumps_}));
    connections_ = std::move(examined.connections);
    return std::move(examined.verdict);
  }

  const std::string dumps_ = fmt::format("{}cuda_hang_{}", testing::TempDir(), ::getpid());
  std::string reason_;
  std::vector<hang::ConnectionProgress> connections_;
};

TEST_P(KernelThatStops, IsNamedWhereItHangs) {
  const auto verdict = stop(&DeviceUnderTest::hangs);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->best.culprits, std::vector<int>{2})
      << hang::why_of(verdict->best) << "; " << reason_;
}

TEST_P(KernelThatStops, IsNamedWhereItDies) {
  const auto verdict = stop(&DeviceUnderTest::dies);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->best.culprits, std::vector<int>{2})
      << hang::why_of(verdict->best) << "; " << reason_;
}

// A proxy plays the faults, and copies with Simple; where kernels share memory, no proxy exists that could.
Result<int> all_reduce_with(const Fault& fault, const char* transport, Protocol protocol) {
  DeviceCase test;
  test.nranks = 3;
  test.call.type = DataType::Int32;
  test.call.count = 20000;
  test.choice = {.algorithm = Algorithm::Ring, .protocol = protocol, .slot = 512_B};
  ProcessJob job;
  job.transport = transport;
  job.faults.faults = {fault};
  return run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    RINGSIDE_TRY(const auto output, run_case(rank, test));
    return 0;
  });
}

TEST(KernelFaults, ACutConnectionIsReportedByItsProxy) {
  const Fault cut{.kind = FaultKind::CutLink, .from = 0, .to = 1, .step = 20};
  for (const Protocol protocol : {Protocol::Simple, Protocol::LL}) {
    const auto ended = all_reduce_with(cut, "tcp", protocol);
    ASSERT_FALSE(ended);
    // The sender sees a cut connection, the receiver a closed one, whichever is noticed first.
    EXPECT_EQ(ended.error().code, ErrorCode::PeerGone) << ended.error().message;
  }
}

TEST(KernelFaults, AreRefusedWhereKernelsShareMemory) {
  const auto ended =
      all_reduce_with({.kind = FaultKind::StallLink, .from = 0, .to = 1}, "", Protocol::Simple);
  ASSERT_FALSE(ended);
  EXPECT_NE(ended.error().message.find("whose kernels share the slots' memory"), std::string::npos)
      << ended.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Ways, KernelThatStops,
    testing::Values(HangWay{"HostPages", ""},
                    HangWay{"HostPagesLl", "", MemoryAccess::None, Protocol::LL},
                    HangWay{"Ipc", "", MemoryAccess::Ipc},
                    HangWay{"FilesLl128", "", MemoryAccess::File, Protocol::LL128},
                    HangWay{"Proxy", "tcp"},
                    HangWay{"ProxyLl", "tcp", MemoryAccess::None, Protocol::LL}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace ringside
