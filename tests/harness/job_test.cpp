#include "harness/job.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/host_name.h"
#include "harness/bench.h"
#include "ringside/trace_reader.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

JobOptions local_job(int nranks, const Transport* transport) {
  JobOptions job;
  job.local_ranks = nranks;
  job.communicator.host.transport = transport;
  job.grace = Seconds{0.5};
  return job;
}

/// Returns the names in /dev/shm, except those of an Open MPI that runs at the same time. (Sockets of the abstract
/// namespace cannot outlive their processes, which the test looks for separately.)
std::vector<std::string> leftovers() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("vader_segment", 0) != 0) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string trace_path(const std::string& name) {
  return testing::TempDir() + "job_test_" + std::to_string(::getpid()) + name + ".rtrace";
}

class Job : public testing::TestWithParam<const Transport*> {};

TEST_P(Job, EveryCollectiveIsRightOnRealProcesses) {
  for (const Collective collective : {Collective::AllReduce, Collective::AllGather,
                                      Collective::ReduceScatter, Collective::Broadcast}) {
    for (const int nchannels : {1, 3}) {
      JobOptions job = local_job(3, GetParam());
      job.communicator.settings.nchannels = nchannels;
      job.communicator.settings.slot = 4_KiB;
      const auto status = run_job(job, [&](JobRank& rank) -> Result<int> {
        BenchOptions bench;
        bench.collective = collective;
        bench.sizes = {8_B, 1000_B, 64_KiB, 300'000_B};
        bench.root = Rank{1};
        bench.warmup = 1;
        bench.iterations = 2;
        RINGSIDE_TRY(const std::vector<BenchRow> rows,
                     run_bench(rank.communicator, bench, [](const BenchRow&) {}));
        std::int64_t wrong = 0;
        for (const BenchRow& row : rows) wrong += row.out_of_place.wrong + row.in_place->wrong;
        return wrong == 0 ? 0 : 1;
      });
      ASSERT_TRUE(status) << status.error().message;
      EXPECT_EQ(*status, 0) << to_string(collective) << " on " << nchannels << " channels";
    }
  }
}

/// Repeats all-reduces until something ends them or `rounds` are over.
Result<int> reduce_for_ever(JobRank& rank, const std::function<void(int)>& before_round) {
  std::vector<float> data(1 << 16, 1.0F);
  for (int round = 0;; ++round) {
    before_round(round);
    RINGSIDE_TRY(rank.communicator.run({.input = data.data(),
                                        .output = data.data(),
                                        .count = static_cast<std::int64_t>(data.size())}));
  }
}

TEST(JobTrace, ThePathDistinguishesHostsAndProcesses) {
  JobOptions job;
  job.trace_path = testing::TempDir() + "job_test_%h_%p.rtrace";
  const auto status = run_job(job, [](JobRank&) -> Result<int> { return 0; });
  ASSERT_TRUE(status) << status.error().message;
  const std::string filled_in = testing::TempDir() + "job_test_" + host_name("localhost") + "_" +
                                std::to_string(::getpid()) + ".rtrace";
  const auto trace = TraceFile::open(filled_in);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->counts().processes, 3U);  // the process that made it, and both ranks
  std::filesystem::remove(filled_in);
}

// Tries more bytes than any machine has, and more than any number can express.
TEST(JobMemory, MoreThanTheHostHasIsRefusedBeforeAnyRankStarts) {
  for (const Bytes each : {Bytes{1ULL << 50}, Bytes{1ULL << 63}}) {
    JobOptions job;
    job.local_ranks = 4;
    job.memory = each;
    job.trace_path = trace_path("memory");
    const auto status = run_job(job, [](JobRank&) -> Result<int> { return 0; });
    ASSERT_FALSE(status);
    EXPECT_EQ(exit_status(status.error().code), 3);
    EXPECT_EQ(status.error().message.find("4 local ranks would take "), 0U)
        << status.error().message;
    EXPECT_FALSE(std::filesystem::exists(job.trace_path));
  }
}

/// Checks the promise for every failure: it ends soon, with one clear message, no process, no shared memory and a
/// readable trace.
void expect_clean_end(JobOptions job, const JobMain& main, const std::string& name) {
  const auto before = leftovers();
  job.trace_path = trace_path(name);
  const auto begin = std::chrono::steady_clock::now();
  const auto status = run_job(job, main);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  ASSERT_FALSE(status);
  EXPECT_EQ(exit_status(status.error().code), 3);
  EXPECT_NE(status.error().message.find("rank 2 (pid "), std::string::npos)
      << status.error().message;
  EXPECT_NE(status.error().message.find("signal 9"), std::string::npos);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  EXPECT_EQ(leftovers(), before);
  const auto trace = TraceFile::open(job.trace_path);
  EXPECT_TRUE(trace) << trace.error().message;
  std::filesystem::remove(job.trace_path);
}

TEST_P(Job, ARankKilledDuringBootstrapEndsTheJobCleanly) {
  JobOptions job = local_job(4, GetParam());
  job.on_stage = [](Rank rank, JobStage stage) {
    if (rank == Rank{2} && stage == JobStage::Bootstrap) ::kill(::getpid(), SIGKILL);
  };
  expect_clean_end(
      job, [](JobRank&) -> Result<int> { return 0; }, "bootstrap");
}

TEST_P(Job, ARankKilledWhileConnectingEndsTheJobCleanly) {
  JobOptions job = local_job(4, GetParam());
  job.on_stage = [](Rank rank, JobStage stage) {
    if (rank == Rank{2} && stage == JobStage::Connect) ::kill(::getpid(), SIGKILL);
  };
  expect_clean_end(
      job, [](JobRank&) -> Result<int> { return 0; }, "connect");
}

