// Files other than traces that can be opened.

#include "gui/model/session/open.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/topology/sources/load_hosts.h"
#include "harness/logs/log_files.h"
#include "harness/logs/log_job.h"
#include "harness/logs/misconfiguration.h"
#include "tests/replay/traces.h"

namespace ringside::gui {
namespace {

/// Two hosts' logs, of four all_reduces of one communicator, with something wrong.
std::string logs_of(const char* misconfiguration, const char* subsystems = "INIT,GRAPH,NET,COLL") {
  const std::string folder = testing::TempDir() + "ringside_open_" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  LogRequest request;
  request.version = *parse_nccl_version("2.27.5");
  request.shown = *parse_subsystems(subsystems);
  request.hosts = *load_hosts("dgx-h100", 2, {});
  request.calls = 4;
  EXPECT_TRUE(misconfigure(misconfiguration, request));
  const auto job = LogJob::make(std::move(request));
  EXPECT_TRUE(job);
  EXPECT_TRUE(write_log_files(*job, folder));
  return folder;
}

TEST(Open, LogsAreShownAsTheCallsThatTheyHoldOnTheHostsThatTheyDescribe) {
  const std::string folder = logs_of("gdr");
  const auto opened = open_paths({folder});
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(opened) << opened.error().message;
  const Document& document = **opened;
  EXPECT_EQ(document.replay->statistics().ranks, 16);
  EXPECT_EQ(document.calls.size(), 4U);
  const auto has = [&](const char* words) {
    return std::ranges::any_of(document.findings, [&](const Finding& one) {
      return one.title.find(words) != std::string::npos;
    });
  };
  EXPECT_TRUE(has("Simulated"));
  EXPECT_TRUE(has("GPUDirect"));
}

// Logs with only INIT and NET contain no calls: the findings are shown all the same, with the reason why nothing
// moves.
TEST(Open, ShowsTheFindingsOfLogsWithoutCalls) {
  const std::string folder = logs_of("gdr", "INIT,NET");
  const auto opened = open_paths({folder});
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(opened) << opened.error().message;
  const Document& document = **opened;
  EXPECT_TRUE(document.calls.empty());
  ASSERT_GE(document.findings.size(), 2U);
  EXPECT_NE(document.findings.front().title.find("GPUDirect"), std::string::npos);
  EXPECT_EQ(document.findings.back().title, "The calls of the job are not shown");
}

// The calls of every rank are shown although the job does not hang.
TEST(Open, AScenarioThatFinishesIsShown) {
  const auto opened = open_paths({RINGSIDE_SCENARIOS "/training/ddp-8.yaml"});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->replay->statistics().ranks, 8);
  EXPECT_GT((*opened)->calls.size(), 10U);
}

// 4 ranks compute for 2 ms, then reduce; twice.
constexpr const char* kTwoCalls =
    "ringside: lesson/1\nname: late\ntitle: late\nview: timeline\nscenario: |\n"
    "  ringside: scenario/1\n  name: late\n  ranks: 4\n  ranks_per_host: 4\n  iterations: 2\n  "
    "steps:\n"
    "  - compute: 2ms\n  - all_reduce: {on: world, count: 1048576, type: float}\n  - synchronize\n"
    "captions: []\n";

/// A call lasts from the time when its stream reaches it to its end: 20 us plus 4 MB at 50 GB/s if no cluster is
/// named.
TEST(Open, AScenariosCallsHaveTheirSimulatedTimes) {
  const auto lesson = parse_lesson(kTwoCalls, "late.yaml");
  ASSERT_TRUE(lesson) << lesson.error().message;
  const auto opened = open_lesson(*lesson);
  ASSERT_TRUE(opened) << opened.error().message;
  const Document& document = **opened;
  ASSERT_EQ(document.calls.size(), 2U);
  for (const CallFacts& call : document.calls) {
    EXPECT_EQ(call.ranks, 4);
    EXPECT_NEAR(static_cast<double>(call.time.end_ns - call.time.begin_ns),
                20'000 + 4'194'304 / 50.0, 2'000);
  }
  EXPECT_FALSE(document.communicators.empty());
}

TEST(Open, ACallThatNeverEndsWaitsToTheEdge) {
  const auto opened = open_lesson(*find_lesson("hang"));
  ASSERT_TRUE(opened) << opened.error().message;
  const Document& document = **opened;
  const Replay& replay = *document.replay;
  const auto last = document.whole().end_ns;
  int stuck = 0;
  std::vector<EventId> scratch;
  for (std::size_t i = 0; i < replay.lanes().size(); ++i) {
    const EventId id = replay.events(LaneId{static_cast<std::uint32_t>(i)}).back();
    const TraceEvent event = replay.event(id);
    if (event.end_ns != last) continue;
    ++stuck;
    EXPECT_EQ(waiting_of(document, id, event, scratch).count(), event.end_ns - event.begin_ns);
  }
  EXPECT_EQ(stuck, 8) << "rank 2 waits for the others in another call";
  ASSERT_EQ(document.waits.size(), 8U);
  EXPECT_EQ(document.waits[0].for_whom, std::vector<int>{2});
  ASSERT_FALSE(document.call_tables.empty());
  const Table& calls = document.call_tables.front();
  ASSERT_EQ(calls.rows.size(), 2U) << "rank 2, and all others";
  EXPECT_EQ(calls.rows.back().cells.front().text, "2");
  EXPECT_TRUE(calls.rows.front().cells.back().text.starts_with("waits") ||
              calls.rows.back().cells.back().text == "never");
}

// The first 24 MB of 60 MB are shown while the others are read.
TEST(Open, ShowsTheBeginningOfALongTraceFirst) {
  const std::string path =
      testing::TempDir() + "ringside_open_" + std::to_string(::getpid()) + ".rtrace";
  {
    std::ofstream file(path, std::ios::binary);
    std::vector<TraceEvent> events(1'400'000);
    for (std::size_t i = 0; i < events.size(); ++i) {
      events[i].rank = static_cast<std::int32_t>(i % 8);
      events[i].begin_ns = static_cast<std::int64_t>(i);
      events[i].end_ns = events[i].begin_ns + 5;
      events[i].offset = events[i].bytes = i;
      events[i].step = static_cast<std::uint32_t>(i);
    }
    const FileBytes bytes = file_of(events, 4096);
    file.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  }
  std::shared_ptr<const Document> part;
  double done = -1;
  double done_at_part = -1;
  const auto opened = open_paths(
      {path},
      [&](double share) {
        done = share;
        return true;
      },
      [&](std::shared_ptr<const Document> first) {
        part = std::move(first);
        done_at_part = done;
      });
  std::filesystem::remove(path);
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(done_at_part, -1) << "before the whole was begun";
  EXPECT_EQ(done, 1);
  EXPECT_GT(part->replay->statistics().primitives, 200'000U);
  EXPECT_LT(part->replay->statistics().primitives, 1'000'000U);
  EXPECT_TRUE(part->findings.empty()) << "it is cut, not torn";
  EXPECT_EQ((*opened)->replay->statistics().primitives, 1'400'000U);
  // An event selected in the part is the same event in the whole file.
  const TraceEvent of_part = part->replay->event(EventId{1234});
  EXPECT_EQ(of_part.begin_ns, (*opened)->replay->event(EventId{1234}).begin_ns);
}

// A file of `ringside sim` names its cluster: the nodes and their links are those of the simulation.
TEST(Open, ATraceOfASimulationHasItsMachine) {
  study::SimQuestion question;
  question.calls.collective = "all_reduce";
  question.calls.sizes = "1M";
  question.job.on = "dgx-h100";
  question.job.nodes = 2;
  question.trace =
      testing::TempDir() + "ringside_machine_" + std::to_string(::getpid()) + ".rtrace";
  const auto simulated = open_simulation(question);
  const auto opened = open_paths({question.trace});
  std::filesystem::remove(question.trace);
  ASSERT_TRUE(simulated && opened);
  const Surround& surround = (*opened)->surround;
  ASSERT_NE(surround.ways, nullptr);
  EXPECT_EQ(surround.machine, "dgx-h100 as it is built");
  EXPECT_EQ(surround.nodes, 2);
  EXPECT_EQ(surround.node_of, (*simulated)->surround.node_of);
  EXPECT_EQ(surround.ways->places().size(), (*simulated)->surround.ways->places().size());
  EXPECT_EQ(surround.ways->hops(), (*simulated)->surround.ways->hops());
  ASSERT_FALSE(surround.tables.empty());
  const auto& estimates = surround.tables.front().rows;
  ASSERT_GT(estimates.size(), 3U) << "what the tuner estimated, not forced";
  EXPECT_EQ(estimates.back().cells.back().bar, 1) << "the longest time has the longest bar";
  EXPECT_LT(estimates.front().cells.back().bar, 1);
}

TEST(Open, RefusesFilesThatAreNeitherDumpsNorLogs) {
  const std::string folder =
      testing::TempDir() + "ringside_open_none_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const auto opened = open_paths({folder});
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(opened);
  EXPECT_FALSE(opened.error().message.empty());
}

}  // namespace
}  // namespace ringside::gui
