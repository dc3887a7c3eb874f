#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <tuple>
#include <vector>

#include "base/fd.h"
#include "engine/cuda/process_executor.h"
#include "engine/runtime/bootstrap/bootstrap_root.h"
#include "harness/bench.h"
#include "harness/bench_grid.h"
#include "ringside/trace_reader.h"
#include "tests/cuda/host_answer.h"
#include "tests/cuda/process_job.h"
#include "tests/support/shared_page.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

/// The place of the slots between two processes, and what selects it.
struct Way {
  const char* name;
  const char* transport;
  MemoryAccess shares_by = MemoryAccess::None;
  bool lets_adapters = false;
  const char* says = "";  ///< what the log says of each connection of Simple
  [[nodiscard]] bool shares_memory() const { return shares_by != MemoryAccess::None; }
};

constexpr Way kHostPages{.name = "HostPages", .transport = "", .says = "memory of the host"};
constexpr Way kIpc{.name = "Ipc",
                   .transport = "",
                   .shares_by = MemoryAccess::Ipc,
                   .says = "the receiver's GPU, by CUDA IPC"};
constexpr Way kFiles{.name = "Files",
                     .transport = "",
                     .shares_by = MemoryAccess::File,
                     .says = "the receiver's GPU, by cuMem"};
constexpr Way kProxy{.name = "Proxy", .transport = "tcp", .says = "tcp, slots in place"};
/// The slots are in the device's memory, their counters in the host's.
constexpr Way kDirect{
    .name = "Direct", .transport = "tcp", .lets_adapters = true, .says = "tcp, slots in place"};
constexpr Way kRdma{.name = "Rdma", .transport = "rdma", .says = "rdma, registered host memory"};
constexpr Way kRdmaDirect{.name = "RdmaDirect",
                          .transport = "rdma",
                          .lets_adapters = true,
                          .says = "rdma, registered host memory"};

/// Returns the places that this machine supports.
std::vector<Way> all_ways() {
  std::vector<Way> ways{kHostPages, kIpc, kFiles, kProxy, kDirect};
  const auto rdma = parse_transport("rdma");
  if (rdma && can_be_opened(**rdma)) ways.insert(ways.end(), {kRdma, kRdmaDirect});
  return ways;
}

ProcessJob job_of(const Way& way) {
  return {
      .transport = way.transport,
      .shares_by = way.shares_by,
      .lets_adapters = way.lets_adapters,
      .memory = {.may_open = way.shares_memory(), .by_file = way.shares_by == MemoryAccess::File}};
}

/// Counts, over all processes, how many have reached a place.
class SharedCount {
 public:
  void add() { ++*count_; }
  [[nodiscard]] int value() const { return count_->load(); }

 private:
  SharedPage<std::atomic<int>> count_;
};

class CudaProcesses : public testing::TestWithParam<Way> {};

/// One test per collective: where processes use one GPU alternately, all of them together take minutes.
class CudaProcessGrid : public testing::TestWithParam<std::tuple<Way, Collective>> {};

TEST_P(CudaProcessGrid, EveryAlgorithmGivesTheHostsBits) {
  const auto& [way, collective] = GetParam();
  std::vector<DeviceCase> cases = integer_grid(3, way.shares_memory());
  std::erase_if(cases, [&](const DeviceCase& one) { return one.call.collective != collective; });
  const auto expected = host_answers(cases);
  const auto status = run_processes(
      job_of(way), [&](const ProcessRank& rank) { return run_cases(rank, cases, expected); });
  EXPECT_ENDS_WELL(status);
}

// There are 3 chunks of 20000 / 3 elements: more than 50 messages of 512 bytes, twice, through connections of 8 slots,
// call after call.
TEST_P(CudaProcesses, ASenderWaitsForRoomAndCallsFollowEachOther) {
  std::vector<DeviceCase> cases;
  for (int i = 0; i < 4; ++i) {
    cases.push_back(all_reduce_case(3, i % 2 == 0 ? Protocol::Simple : Protocol::LL, 20000 + i));
  }
  const auto expected = host_answers(cases);
  const auto status =
      run_processes(job_of(GetParam()), [&](const ProcessRank& rank) -> Result<int> {
        for (std::size_t i = 0; i < cases.size(); ++i) {
          RINGSIDE_TRY(const auto output, run_case(rank, cases[i]));
          if (output != expected[i][static_cast<std::size_t>(rank.rank)]) return 1;
        }
        return 0;
      });
  EXPECT_ENDS_WELL(status);
}

