#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "tests/trace/trace_files.h"
#include "trace/file_sink.h"

namespace ringside {
namespace {

constexpr std::uint32_t kEvents = 20'000;

/// Runs `work` in a process of its own.
pid_t fork_and(const std::function<bool()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(work() ? 0 : 1);
  return pid;
}

/// Joins the file and records steps 0, 1, ... of `rank`, without end if `count` is 0.
bool record_steps(const std::string& path, std::int32_t rank, std::uint32_t count) {
  auto recorder = join_file(path, this_process_info(TraceClock::Simulated));
  if (!recorder) return false;
  TraceLane* lane = (*recorder)->add_lane(128);
  TraceEvent event;
  event.rank = rank;
  for (std::uint32_t i = 0; count == 0 || i < count; ++i) {
    event.step = i;
    event.begin_ns = event.end_ns = i;
    lane->record(event);
  }
  return true;
}

std::uint64_t count_events(const std::string& path, std::int32_t rank) {
  const Result<TraceFile> file = TraceFile::open(path);
  if (!file) return 0;
  std::uint64_t count = 0;
  file->for_each_event([&](const TraceEvent& event) { count += event.rank == rank ? 1U : 0U; });
  return count;
}

TEST(TraceProcesses, AKilledProcessesEventsStayInTheFile) {
  const TemporaryPath path("processes.rtrace");
  ASSERT_TRUE(record_to_file(path.text(), this_process_info(TraceClock::Simulated)));
  const pid_t doomed = fork_and([&] { return record_steps(path.text(), 9, 0); });
  while (count_events(path.text(), 9) == 0) ::usleep(1'000);
  std::vector<pid_t> others;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    others.push_back(fork_and([&, rank] { return record_steps(path.text(), rank, kEvents); }));
  }
  ASSERT_EQ(::waitpid(others[0], nullptr, 0), others[0]);
  ASSERT_EQ(::kill(doomed, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(doomed, &status, 0), doomed);
  EXPECT_TRUE(WIFSIGNALED(status));
  for (std::size_t i = 1; i < others.size(); ++i) {
    ASSERT_EQ(::waitpid(others[i], &status, 0), others[i]);
    EXPECT_EQ(status, 0);
  }

  const Result<TraceFile> file = TraceFile::open(path.text());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->counts().processes, 5U);
  EXPECT_EQ(file->counts().malformed_blocks, 0U);
  std::array<std::uint32_t, 10> next{};
  file->for_each_event([&](const TraceEvent& event) {
    // No event is lost or duplicated, and the events of each rank are in order.
    ASSERT_EQ(event.step, next.at(static_cast<std::size_t>(event.rank))++);
  });
  EXPECT_EQ(next[0], kEvents);
  EXPECT_EQ(next[1], kEvents);
  EXPECT_EQ(next[2], kEvents);
  EXPECT_GT(next[9], 0U);
}

TEST(TraceProcesses, ABlockTornByAKillIsPassedOver) {
  const TemporaryPath path("torn.rtrace");
  {
    auto recorder = record_to_file(path.text(), this_process_info(TraceClock::Simulated));
    ASSERT_TRUE(recorder);
    TraceLane* lane = (*recorder)->add_lane(8);
    for (const TraceEvent& event : steps(0, 16)) lane->record(event);
  }
  const Result<std::string> whole = read_file(path.text());
  ASSERT_TRUE(whole);
  ASSERT_EQ(::truncate(path.text().c_str(), static_cast<off_t>(whole->size() - 5)), 0);
  auto recorder = join_file(path.text(), this_process_info(TraceClock::Simulated));
  ASSERT_TRUE(recorder);
  TraceLane* lane = (*recorder)->add_lane(8);
  for (const TraceEvent& event : steps(100, 8)) lane->record(event);
  const Result<TraceFile> file = TraceFile::open(path.text());
  ASSERT_TRUE(file);
  EXPECT_THAT(steps_of(*file),
              testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 100, 101, 102, 103, 104, 105, 106, 107));
  EXPECT_GT(file->counts().skipped_bytes, 0U);
  EXPECT_FALSE(file->counts().is_torn_at_end);
}

}  // namespace
}  // namespace ringside
