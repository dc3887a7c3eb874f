// ringside attach against made-up services: what it prints, keeps, measures, and refuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "tests/attach/fake_service.h"
#include "tests/cli/program.h"

namespace ringside {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// A job with a RAS service that gives these reports.
class AttachVerb : public testing::Test {
 protected:
  AttachVerb() { std::filesystem::create_directories(root_); }
  ~AttachVerb() override { std::filesystem::remove_all(root_); }

  Outcome attach(const std::vector<std::string>& more) {
    std::vector<std::string> words{"attach", to_string(service_.place()), "--interval", "0.1"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  const std::filesystem::path root_ = temporary_path("attach_verb");
  attach::FakeRas ras_{.json = {attach::ras_json({5, 4, 5, 5})}};
  const attach::FakeService service_{[this](attach::FakeClient& client) { ras_.serve(client); }};
};

TEST_F(AttachVerb, AJobThatHangsIsAFindingWithItsVerdictAndSources) {
  const Outcome text = attach({});
  EXPECT_EQ(text.status, 1) << text.err;
  EXPECT_THAT(text.out, HasSubstr("The job is still"));
  EXPECT_THAT(text.out, HasSubstr("rank 1"));
  EXPECT_THAT(text.out, HasSubstr("4 ranks, 3 reports: nothing moved in the last 3"));
  EXPECT_THAT(text.err, HasSubstr("attach: status"));
  const Outcome run = attach({"--json", "--diagnostics"});
  const json document = json::parse(run.out);
  EXPECT_EQ(document["schema"], "ringside.attach/1");
  EXPECT_EQ(document["state"], "still");
  EXPECT_EQ(document["hang"]["verdict"]["culprits"], json({1}));
  EXPECT_EQ(document["sources"].size(), 2U);
}

TEST_F(AttachVerb, WhatItKeepsSaysTheSameToHang) {
  const std::string folder = root_ / "kept";
  const Outcome now = attach({"--json", "--save", folder});
  ASSERT_EQ(now.status, 1) << now.err;
  const Outcome later = run_program({"hang", "--json", folder});
  EXPECT_EQ(json::parse(later.out)["verdict"], json::parse(now.out)["hang"]["verdict"]);
  // A folder that holds anything is not written to.
  EXPECT_EQ(attach({"--save", folder}).status, 2);
}

TEST_F(AttachVerb, AJobThatMovesIsNoFinding) {
  ras_.json.clear();
  for (int i = 0; i < 20; ++i) ras_.json.push_back(attach::ras_json({i, i}));
  const Outcome run = attach({});
  EXPECT_EQ(run.status, 0) << run.out;
  EXPECT_THAT(run.out, HasSubstr("The job moves"));
}

TEST_F(AttachVerb, AWatchPrintsEachChangeOnceAndWritesMetrics) {
  ras_.json.insert(ras_.json.begin(),
                   {attach::ras_json({1, 1, 1, 1}), attach::ras_json({2, 2, 2, 2}),
                    attach::ras_json({3, 3, 3, 3}), attach::ras_json({4, 4, 4, 4})});
  ras_.events = "{\"event\":\"PEER_DEAD\",\"peer\":{\"host\":\"n7\",\"pid\":4711}}\n";
  const std::string metrics = root_ / "metrics.prom";
  const Outcome run = attach({"--watch", "--watch-for", "3", "--metrics", metrics});
  EXPECT_EQ(run.status, 1) << run.err;
  const std::size_t moves = run.out.find("the job moves");
  const std::size_t hangs = run.out.find("ank 1");
  EXPECT_LT(moves, hangs) << run.out;
  EXPECT_NE(hangs, std::string::npos) << run.out;
  EXPECT_THAT(run.out, HasSubstr("PEER_DEAD n7 pid 4711"));
  EXPECT_EQ(run.out.find("PEER_DEAD"), run.out.rfind("PEER_DEAD")) << run.out;
  EXPECT_THAT(*read_file(metrics), HasSubstr("ringside_hang_culprit{rank=\"1\"} 1\n"));
}

// Each count stays for four reports, as steps of 4 s do at one report a second; then nothing moves any more.
TEST_F(AttachVerb, AWatchTakesUsualPausesForNoHang) {
  ras_.json.clear();
  for (int step = 1; step <= 8; ++step) {
    for (int i = 0; i < 4; ++i) ras_.json.push_back(attach::ras_json({step, step, step, step}));
  }
  ras_.json.push_back(attach::ras_json({9, 8, 9, 9}));
  const Outcome moving = attach({"--watch", "--watch-for", "2.5"});
  EXPECT_EQ(moving.status, 0) << moving.out;
  EXPECT_EQ(moving.out.find("no progress"), std::string::npos) << moving.out;
  const Outcome hung = attach({"--watch", "--watch-for", "6"});
  EXPECT_EQ(hung.status, 1) << hung.out;
  EXPECT_THAT(hung.out, HasSubstr("no progress since"));
}

TEST_F(AttachVerb, AWatchSaysHowFarApartTheRanksAreAndSinceWhen) {
  const Outcome run = attach({"--watch", "--watch-for", "1"});
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("no progress since "));
  EXPECT_THAT(run.out, HasSubstr("of 4 ranks: 4 to 5 calls launched, fewest by rank 1"));
}

TEST_F(AttachVerb, AWatchInJsonIsOneDocumentALine) {
  ras_.json.insert(ras_.json.begin(), {attach::ras_json({1, 1}), attach::ras_json({2, 2}),
                                       attach::ras_json({3, 3}), attach::ras_json({4, 4})});
  ras_.events = "{\"event\":\"PEER_DEAD\",\"peer\":{\"host\":\"n7\",\"pid\":4711}}\n";
  const Outcome run = attach({"--watch", "--watch-for", "3", "--json"});
  EXPECT_EQ(run.status, 1) << run.err;
  std::istringstream lines(run.out);
  std::vector<std::string> states;
  bool has_event = false;
  for (std::string line; std::getline(lines, line);) {
    const json document = json::parse(line, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << line;
    EXPECT_EQ(document["schema"], "ringside.attach/1");
    EXPECT_TRUE(document["time"].is_string());
    has_event = has_event || document.contains("event");
    if (!document.contains("state")) continue;
    states.push_back(document["state"]);
    EXPECT_THAT(document["progress"].get<std::string>(), HasSubstr("ranks: "));
    EXPECT_TRUE(document["since"].is_string());
    if (document["state"] == "still") {
      EXPECT_EQ(document["hang"]["verdict"]["culprits"], json({1}));
    }
  }
  EXPECT_THAT(states, testing::ElementsAre("moves", "still"));
  EXPECT_TRUE(has_event) << run.out;
}

// The port is free until the job begins, a second later.
TEST(AttachWatch, ItMayBeginBeforeTheJob) {
  HostPort host;
  {
    host = attach::FakeService([](attach::FakeClient&) {}).host();
  }
  const std::string metrics = temporary_path("attach_early") + ".prom";
  attach::FakeRas ras{.json = {attach::ras_json({5, 4})}};
  std::unique_ptr<attach::FakeService> service;
  std::string before;
  std::jthread job([&] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    if (auto text = read_file(metrics)) before = *text;
    service = std::make_unique<attach::FakeService>(
        [&](attach::FakeClient& client) { ras.serve(client); }, host.port);
  });
  const Outcome run = run_program({"attach", to_string(attach::Place{host, {}}), "--interval",
                                   "0.1", "--watch", "--watch-for", "4", "--metrics", metrics});
  job.join();
  std::filesystem::remove(metrics);
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_THAT(run.err, HasSubstr("waiting for the job"));
  EXPECT_THAT(run.out, HasSubstr("rank 1"));
  EXPECT_THAT(before, HasSubstr("ringside_up 0\n"));
}

TEST(AttachOptions, WhatCannotBeMeantIsRefusedWithTheFix) {
  const std::vector<std::vector<std::string>> all = {{"--timeout", "0"},
                                                     {"--interval", "nan"},
                                                     {"--reports", "1"},
                                                     {"--pid", "0"},
                                                     {"--pid", "-1"},
                                                     {"--pid", "self"},
                                                     {"--worker", "nowhere"},
                                                     {"--store", "h:0"},
                                                     {"--metrics", "x"},
                                                     {"h:99999"},
                                                     {"--watch", "--save", "x"},
                                                     {"--watch", "h", "--pid", "1"},
                                                     {"--watch", "h", "--store", "h"},
                                                     {"--watch", "h", "--worker", "h:1"},
                                                     {"--watch", "h", "--pipe"},
                                                     {"--watch", "h", "--diagnostics"},
                                                     {"--watch-for", "5"},
                                                     {"--watch", "--metrics", ":99999"}};
  for (std::vector<std::string> words : all) {
    words.insert(words.begin(), "attach");
    const Outcome run = run_program(words);
    EXPECT_EQ(run.status, 2) << testing::PrintToString(words) << run.err;
    EXPECT_THAT(run.err, HasSubstr("help:")) << testing::PrintToString(words);
  }
}

TEST(AttachOptions, NothingThatListensIsAFailureThatNamesTheOtherSources) {
  const Outcome run = run_program({"attach", "127.0.0.1:1"});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(run.err, HasSubstr("--pid"));
}

TEST(AttachOptions, ForeignTextDoesNotReachTheTerminalAsItIs) {
  const attach::FakeService service([](attach::FakeClient& client) {
    client.line();
    client.say("\x1b]0;title\x07 \x1b[2J\n");
  });
  const Outcome run = run_program({"attach", to_string(service.place())});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace ringside
