#include "sim/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <thread>

#include "sim/wire.h"
#include "tests/sim/requests.h"
#include "tests/support/fake_clock.h"

/// Tests the processes behind simulate(), which /proc lists.
namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> all;
  for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(parent) + "/task")) {
    std::ifstream in(task.path() / "children");
    for (pid_t child = 0; in >> child;) all.push_back(child);
  }
  return all;
}

/// Returns the newest child: others may be left from earlier simulations.
pid_t worker_of(pid_t parent) {
  const std::vector<pid_t> children = children_of(parent);
  return children.empty() ? 0 : children.back();
}

/// Returns whether the process has ended, or is a zombie that its parent has not reaped yet.
bool is_over(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(stat)), {});
  return text.empty() || text.find(") Z") != std::string::npos;
}

/// Waits for the end of the process; the test's own limit is the deadline.
void await_end(pid_t pid) {
  while (!is_over(pid)) ::usleep(1000);
}

class Workers : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists("/proc/self/task/" + std::to_string(getpid()) + "/children")) {
      GTEST_SKIP() << "needs /proc/PID/task/TID/children";
    }
  }
};

/// Returns a case that takes seconds, so that there is time to examine it.
Case long_case() { return ideal_case(1024, Collective::AllReduce, 1 << 24); }

Error error_when(const std::function<void()>& simulating) {
  Case one = long_case();
  one.request.progress = [&](double) { simulating(); };
  const auto result = simulate(one.request);
  return result ? Error{ErrorCode::Aborted, "it lived"} : result.error();
}

TEST_F(Workers, TheDeathOfOneIsAnErrorThatNamesTheSignal) {
  const Error error = error_when([] { ASSERT_EQ(kill(worker_of(getpid()), SIGKILL), 0); });
  EXPECT_EQ(exit_status(error.code), 3);
  EXPECT_THAT(error.message, HasSubstr("died of signal 9"));
}

TEST_F(Workers, TheDeathOfTheSimulatingProcessIsAnError) {
  const Error error =
      error_when([] { ASSERT_EQ(kill(worker_of(worker_of(getpid())), SIGKILL), 0); });
  EXPECT_EQ(exit_status(error.code), 3);
  EXPECT_THAT(error.message, HasSubstr("died of signal 9"));
}

TEST_F(Workers, OneServesManyCallsAndADeadOneIsReplaced) {
  const Case one = ideal_case(4, Collective::AllReduce, 1000);
  ASSERT_TRUE(simulate(one.request));
  const pid_t worker = worker_of(getpid());
  ASSERT_TRUE(simulate(one.request));
  EXPECT_EQ(worker_of(getpid()), worker);
  ASSERT_EQ(kill(worker, SIGKILL), 0);
  await_end(worker);
  ASSERT_TRUE(simulate(one.request));
  EXPECT_NE(worker_of(getpid()), worker);
}

TEST_F(Workers, OneIsKilledWhenTheCallEndsBeforeItHasAnswered) {
  pid_t worker = 0;
  pid_t simulating = 0;
  Case one = long_case();
  one.request.progress = [&](double) {
    worker = worker_of(getpid());
    simulating = worker_of(worker);
    throw std::runtime_error("enough");
  };
  EXPECT_THROW(static_cast<void>(simulate(one.request)), std::runtime_error);
  ASSERT_GT(simulating, 0);
  await_end(worker);
  await_end(simulating);
}

TEST_F(Workers, TheyEndWithTheirProcess) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    Case one = long_case();
    one.request.progress = [&](double) {
      const pid_t pids[] = {worker_of(getpid()), worker_of(worker_of(getpid()))};
      if (write(ends[1], pids, sizeof pids) != sizeof pids) _exit(1);
      kill(getpid(), SIGKILL);
    };
    static_cast<void>(simulate(one.request));
    _exit(2);
  }
  close(ends[1]);
  pid_t pids[2] = {0, 0};
  const ssize_t got = read(ends[0], pids, sizeof pids);
  close(ends[0]);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  ASSERT_EQ(got, static_cast<ssize_t>(sizeof pids));
  ASSERT_GT(pids[1], 0);
  await_end(pids[0]);
  await_end(pids[1]);
}

TEST_F(Workers, InheritNoOtherDescriptor) {
  const UniqueFd kept{open("/dev/null", O_RDONLY)};  // would stay open across an exec
  std::set<std::string> open_files;
  static_cast<void>(error_when([&] {
    const pid_t worker = worker_of(getpid());
    for (const auto& file : fs::directory_iterator("/proc/" + std::to_string(worker) + "/fd")) {
      open_files.insert(fs::read_symlink(file).string().substr(0, 6));
    }
    kill(worker, SIGKILL);
  }));
  // The files are its socket, the target of its stdout, our stderr, and the pipe that its child holds.
  EXPECT_GE(open_files.count("socket"), 1U);
  std::set<std::string> ours;
  std::error_code ignored;
  ours.insert(fs::read_symlink("/proc/self/fd/2", ignored).string().substr(0, 6));
  for (const std::string& file : open_files) {
    EXPECT_TRUE(file == "socket" || file == "pipe:[" || file == "/dev/n" || ours.count(file) > 0)
        << file;
  }
}