// In a ring of 3, each rank sends on one connection and receives on one. Proxies make the lines.
TEST_P(CudaProcesses, ACommunicatorReportsTheKindsOfItsConnections) {
  const auto status =
      run_processes(job_of(GetParam()), [&](const ProcessRank& rank) -> Result<int> {
        RINGSIDE_TRY(const auto output, run_case(rank, all_reduce_case(3, Protocol::Simple, 90)));
        const std::map<std::string, int> simple{{GetParam().says, 2}};
        if (rank.communicator.connection_types() != simple) return 1;
        RINGSIDE_TRY(const auto lines, run_case(rank, all_reduce_case(3, Protocol::LL, 90)));
        int count = 0;
        for (const auto& [way, connections] : rank.communicator.connection_types())
          count += connections;
        return count == 4 ? 0 : 2;
      });
  EXPECT_ENDS_WELL(status);
}

/// A new folder for one test.
class TestFolder {
 public:
  TestFolder() { std::filesystem::create_directories(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  const std::string path_ = fmt::format("{}cuda_processes_{}", testing::TempDir(), ::getpid());
};

TEST(CudaProcessLog, LogsWhichNetworkTheConnectionsOfKernelsTake) {
  const TestFolder folder;
  ProcessJob job = job_of(kProxy);
  job.logs = folder.path();
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    RINGSIDE_TRY(const auto output, run_case(rank, all_reduce_case(3, Protocol::Simple, 90)));
    return 0;
  });
  EXPECT_ENDS_WELL(status);
  const auto log = read_file(folder.path() + "/rank_0.log");
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_NE(log->find("[send] via NET/Socket/0"), std::string::npos) << *log;
  EXPECT_NE(log->find("[receive] via NET/Socket/0"), std::string::npos) << *log;
}

// The launches of two ranks wait for the third and report it; the third has nothing to wait for and is informed.
TEST_P(CudaProcesses, ARankThatDoesNotComeInTheKernelIsWaitedForNoLongerThanTheTimeOut) {
  ProcessJob job = job_of(GetParam());
  job.op_timeout = Seconds{0.5};
  job.dead_rank = 1;
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    const auto output = run_case(rank, all_reduce_case(3, Protocol::Simple, 40000));
    if (rank.rank == 1) return 0;
    if (output) return 1;
    const Error& error = output.error();
    const bool is_late = error.message.find("waited in vain for") != std::string::npos;
    return is_late ? 0 : 2;
  });
  if (is_without_device(status)) GTEST_SKIP() << status.error().message;
  // The job ends with the first rank's error, which every rank reports.
  ASSERT_TRUE(status || status.error().code != ErrorCode::System) << status.error().message;
  if (status) {
    EXPECT_EQ(*status, 0);
  }
}

// The time-out is an hour, so only the abort can stop the others' kernels.
TEST_P(CudaProcesses, AnAbortOfOneRankEndsTheKernelsOfAll) {
  ProcessJob job = job_of(GetParam());
  job.op_timeout = Seconds{3600};
  SharedCount ended;
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    const DeviceCase test = all_reduce_case(3, Protocol::Simple, 40000);
    RINGSIDE_TRY(const auto first, run_case(rank, test));
    RINGSIDE_TRY(rank.communicator.barrier());  // all are connected, and in no call
    if (rank.rank == 1) return Error{ErrorCode::InvalidArgument, "rank 1 has had enough"};
    const auto second = run_case(rank, test);
    ended.add();
    if (second) return 1;
    return second.error();
  });
  if (is_without_device(status)) GTEST_SKIP() << status.error().message;
  EXPECT_EQ(ended.value(), 2);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("rank 1 has had enough"), std::string::npos)
      << status.error().message;
}

// Rank 1 never calls, so the others wait for it before a kernel is launched.
TEST_P(CudaProcesses, AnAbortEndsTheWaitForConnections) {
  ProcessJob job = job_of(GetParam());
  job.op_timeout = Seconds{3600};
  SharedCount ended;
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    if (rank.rank == 1) return Error{ErrorCode::InvalidArgument, "rank 1 has had enough"};
    const auto output = run_case(rank, all_reduce_case(3, Protocol::Simple, 90));
    ended.add();
    if (output) return 1;
    return output.error();
  });
  if (is_without_device(status)) GTEST_SKIP() << status.error().message;
  EXPECT_EQ(ended.value(), 2);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("rank 1"), std::string::npos) << status.error().message;
}

