// The client of RAS against services of each release, and against peers that are broken or hostile.

#include "harness/attach/ras_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "harness/attach/job_state.h"
#include "tests/attach/fake_service.h"

namespace ringside::attach {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

constexpr auto kPlenty = std::chrono::seconds(20);

RasClient::Limits quick() {
  return {.greeting = milliseconds(200), .attempts = 2, .report = std::size_t{1} << 20};
}

struct Release {
  int release;
  bool has_json, has_events, has_diagnostics;
};

class EachRelease : public testing::TestWithParam<Release> {};

TEST_P(EachRelease, IsAskedAsFarAsItKnowsTheCommands) {
  FakeRas ras{.release = GetParam().release,
              .json = {ras_json({5, 5})},
              .text = {ras_text({5, 5})},
              .events = "{\"event\":\"PEER_DEAD\"}\n"};
  FakeService service([&](FakeClient& client) { ras.serve(client); });
  const RasClient client(service.place());
  const auto status = client.status(deadline_in(kPlenty));
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(status->is_json, GetParam().has_json);
  EXPECT_EQ(status->protocol, 2);
  EXPECT_THAT(status->text, HasSubstr(GetParam().has_json ? "communicators" : "Job summary"));
  const auto events = client.monitor(milliseconds(200), deadline_in(kPlenty));
  ASSERT_EQ(events.has_value(), GetParam().has_events);
  if (events) {
    EXPECT_EQ(*events, "{\"event\":\"PEER_DEAD\"}\n");
  } else {
    EXPECT_EQ(events.error().code, ErrorCode::Unsupported);
  }
  const auto diagnostics = client.diagnostics(deadline_in(kPlenty));
  ASSERT_EQ(diagnostics.has_value(), GetParam().has_diagnostics);
  if (diagnostics) {
    EXPECT_THAT(*diagnostics, HasSubstr("RAS diagnostics completed"));
  } else {
    EXPECT_EQ(diagnostics.error().code, ErrorCode::Unsupported);
  }
}

INSTANTIATE_TEST_SUITE_P(Nccl, EachRelease,
                         testing::Values(Release{224, false, false, false},
                                         Release{228, true, false, false},
                                         Release{229, true, true, false},
                                         Release{231, true, true, true}),
                         [](const auto& one) { return std::to_string(one.param.release); });

TEST(RasClient, ADiagnosisOfAnotherClientIsReportedAsBusy) {
  FakeRas ras{.is_busy = true};
  FakeService service([&](FakeClient& client) { ras.serve(client); });
  const auto diagnostics = RasClient(service.place()).diagnostics(deadline_in(kPlenty));
  ASSERT_FALSE(diagnostics);
  EXPECT_THAT(diagnostics.error().message, StartsWith("busy"));
}

TEST(JobReport, MissingCommasOf228AreRead) {
  const auto report = JobReport::read({ras_json({5, -1}, true), true, 2});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->parsed->communicators.size(), 1U);
  EXPECT_TRUE(report->parsed->communicators[0].members[1].is_missing);
}

TEST(Movement, ThreeEqualReportsAreStillAndThreeDifferentOnesMove) {
  const auto report = [](int launched) {
    return *JobReport::read({ras_json({launched, launched}), true, 2});
  };
  Movement still(3);
  for (const int launched : {4, 5, 5, 5}) {
    EXPECT_EQ(still.state(), JobState::Unknown);
    still.add(report(launched));
  }
  EXPECT_EQ(still.state(), JobState::Still);
  EXPECT_EQ(still.same(), 3);
  Movement moves(3);
  for (const int launched : {4, 5, 6}) moves.add(report(launched));
  EXPECT_EQ(moves.state(), JobState::Moves);
}

TEST(Movement, ReportsInTextAreComparedWithoutTheirTimes) {
  std::string later = ras_text({5, 4});
  later.replace(later.find("(0.00s)"), 7, "(1.25s)");
  Movement movement(2);
  movement.add(*JobReport::read({ras_text({5, 4}), false, 2}));
  movement.add(*JobReport::read({later, false, 2}));
  EXPECT_EQ(movement.state(), JobState::Still);
  movement.add(*JobReport::read({ras_text({6, 5}), false, 2}));
  EXPECT_EQ(movement.same(), 1);
}

/// A peer that is no RAS service, and what the client says of it.
struct Hostile {
  const char* name;
  FakeService::Serve serve;
  ErrorCode code;
};

class HostilePeer : public testing::TestWithParam<Hostile> {};