// There are several threads and simulations at once: each gets the result that it gets alone.
TEST(SimulateThreads, SeveralAtATimeGetWhatEachGetsAlone) {
  constexpr std::array<int, 6> kRanks{2, 3, 5, 8, 13, 21};
  const auto seconds = [](int ranks) {
    const Case one = ideal_case(ranks, Collective::AllReduce, 100'000);
    const auto result = simulate(one.request);
    return result ? result->time.count() : -1;
  };
  std::array<double, kRanks.size()> alone{};
  for (std::size_t i = 0; i < kRanks.size(); ++i) alone[i] = seconds(kRanks[i]);
  std::array<double, kRanks.size()> together{};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kRanks.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int again = 0; again < 3; ++again) together[i] = seconds(kRanks[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(alone, together);
  EXPECT_GT(alone[0], 0);
}

TEST(SimulateThreads, TheirWorkersOutliveTheThreadThatStartedThem) {
  const Case one = ideal_case(4, Collective::AllReduce, 1000);
  const auto run = [&] { EXPECT_TRUE(simulate(one.request)); };
  std::thread(run).join();
  std::thread(run).join();
}

class Variable {
 public:
  explicit Variable(const char* value) { setenv("RINGSIDE_SIMGRID", value, 1); }
  ~Variable() { unsetenv("RINGSIDE_SIMGRID"); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
};

TEST(SimulateWorker, OneThatIsNotThereIsNamed) {
  const Variable variable("/nonexistent/worker");
  const Case one = ideal_case(2, Collective::AllReduce, 1000);
  const auto result = simulate(one.request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::Unsupported);
  EXPECT_THAT(result.error().message, HasSubstr("/nonexistent/worker"));
}

TEST(SimulateWorker, AnotherProgramIsAnError) {
  const Variable variable("/bin/true");
  const Case one = ideal_case(2, Collective::AllReduce, 1000);
  const auto result = simulate(one.request);
  ASSERT_FALSE(result);
  EXPECT_EQ(exit_status(result.error().code), 3);
  EXPECT_THAT(result.error().message, HasSubstr("without an answer"));
  EXPECT_THAT(result.error().help, HasSubstr("/bin/true"));
}

/// A program that replaces the worker. Its standard input is the socket.
class Script {
 public:
  explicit Script(const std::string& text) {
    std::ofstream(path_) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(path_, fs::perms::owner_all);
  }
  ~Script() { fs::remove(path_); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "ringside_worker_" + std::to_string(getpid()) + ".sh";
};

Error error_of(const std::string& program, Clock& clock) {
  const Variable variable(program.c_str());
  const auto worker = SimWorker::lease(clock);
  return worker ? Error{ErrorCode::Aborted, "it is taken for a worker"} : worker.error();
}

// The clock jumps, so that the test does not wait for the 10 s.
TEST(SimulateWorker, ASilentProgramTimesOut) {
  const Script sleeper("exec sleep 1000");
  for (const std::string& program : {sleeper.path(), std::string("/bin/cat")}) {
    FakeClock clock;
    const Error error = error_of(program, clock);
    EXPECT_EQ(error.code, ErrorCode::Timeout) << error.message;
    EXPECT_EQ(clock.elapsed(), std::chrono::seconds(10));
    EXPECT_THAT(error.message, HasSubstr(program));
    EXPECT_THAT(error.help, HasSubstr("RINGSIDE_SIMGRID"));
  }
}

// A text whose first four letters are not a length, one whose letters are (0x21216968 bytes), and a short message.
TEST(SimulateWorker, NamesAProgramWithAnotherGreeting) {
  for (const char* said : {"what is this", "hi!!", "\\004\\000\\000\\000abcd"}) {
    const Script talker("printf '" + std::string(said) + "' >&0; exec sleep 1000");
    const Error error = error_of(talker.path(), real_clock());
    EXPECT_EQ(error.code, ErrorCode::Corrupt) << error.message;
    EXPECT_THAT(error.message, HasSubstr(talker.path()));
    EXPECT_THAT(error.help, HasSubstr("RINGSIDE_SIMGRID"));
  }
}

TEST(SimulateWorker, OneOfAnotherVersionIsNamedWithBoth) {
  const std::vector<std::byte> hello = encode(WireHello{"0.0.1"});
  std::string bytes;
  for (const std::byte byte : hello) bytes += fmt::format("\\{:03o}", static_cast<int>(byte));
  const Script other("printf '" + bytes + "' >&0; exec sleep 1000");
  const Error error = error_of(other.path(), real_clock());
  EXPECT_EQ(error.code, ErrorCode::Corrupt);
  EXPECT_THAT(error.message, HasSubstr(other.path() + " is of ringside 0.0.1"));
  EXPECT_THAT(error.help, HasSubstr("one build"));
}

TEST(SimulateWorker, DoesNotWaitForAWorkerThatClosedItsEnd) {
  const Script silent("exec <&-; exec sleep 1000");
  const Error error = error_of(silent.path(), real_clock());
  EXPECT_EQ(error.code, ErrorCode::System);
  EXPECT_THAT(error.message, HasSubstr("without an answer"));
  EXPECT_THAT(error.help, HasSubstr(silent.path()));
}

}  // namespace
}  // namespace ringside