// Neither closes properly: the others' kernels end because its sockets close.
TEST_P(CudaProcesses, ARankThatIsKilledEndsTheKernelsOfAll) {
  ProcessJob job = job_of(GetParam());
  job.op_timeout = Seconds{3600};
  SharedCount ended;
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    const DeviceCase test = all_reduce_case(3, Protocol::Simple, 40000);
    RINGSIDE_TRY(const auto first, run_case(rank, test));
    RINGSIDE_TRY(rank.communicator.barrier());  // all are connected, and in no call
    if (rank.rank == 1) ::kill(::getpid(), SIGKILL);
    const auto second = run_case(rank, test);
    ended.add();
    if (second) return 1;
    return second.error();
  });
  if (is_without_device(status)) GTEST_SKIP() << status.error().message;
  EXPECT_EQ(ended.value(), 2);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("rank 1"), std::string::npos) << status.error().message;
}

// A ring of 3 takes 2(n - 1) + 1 = 5 steps a loop, and the call is an event itself.
TEST_P(CudaProcesses, EveryPrimitiveOfAKernelIsInTheTrace) {
  ProcessJob job = job_of(GetParam());
  job.trace_path =
      fmt::format("{}cuda_processes_{}_{}.rtrace", testing::TempDir(), ::getpid(), GetParam().name);
  const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
    RINGSIDE_TRY(const auto output, run_case(rank, all_reduce_case(3, Protocol::Simple, 90)));
    return 0;
  });
  EXPECT_ENDS_WELL(status);
  const auto trace = TraceFile::open(job.trace_path);
  std::filesystem::remove(job.trace_path);
  ASSERT_TRUE(trace) << trace.error().message;
  int steps = 0;
  trace->for_each_event([&](const TraceEvent& event) {
    EXPECT_LE(event.begin_ns, event.end_ns);
    if (event.recv_peer >= 0 || event.send_peer >= 0) ++steps;
  });
  EXPECT_EQ(steps, 3 * 5);
}

// As bench does, it runs on buffers in the device's memory, in place and not, and checks every element.
TEST_P(CudaProcesses, ABenchmarkOfThemFindsNoWrongElement) {
  const auto status =
      run_processes(job_of(GetParam()), [&](const ProcessRank& rank) -> Result<int> {
        BenchOptions options;
        options.sizes = {8_B, 3000_B};
        options.warmup = 1;
        options.iterations = 1;
        options.device = &rank.device.launcher().memory;
        for (const Collective collective :
             {Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter}) {
          options.collective = collective;
          RINGSIDE_TRY(const auto rows,
                       run_bench(rank.communicator, options, [](const BenchRow&) {}));
          for (const BenchRow& row : rows) {
            if (row.out_of_place.wrong != 0 || row.in_place->wrong != 0) return 1;
          }
        }
        return 0;
      });
  EXPECT_ENDS_WELL(status);
}

// Every algorithm and protocol: those that exist between these ranks are timed, the others skipped.
TEST_P(CudaProcesses, AGridSkipsUnsupportedCombinations) {
  const bool has_lines = GetParam().shares_memory();
  const auto status =
      run_processes(job_of(GetParam()), [&](const ProcessRank& rank) -> Result<int> {
        BenchOptions options;
        options.sizes = {64_B};
        options.warmup = 0;
        options.iterations = 1;
        options.device = &rank.device.launcher().memory;
        RINGSIDE_TRY(const auto rows,
                     run_bench_grid(rank.communicator, options, [](const GridRow&) {}));
        bool has_simple = false, has_ll128 = false;
        for (const GridCell& cell : rows.front().cells) {
          if (cell.wrong != 0) return 1;
          has_simple = has_simple || cell.protocol == Protocol::Simple;
          has_ll128 = has_ll128 || cell.protocol == Protocol::LL128;
        }
        return has_simple && has_ll128 == has_lines ? 0 : 2;
      });
  EXPECT_ENDS_WELL(status);
}