TEST_P(HostilePeer, EndsInAnErrorWithinTheTimeOut) {
  FakeService service(GetParam().serve);
  const RasClient client(service.place(), quick());
  const auto began = std::chrono::steady_clock::now();
  const auto status = client.status(deadline_in(milliseconds(1500)));
  const auto took = std::chrono::steady_clock::now() - began;
  ASSERT_FALSE(status) << status->text.substr(0, 80);
  EXPECT_EQ(status.error().code, GetParam().code) << status.error().message;
  EXPECT_LT(took, milliseconds(4000));
  for (const char letter : status.error().message)
    EXPECT_GE(static_cast<unsigned char>(letter), 32);
}

void greet(FakeClient& client) {
  for (const char* answer : {"SERVER PROTOCOL 2\n", "OK\n", "OK\n"}) {
    client.line();
    client.say(answer);
  }
  client.line();
}

INSTANTIATE_TEST_SUITE_P(
    Ras, HostilePeer,
    testing::Values(
        Hostile{"Silent", [](FakeClient& client) { client.stay_silent(); }, ErrorCode::Timeout},
        Hostile{"ClosesAtOnce", [](FakeClient&) {}, ErrorCode::PeerGone},
        Hostile{"HalfALine",
                [](FakeClient& client) {
                  client.line();
                  client.say("SERVER PROTO");
                },
                ErrorCode::Corrupt},
        Hostile{"HalfALineAndSilence",
                [](FakeClient& client) {
                  client.line();
                  client.say("SERVER PROTO");
                  client.stay_silent();
                },
                ErrorCode::Timeout},
        Hostile{"Garbage",
                [](FakeClient& client) {
                  client.line();
                  client.say(std::string("\x00\xff\x1b[2J\n", 7));
                },
                ErrorCode::Corrupt},
        Hostile{"Http",
                [](FakeClient& client) {
                  client.line();
                  client.say("HTTP/1.1 400 Bad Request\r\n\r\n");
                },
                ErrorCode::Corrupt},
        Hostile{"ALineWithoutEnd",
                [](FakeClient& client) { client.say_forever(std::string(4096, 'x')); },
                ErrorCode::Corrupt},
        Hostile{"ABusyServer",
                [](FakeClient& client) {
                  greet(client);
                  client.say("BUSY\n");
                },
                ErrorCode::System},
        Hostile{"NoReport", [](FakeClient& client) { greet(client); }, ErrorCode::PeerGone},
        Hostile{"AReportWithoutEnd",
                [](FakeClient& client) {
                  greet(client);
                  client.say("{");
                  client.say_forever(std::string(65536, ' '));
                },
                ErrorCode::Corrupt},
        Hostile{"ASlowReport",
                [](FakeClient& client) {
                  greet(client);
                  client.say("{\"communicators\":[");
                  client.stay_silent();
                },
                ErrorCode::Timeout}),
    [](const auto& one) { return one.param.name; });

TEST(RasClient, AProcessThatDoesNotAnswerIsLeftForAnotherOfTheSamePort) {
  int connection = 0;
  FakeRas ras{.json = {ras_json({5, 5})}};
  FakeService service([&](FakeClient& client) {
    if (++connection < 3) {
      client.stay_silent();
    } else {
      ras.serve(client);
    }
  });
  const RasClient client(service.place(), {.greeting = milliseconds(200), .attempts = 4});
  const auto status = client.status(deadline_in(kPlenty));
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(service.connections(), 3);
}

TEST(RasClient, NobodyListens) {
  const auto status = RasClient(Place{HostPort{"127.0.0.1", 1}, {}}).status(deadline_in(kPlenty));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::PeerGone);
}

TEST(Place, IsReadFromWhatPeopleType) {
  EXPECT_EQ(to_string(*parse_place("http://node7:25999/")), "node7:25999");
  EXPECT_EQ(to_string(*parse_place("http://[fd00::1]:80/rank/3")), "[fd00::1]:80/rank/3");
  EXPECT_EQ(to_string(*parse_place("unix:/tmp/w.sock")), "/tmp/w.sock");
  EXPECT_EQ(to_string(*parse_place("/tmp/w.sock")), "/tmp/w.sock");
  EXPECT_FALSE(parse_place("node7"));
  EXPECT_FALSE(parse_place("http://n:80/a b"));
  EXPECT_FALSE(parse_place("http://n:80/a\r\nX: y"));
  EXPECT_EQ(parse_host("node7", 28028)->port, 28028);
  EXPECT_EQ(parse_host("node7:4000", 28028)->port, 4000);
  EXPECT_EQ(parse_host(":4000", 28028)->host, "localhost");
  EXPECT_FALSE(parse_host("node7:0", 28028));
}

}  // namespace
}  // namespace ringside::attach
