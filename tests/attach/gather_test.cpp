// What is gathered of a job, and what hang makes of it: services and control planes are made up.

#include "harness/attach/gather.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/folder.h"
#include "base/temporary.h"
#include "diag/hangdetect/examine.h"
#include "harness/attach/job_processes.h"
#include "tests/attach/fake_service.h"

namespace ringside::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Gather : public testing::Test {
 protected:
  Result<Gathered> ask(Request request) {
    request.interval = Seconds{0.05};
    return gather(request, folder_.path(), [&](const std::string& line) { steps_ += line + "\n"; });
  }
  [[nodiscard]] hang::Verdict verdict() const {
    auto all = hang::examine({folder_.path()});
    EXPECT_TRUE(all) << all.error().message;
    return std::move(all->verdict);
  }
  [[nodiscard]] std::vector<std::string> files() const { return *names_in(folder_.path()); }

  const TemporaryFolder folder_ = *TemporaryFolder::make("gather-test");
  std::string steps_;
};

// Rank 1 has launched one call fewer than rank 0, and nothing moves.
TEST_F(Gather, AJobThatIsStillHasTheVerdictOfItsReports) {
  FakeRas ras{.release = 228, .json = {ras_json({4, 4}), ras_json({5, 4})}};
  FakeService service([&](FakeClient& client) { ras.serve(client); });
  const auto got = ask({.services = {service.host()}});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->state, JobState::Still);
  // The report from before the hang is not kept: it would show a job that moves.
  EXPECT_THAT(files(), ElementsAre("ncclras-2.json", "ncclras-3.json", "ncclras-4.json"));
  EXPECT_THAT(verdict().best.culprits, ElementsAre(1));
  EXPECT_THAT(steps_, HasSubstr("nothing has moved"));
}

TEST_F(Gather, AJobOf224IsAskedInText) {
  FakeRas ras{.release = 224, .text = {ras_text({5, 5, 5, 4})}};
  FakeService service([&](FakeClient& client) { ras.serve(client); });
  const auto got = ask({.services = {service.host()}});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->state, JobState::Still);
  EXPECT_THAT(verdict().best.culprits, ElementsAre(3));
}

TEST_F(Gather, AJobThatMovesIsAskedForReportsAlone) {
  FakeRas ras{.json = {ras_json({4, 4}), ras_json({5, 5}), ras_json({6, 6}), ras_json({7, 7})}};
  FakeService service([&](FakeClient& client) { ras.serve(client); });
  FakeService worker([](FakeClient& client) { serve_http(client, "/", ""); });
  const auto got = ask({.services = {service.host()}, .workers = {worker.place()}});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->state, JobState::Moves);
  EXPECT_EQ(worker.connections(), 0);
  EXPECT_EQ(verdict().best.kind, hang::Kind::NotAHang);
}

// Rank 1 completed two calls and made no third one.
TEST_F(Gather, DumpsComeFromTheControlPlaneWithoutAnyService) {
  FakeService first(
      [](FakeClient& client) { serve_http(client, "/handler/fr_trace_json", dump_json(2, true)); });
  FakeService second([](FakeClient& client) {
    serve_http(client, "/handler/dump_nccl_trace_json", dump_json(2, false));
  });
  const auto got = ask({.workers = {first.place(), second.place()}});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->state, JobState::Still);
  EXPECT_THAT(steps_, HasSubstr("dumps of 2 ranks, round 3: no call began or ended"));
  EXPECT_THAT(files(), ElementsAre("nccl_trace_rank_0.json", "nccl_trace_rank_1.json"));
  EXPECT_THAT(verdict().best.culprits, ElementsAre(1));
}

// A call each 10 s. By the calls alone rank 1 is 10 s behind, which is usual; at the time of the question it is years behind.
TEST_F(Gather, TheTimeOfTheQuestionShowsThatARankIsLate) {
  const auto dump = [](bool waits) {
    return dump_json(9, waits, "gloo", std::chrono::seconds(10));
  };
  FakeService first(
      [&](FakeClient& client) { serve_http(client, "/handler/fr_trace_json", dump(true)); });
  FakeService second(
      [&](FakeClient& client) { serve_http(client, "/handler/fr_trace_json", dump(false)); });
  ASSERT_TRUE(ask({.workers = {first.place(), second.place()}}));
  EXPECT_EQ(verdict().best.kind, hang::Kind::MissingRank);
  EXPECT_THAT(verdict().best.culprits, ElementsAre(1));
  // The same dumps without the time.
  for (const int rank : {0, 1}) {
    std::ofstream(fmt::format("{}/nccl_trace_rank_{}.json", folder_.path(), rank))
        << dump(rank == 0);
  }
  EXPECT_EQ(verdict().best.kind, hang::Kind::NotAHang);
}

// Each dump of the rank has one call more than the one before.
TEST_F(Gather, DumpsThatChangeAreOfAJobThatMoves) {
  int calls = 2;
  FakeService worker([&](FakeClient& client) {
    serve_http(client, "/handler/fr_trace_json", dump_json(calls++, true));
  });
  const auto got = ask({.workers = {worker.place()}});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->state, JobState::Moves);
  EXPECT_THAT(files(), ElementsAre("nccl_trace_earlier_rank_0.json", "nccl_trace_rank_0.json"));
  EXPECT_EQ(verdict().best.kind, hang::Kind::NotAHang);
  EXPECT_THAT(steps_, HasSubstr("ranks move"));
}