// NCCL's users disable it, and select other memory, by the same variables.
TEST(CudaProcessChoice, MemoryOfGpusIsOpenedUnlessItIsForbiddenAndAsRequested) {
  const auto options_by = [](const char* name, const char* value) {
    return cuda_process_options(nullptr, [=](const char* asked) {
      const bool is_it = std::string(asked) == name;
      return is_it ? std::optional<std::string>(value) : std::nullopt;
    });
  };
  EXPECT_TRUE(options_by("", "")->memory.may_open);
  EXPECT_FALSE(options_by("NCCL_P2P_DISABLE", "1")->memory.may_open);
  EXPECT_FALSE(options_by("NCCL_P2P_DISABLE", "yes"));
  EXPECT_EQ(options_by("", "")->memory.by_file, std::nullopt);
  EXPECT_EQ(options_by("NCCL_CUMEM_ENABLE", "-2")->memory.by_file, std::nullopt);
  EXPECT_EQ(options_by("NCCL_CUMEM_ENABLE", "1")->memory.by_file, true);
  EXPECT_EQ(options_by("NCCL_CUMEM_ENABLE", "0")->memory.by_file, false);
  EXPECT_FALSE(options_by("NCCL_CUMEM_ENABLE", "2"));
  EXPECT_TRUE(options_by("NCCL_NVLS_ENABLE", "2")->memory.by_switch);
  EXPECT_FALSE(options_by("NCCL_NVLS_ENABLE", "0")->memory.by_switch);
  EXPECT_FALSE(options_by("NCCL_NVLS_ENABLE", "3"));
  EXPECT_TRUE(options_by("", "")->registers);
  EXPECT_FALSE(options_by("NCCL_LOCAL_REGISTER", "0")->registers);
  EXPECT_FALSE(options_by("NCCL_P2P_DIRECT_DISABLE", "1")->registers);
}

// Tries memory that processes cannot open of each other, and memory that they can.
TEST(CudaProcessChoice, Ll128IsRefusedThroughMemoryOfHosts) {
  for (const MemoryAccess shares_by : {MemoryAccess::None, MemoryAccess::Ipc}) {
    const ProcessJob job{.shares_by = shares_by, .memory = {.may_open = false}};
    const auto status = run_processes(job, [&](const ProcessRank& rank) -> Result<int> {
      const auto output = run_case(rank, all_reduce_case(3, Protocol::LL128, 90));
      return !output && output.error().code == ErrorCode::Unsupported ? 0 : 1;
    });
    EXPECT_ENDS_WELL(status);
  }
}

/// Runs two ranks of a job of four, as threads of this process.
///
/// to_other  the pipe to which the job's id is written; -1: it is read from from_other
int run_two_of_four(int first, int to_other, int from_other, std::vector<DeviceCase>& cases,
                    const std::vector<std::vector<std::vector<std::byte>>>& expected) {
  constexpr int kSkipped = 77;
  if (device_count() < 4) return kSkipped;
  std::unique_ptr<BootstrapRoot> root;
  UniqueId id;
  if (to_other >= 0) {
    auto started = BootstrapRoot::start({.secret = random_secret(), .nranks = 4});
    if (!started) return 2;
    root = *std::move(started);
    id = root->id();
    const std::string name = to_string(id) + "\n";
    if (!write_all(to_other, std::as_bytes(std::span(name)))) return 3;
  } else {
    std::string name;
    for (char letter = 0; ::read(from_other, &letter, 1) == 1 && letter != '\n';) name += letter;
    const auto parsed = parse_unique_id(name);
    if (!parsed) return 4;
    id = *parsed;
  }
  const ProcessJob job{.nranks = 4, .shares_by = MemoryAccess::File, .memory = {.by_file = true}};
  const auto ended = run_threads(job, {first, first + 1}, id, [&](const ProcessRank& rank) {
    return run_cases(rank, cases, expected);
  });
  for (const Result<int>& one : ended) {
    if (!one) std::fprintf(stderr, "%s\n", one.error().message.c_str());
    if (!one || *one != 0) return 1;
  }
  return 0;
}

// Files between the processes, addresses within each, in one ring.
TEST(CudaProcessesOfThreads, OpenMemoryByAddressWithinAProcessAndByFileBetweenThem) {
  std::vector<DeviceCase> cases = integer_grid(4, true);
  const auto expected = host_answers(cases);
  int name[2] = {-1, -1};
  ASSERT_EQ(::pipe(name), 0);
  const UniqueFd read_end(name[0]), write_end(name[1]);
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    ::_exit(run_two_of_four(2 * process, process == 0 ? write_end.get() : -1, read_end.get(), cases,
                            expected));
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "needs 4 GPUs";
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, CudaProcesses, testing::ValuesIn(all_ways()),
                         [](const auto& test) { return std::string(test.param.name); });

std::vector<Collective> collectives_of_the_grid() {
  std::vector<Collective> all;
  for (const DeviceCase& test : integer_grid(3, true)) {
    const bool is_known = std::ranges::find(all, test.call.collective) != all.end();
    if (!is_known) all.push_back(test.call.collective);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Ways, CudaProcessGrid,
                         testing::Combine(testing::ValuesIn(all_ways()),
                                          testing::ValuesIn(collectives_of_the_grid())),
                         [](const auto& test) {
                           return std::string(std::get<Way>(test.param).name) + "_" +
                                  to_string(std::get<Collective>(test.param));
                         });

}  // namespace
}  // namespace ringside