TEST_P(Job, ARankKilledInMidTransferEndsTheJobCleanlyAndItsTraceIsReadable) {
  const JobOptions job = local_job(4, GetParam());
  expect_clean_end(
      job,
      [](JobRank& rank) {
        std::jthread killer;
        if (rank.communicator.rank() == Rank{2}) {
          killer = std::jthread([] {
            std::this_thread::sleep_for(std::chrono::milliseconds(700));
            ::kill(::getpid(), SIGKILL);
          });
        }
        return reduce_for_ever(rank, [](int) {});
      },
      "transfer");
}

// The killed rank had recorded for 700 ms: at least its first flush, at 250 ms, is in the file.
TEST_P(Job, TheTraceContainsTheKilledRanksEvents) {
  JobOptions job = local_job(2, GetParam());
  job.trace_path = trace_path("killed");
  const auto status = run_job(job, [](JobRank& rank) {
    const bool victim = rank.communicator.rank() == Rank{1};
    const auto begin = std::chrono::steady_clock::now();
    return reduce_for_ever(rank, [&](int) {
      const auto age = std::chrono::steady_clock::now() - begin;
      if (victim && age > std::chrono::milliseconds(700)) ::kill(::getpid(), SIGKILL);
    });
  });
  EXPECT_FALSE(status);
  const auto trace = TraceFile::open(job.trace_path);
  ASSERT_TRUE(trace) << trace.error().message;
  std::int64_t of_the_killed = 0;
  trace->for_each_event([&](const TraceEvent& event) { of_the_killed += event.rank == 1 ? 1 : 0; });
  EXPECT_GT(of_the_killed, 0);
  std::filesystem::remove(job.trace_path);
}

// Ranks 0, 1 and 2, 3: memory within a host, the network between them.
TEST(JobOfSeveralHosts, RanksOfOneMachineCanPlayThem) {
  JobOptions job = local_job(4, nullptr);
  job.on_stage = [](Rank rank, JobStage stage) {
    if (stage != JobStage::Bootstrap) return;
    ::setenv("NCCL_HOSTID", to_int(rank) < 2 ? "first" : "second", 1);
  };
  const auto status = run_job(job, [](JobRank& rank) -> Result<int> {
    const HostLayout& layout = rank.communicator.layout();
    if (layout.transport != "shm+tcp" || layout.ranks_per_node != 2 || layout.local_ranks != 2) {
      return Error{ErrorCode::Corrupt, layout.transport};
    }
    const float one = 1;
    float sum = 0;
    RINGSIDE_TRY(rank.communicator.run({.input = &one, .output = &sum, .count = 1}));
    return sum == 4 ? 0 : 1;
  });
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(*status, 0);
}

TEST_P(Job, ARankThatNeverComesIsNamed) {
  JobOptions job = local_job(3, GetParam());
  job.join_timeout = Seconds{0.5};
  job.on_stage = [](Rank rank, JobStage stage) {
    if (rank == Rank{1} && stage == JobStage::Bootstrap) {
      std::this_thread::sleep_for(std::chrono::seconds(30));
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto status = run_job(job, [](JobRank&) -> Result<int> { return 0; });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Timeout);
  EXPECT_NE(status.error().message.find("rank 1 of 3 never came"), std::string::npos)
      << status.error().message;
}

TEST_P(Job, ARankThatHangsRunsIntoTheOperationTimeout) {
  JobOptions job = local_job(2, GetParam());
  job.communicator.op_timeout = Seconds{0.5};
  const auto status = run_job(job, [](JobRank& rank) -> Result<int> {
    return reduce_for_ever(rank, [&](int round) {
      if (round == 3 && rank.communicator.rank() == Rank{1}) {
        std::this_thread::sleep_for(std::chrono::seconds(30));
      }
    });
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::Timeout);
  EXPECT_NE(status.error().message.find("rank 0 lost rank 1 on channel 0"), std::string::npos)
      << status.error().message;
}

TEST_P(Job, RanksThatDisagreeOnTheCountAreReported) {
  const auto status = run_job(local_job(2, GetParam()), [](JobRank& rank) -> Result<int> {
    std::vector<float> data(1024, 1.0F);
    const std::int64_t count = rank.communicator.rank() == Rank{0} ? 1024 : 1000;
    RINGSIDE_TRY(
        rank.communicator.run({.input = data.data(), .output = data.data(), .count = count}));
    return 0;
  });
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("rank 0 called all_reduce of 1024 float sum, rank 1 called "
                                        "all_reduce of 1000 float sum"),
            std::string::npos)
      << status.error().message;
  EXPECT_EQ(exit_status(status.error().code), 2);
}

INSTANTIATE_TEST_SUITE_P(Table, Job, testing::ValuesIn(joining_transports()),
                         [](const auto& test) { return name_of(test); });

// 1 us, and 2 (n - 1) / n of a million bytes at 1 GB/s: 1.5 ms among 4 ranks.
TEST(Bench, ExpectsOneMessageOfTheBytesOfALink) {
  const LinkPace pace{Seconds{1e-6}, BytesPerSecond{1e9}};
  EXPECT_NEAR(expected_time(pace, Collective::AllReduce, Bytes{1'000'000}, 4).count(), 1.501e-3,
              1e-12);
  EXPECT_NEAR(expected_time(pace, Collective::AllGather, Bytes{1'000'000}, 4).count(), 0.751e-3,
              1e-12);
  EXPECT_NEAR(expected_time(pace, Collective::Broadcast, Bytes{0}, 2).count(), 1e-6, 1e-12);
}

}  // namespace
}  // namespace ringside
