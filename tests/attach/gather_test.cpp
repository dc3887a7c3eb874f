// What is gathered of a job, and what hang makes of it: services and control planes are made up.

#include "harness/attach/gather.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "base/fd.h"
#include "base/folder.h"
#include "base/temporary.h"
#include "diag/hangdetect/examine.h"
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
  EXPECT_EQ(got->state, JobState::Unknown);
  EXPECT_THAT(files(), ElementsAre("nccl_trace_rank_0.json", "nccl_trace_rank_1.json"));
  EXPECT_THAT(verdict().best.culprits, ElementsAre(1));
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