// The service of ringside's engine has the dumps of all ranks below paths.
TEST_F(Gather, AControlPlaneBelowAPathIsAskedUntilItIsStill) {
  int asked = 0;
  FakeService worker([&](FakeClient& client) {
    serve_http(client, "/rank/1/handler/fr_trace_json", dump_json(2, true));
    ++asked;
  });
  const auto got = ask({.workers = {Place{worker.host(), "/rank/1"}}});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->state, JobState::Still);
  EXPECT_GE(asked, 3) << "rounds";
}

// A job that stops after the second question: what it did before does not count.
TEST_F(Gather, DumpsAreAskedUntilTheyAreStill) {
  int asked = 0;
  FakeService worker([&](FakeClient& client) {
    serve_http(client, "/handler/fr_trace_json", dump_json(std::min(2 + asked++, 3), true));
  });
  const auto got = ask({.workers = {worker.place()}});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->state, JobState::Still);
  EXPECT_THAT(files(), ElementsAre("nccl_trace_rank_0.json"));
}

// PyTorch 2.6: no dump, and no py-spy where the process runs.
TEST_F(Gather, TheInterpretersTracebackIsTheStackWherePySpyIsAbsent) {
  FakeService worker([](FakeClient& client) {
    serve_http(client, "/handler/dump_traceback",
               "Current thread 0x00007fa5423216c0 (most recent call first):\n"
               "  <no Python frame>\n\n"
               "Thread 0x00007fa567cc6780 (most recent call first):\n"
               "  File \"/srv/data.py\", line 7 in load_batch\n"
               "  File \"/srv/train.py\", line 53 in main\n\n");
  });
  const auto got = ask({.workers = {worker.place()}});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->state, JobState::Unknown);
  EXPECT_THAT(files(), ElementsAre("stack_rank_0.txt"));
  const auto all = hang::examine({folder_.path()});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_TRUE(all->facts.notes.at(0).has_stack);
}

TEST_F(Gather, TheStacksOfTheControlPlaneAreKept) {
  FakeService worker([](FakeClient& client) {
    const std::string request = client.line();
    while (!client.has_gone() && !client.line().empty()) {
    }
    const bool is_stack = request.find("/handler/pyspy_dump?nonblocking=1") != std::string::npos;
    client.say("HTTP/1.0 200 OK\r\n\r\n" +
               (is_stack ? "Process 7: python train.py\nThread 7 (active): \"MainThread\"\n"
                           "    save (torch/serialization.py:650)\n"
                         : dump_json(2, false)));
  });
  const auto got = ask({.workers = {worker.place()}});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(files(), ElementsAre("nccl_trace_rank_0.json", "stack_rank_0.txt"));
}

TEST_F(Gather, AReportCannotLeadToAnotherHost) {
  FakeService trap([](FakeClient& client) { client.stay_silent(); });
  std::string report = ras_json({5, 4});
  const std::string key = "\"rank\":0,";
  report.insert(report.find(key) + key.size(),
                "\"control_plane\":\"" + to_string(trap.place()) + "/rank/0\",");
  FakeRas ras{.json = {report}};
  FakeService service([&](FakeClient& client) { ras.serve(client); });
  ASSERT_TRUE(ask({.services = {service.host()}}));
  EXPECT_EQ(trap.connections(), 0);
}

TEST_F(Gather, AServiceThatGoesAwayIsAJobThatHasEnded) {
  FakeRas ras{.json = {ras_json({4, 4})}};
  auto service = std::make_unique<FakeService>([&](FakeClient& client) { ras.serve(client); });
  Request request{.services = {service->host()}, .interval = Seconds{0.05}};
  const auto got = gather(request, folder_.path(), [&](const std::string&) { service.reset(); });
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->state, JobState::Gone);
}

TEST_F(Gather, NothingThatAnswersIsAnErrorThatNamesThePlace) {
  const auto got = ask({.services = {{"127.0.0.1", 1}}});
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(files(), IsEmpty());
}

/// A shell that has started rank 0 of 2. The destructor ends both.
class Launcher {
 public:
  Launcher() {
    std::string script = "RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 sleep 60 & wait";
    std::vector<char> shell{'s', 'h', '\0'}, option{'-', 'c', '\0'};
    char* const arguments[] = {shell.data(), option.data(), script.data(), nullptr};
    posix_spawnattr_t group;
    posix_spawnattr_init(&group);
    posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
    EXPECT_EQ(::posix_spawnp(&pid_, "sh", nullptr, &group, arguments, environ), 0);
    posix_spawnattr_destroy(&group);
  }
  ~Launcher() {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

TEST_F(Gather, TheEndedRankOfTwoIsKept) {
  const Launcher launcher;
  const auto has_rank = [&] {
    const std::vector<JobProcess> found = job_processes(launcher.pid());
    return found.size() == 1 && found.front().launch.has_value();
  };
  for (int i = 0; i < 500 && !has_rank(); ++i) real_clock().sleep(std::chrono::milliseconds(10));
  ASSERT_TRUE(has_rank());
  static_cast<void>(ask({.pids = {launcher.pid()}}));
  const auto log = read_file(folder_.path() + "/processes.log");
  ASSERT_TRUE(log) << steps_;
  EXPECT_THAT(*log, HasSubstr("rank 1 of 2 has no process"));
}

TEST_F(Gather, AllThatIsHostileTogetherEndsWithinTheTimeOut) {
  FakeService service([](FakeClient& client) { client.stay_silent(); });
  FakeService worker([](FakeClient& client) { client.say_forever("x"); });
  Request request{.services = {service.host()},
                  .workers = {worker.place(), service.place()},
                  .store = service.host(),
                  .timeout = Seconds{2}};
  const auto began = std::chrono::steady_clock::now();
  const auto got = ask(request);
  EXPECT_FALSE(got);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

}  // namespace
}  // namespace ringside::attach
