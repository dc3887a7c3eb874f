// Tests the status service: what ranks report about themselves, to whom, and that strangers cannot disturb it. Ranks
// are threads.

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/runtime/watch/status_report.h"
#include "engine/runtime/watch/status_service.h"
#include "engine/transport/socket/socket.h"
#include "tests/runtime/ranks.h"
#include "tests/support/environment_table.h"

namespace ringside {
namespace {

using nlohmann::json;

RankStatus rank_status(std::int64_t launched, std::int64_t completed) {
  RankStatus status;
  status.is_answering = true;
  status.host = "node \"7\"";
  status.pid = 4711;
  FlightRecorder::GroupView& group = status.groups.emplace_back();
  group.name = "0";
  group.ranks = {0, 1, 2};
  group.state = FlightRecorder::GroupState::Running;
  group.launched[static_cast<std::size_t>(Collective::AllReduce)] = launched;
  group.completed[static_cast<std::size_t>(Collective::AllReduce)] = completed;
  return status;
}

TEST(StatusReport, ReadsWhatARankReports) {
  const auto read = parse_rank_status(to_wire(rank_status(9, 8)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->is_answering);
  EXPECT_EQ(read->host, "node \"7\"");
  EXPECT_EQ(read->pid, 4711);
  ASSERT_EQ(read->groups.size(), 1U);
  EXPECT_EQ(read->groups[0].ranks, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(read->groups[0].launched, rank_status(9, 8).groups[0].launched);
  EXPECT_EQ(read->groups[0].completed, rank_status(9, 8).groups[0].completed);
}

TEST(StatusReport, RefusesOtherMessages) {
  for (const char* text : {"", "{}", "[]", "{\"host\":1,\"pid\":2,\"groups\":[]}",
                           "{\"host\":\"a\",\"pid\":2,\"groups\":[{}]}", "\xff\xfe"}) {
    const auto read = parse_rank_status(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::Corrupt);
  }
  std::string wire = to_wire(rank_status(1, 1));
  wire.replace(wire.find("\"state\":1"), 9, "\"state\":9");
  EXPECT_FALSE(parse_rank_status(wire));
}

// Rank 1 has launched one operation fewer, and rank 2 does not answer.
TEST(StatusReport, TheJsonIsRassWithCompletionsAndTheTextNamesRanksThatDiffer) {
  const std::vector<RankStatus> ranks{rank_status(9, 8), rank_status(8, 8), RankStatus{}};
  const json report = json::parse(status_json(ranks, Seconds{0.5}));
  const json& communicator = report["communicators"][0];
  EXPECT_EQ(communicator["size"], 3);
  EXPECT_EQ(communicator["ranks_count"], 2);
  EXPECT_EQ(communicator["missing_ranks"][0]["rank"], 2);
  EXPECT_EQ(communicator["ranks"][0]["collective_counts"]["AllReduce"], 9);
  EXPECT_EQ(communicator["ranks"][0]["completed_counts"]["AllReduce"], 8);
  EXPECT_EQ(communicator["ranks"][1]["operations"]["launched"], 8);
  const std::string text = status_text(ranks, Seconds{0.5}, false);
  EXPECT_NE(text.find("3 processes, 2 answer"), std::string::npos) << text;
  EXPECT_NE(text.find("INCOMPLETE: no answer of rank 2"), std::string::npos) << text;
  EXPECT_NE(text.find("8 launched: rank 1"), std::string::npos) << text;
}

// The user chooses the names of communicators: two groups of four ranks may have one.
TEST(StatusReport, TwoGroupsOfOneNameStayApart) {
  std::vector<RankStatus> ranks(4, rank_status(9, 9));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].groups[0].name = "tp";
    ranks[i].groups[0].ranks = i < 2 ? std::vector<int>{0, 1} : std::vector<int>{2, 3};
  }
  ranks[2].groups[0].launched[static_cast<std::size_t>(Collective::AllReduce)] = 5;
  ranks[3].groups[0].launched[static_cast<std::size_t>(Collective::AllReduce)] = 5;
  const json report = json::parse(status_json(ranks, Seconds{0.5}));
  ASSERT_EQ(report["communicators_count"], 2);
  EXPECT_NE(report["communicators"][0]["hash"], report["communicators"][1]["hash"]);
  for (const json& one : report["communicators"]) EXPECT_EQ(one["ranks_count"], 2);
  EXPECT_EQ(status_text(ranks, Seconds{0.5}, false).find("launched: rank"), std::string::npos);
}

TEST(StatusPort, NcclsVariablesNameIt) {
  EXPECT_EQ(*status_port(environment_of({})), std::nullopt);
  EXPECT_EQ(*status_port(environment_of({{"NCCL_RAS_ADDR", "localhost:4000"}})), 4000);
  EXPECT_EQ(
      *status_port(environment_of({{"NCCL_RAS_ADDR", "localhost:4000"}, {"NCCL_RAS_ENABLE", "0"}})),
      std::nullopt);
  EXPECT_FALSE(status_port(environment_of({{"NCCL_RAS_ADDR", "4000"}})));
}

/// Three ranks with their services; the test queries them while they are idle.
class StatusServices : public testing::Test {
 protected:
  void with_services(Nanoseconds patience, const std::function<void(const SocketAddress&)>& body) {
    const auto root = make_root(3);
    std::barrier all_there(3);
    std::barrier all_done(3);
    run_ranks(first_ranks(3), [&](int rank) {
      FlightRecorder recorder({}, rank);
      FlightRecorder::Group& group = recorder.join({"0", "", {0, 1, 2}, rank, {}}, {}, {});
      const FlightFacts facts{Collective::AllReduce, DataType::Float32, 1, 1};
      recorder.end(recorder.begin(group, facts, Nanoseconds{1}), true, Nanoseconds{2});
      if (rank != 1) recorder.begin(group, facts, Nanoseconds{3});
      const auto bootstrap = must_join(rank, 3, root->id());
      auto service = StatusService::start(
          *bootstrap, recorder, {.port = 0, .client_patience = patience}, deadline_in(kPlenty));
      ASSERT_TRUE(service) << service.error().message;
      if (rank == 2 && is_last_silent_) service->reset();
      all_there.arrive_and_wait();
      if (rank == 0) body(*(*service)->address());
      all_done.arrive_and_wait();
    });
  }
  /// Returns all that arrives until the service closes the connection.
  static std::string hear_all(const UniqueFd& fd) {
    std::string text;
    for (std::byte letter{}; recv_all(fd.get(), std::span(&letter, 1), deadline_in(kPlenty));) {
      text += static_cast<char>(letter);
    }
    return text;
  }
  static std::string ask(const SocketAddress& address,
                         const std::string& question = "VERBOSE STATUS\n") {
    const UniqueFd client = connect(address);
    say(client, question);
    return hear_all(client);
  }
  static UniqueFd connect(const SocketAddress& address) {
    return *connect_tcp(address, deadline_in(kPlenty));
  }
  static void say(const UniqueFd& fd, const std::string& text) {
    EXPECT_TRUE(send_all(fd.get(), std::as_bytes(std::span(text)), deadline_in(kPlenty)));
  }
  /// Returns all that arrives until the end of a line or of the connection.
  static std::string receive(const UniqueFd& fd) {
    std::string line;
    for (std::byte letter{}; !line.ends_with('\n');) {
      if (!recv_all(fd.get(), std::span(&letter, 1), deadline_in(kPlenty))) break;
      line += static_cast<char>(letter);
    }
    return line;
  }

  static constexpr Nanoseconds kLong = std::chrono::seconds(30);
  bool is_last_silent_ = false;
};

TEST_F(StatusServices, OneRankAnswersForAll) {
  with_services(kLong, [](const SocketAddress& address) {
    const std::string answer = ask(address, "SET FORMAT json\nVERBOSE STATUS\n");
    const json report = json::parse(answer.substr(answer.find('{')));
    const json& ranks = report["communicators"][0]["ranks"];
    ASSERT_EQ(ranks.size(), 3U);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(ranks[rank]["collective_counts"]["AllReduce"], rank == 1 ? 1 : 2);
      EXPECT_EQ(ranks[rank]["completed_counts"]["AllReduce"], 1);
    }
    EXPECT_NE(ask(address).find("1 launched: rank 1"), std::string::npos);
  });
}

TEST_F(StatusServices, ARankThatHasGoneIsReportedDead) {
  is_last_silent_ = true;
  with_services(kLong, [](const SocketAddress& address) {
    EXPECT_NE(ask(address).find("DEAD: no process listens for rank 2"), std::string::npos);
  });
}

TEST_F(StatusServices, CommandsAnswerAsRassDo) {
  with_services(kLong, [](const SocketAddress& address) {
    const UniqueFd client = connect(address);
    const std::pair<const char*, const char*> all[] = {
        {"client protocol 2\r\n", "SERVER PROTOCOL 2\n"},
        {"TIMEOUT 3\n", "OK\n"},
        {"TIMEOUT 0.5\n", "OK\n"},
        {"TIMEOUT -1\n", "ERROR: Invalid timeout value -1\n"},
        {"TIMEOUT inf\n", "ERROR: Invalid timeout value inf\n"},
        {"TIMEOUT 3 s\n", "ERROR: Invalid timeout value 3 s\n"},
        {"CONTROL PROFILER_MASK all\n", "ERROR: Unknown CONTROL subcommand\n"},
        {"TIMEOUT soon\n", "ERROR: Invalid timeout value soon\n"},
        {"SET FORMAT xml\n", "ERROR: Invalid format xml\n"},
        {"SET FORMAT text\n", "OK\n"},
        {"HELLO\n", "ERROR: Unknown command HELLO\n"}};
    for (const auto& [command, answer] : all) {
      say(client, command);
      EXPECT_EQ(receive(client), answer) << command;
    }
    say(client, "STATUS\n");
    EXPECT_EQ(receive(client), "Job summary\n");
  });
}

TEST_F(StatusServices, GarbageAndHalfLinesDoNotDisturb) {
  with_services(kLong, [](const SocketAddress& address) {
    for (int i = 0; i < 20; ++i) {
      const UniqueFd client = connect(address);
      std::string garbage;
      for (int k = 0; k < 200; ++k) garbage += static_cast<char>((i * 131 + k * 37) % 256);
      say(client, i % 2 == 0 ? garbage : "VERBOSE STA");
    }
    {
      const UniqueFd client = connect(address);
      say(client, std::string(5000, 'x'));
      EXPECT_EQ(receive(client), "ERROR: a line of more than 256 bytes\n");
    }
    EXPECT_NE(ask(address).find("3 processes, 3 answer"), std::string::npos);
  });
}

TEST_F(StatusServices, TheDumpOfEachRankIsServedOverHttp) {
  with_services(kLong, [](const SocketAddress& address) {
    const std::string status = ask(address, "SET FORMAT json\nSTATUS\n");
    const json report = json::parse(status.substr(status.find('{')));
    EXPECT_EQ(report["communicators"][0]["ranks"][1]["control_plane"],
              "http://" + to_string(address) + "/rank/1");
    for (const auto& [rank, calls] : {std::pair{0, 2}, {1, 1}}) {
      const std::string answer =
          ask(address, "GET /rank/" + std::to_string(rank) +
                           "/handler/fr_trace_json HTTP/1.1\r\nHost: localhost\r\n\r\n");
      ASSERT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
      const json dump = json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
      EXPECT_EQ(dump["entries"].size(), static_cast<std::size_t>(calls));
    }
    for (const char* path : {"/", "/rank/3/handler/ping", "/rank/0/handler/other", "/rank/-1/"}) {
      const std::string answer = ask(address, std::string("GET ") + path + " HTTP/1.1\r\n\r\n");
      EXPECT_TRUE(answer.starts_with("HTTP/1.1 404 ")) << path << ": " << answer;
    }
  });
}

TEST_F(StatusServices, DiagnosticsCompareTheVariables) {
  with_services(kLong, [](const SocketAddress& address) {
    const std::string answer = ask(address, "DIAGNOSTICS\n");
    EXPECT_TRUE(answer.starts_with("=== RAS Diagnostics ===\n")) << answer;
    EXPECT_NE(answer.find("NCCL DIAG [OK]   NCCL environment: NCCL_* env vars consistent across 3"),
              std::string::npos)
        << answer;
    EXPECT_NE(answer.find("RAS diagnostics completed in "), std::string::npos);
  });
}

TEST_F(StatusServices, MonitorReportsARankThatHasEnded) {
  is_last_silent_ = true;
  with_services(kLong, [](const SocketAddress& address) {
    const UniqueFd client = connect(address);
    say(client, "SET FORMAT json\nMONITOR lifecycle\n");
    EXPECT_EQ(receive(client), "OK\n");
    EXPECT_EQ(receive(client), "OK\n");
    const json event = json::parse(receive(client));
    EXPECT_EQ(event["event"], "PEER_DEAD");
    EXPECT_EQ(event["details"], "rank 2");
  });
}

TEST_F(StatusServices, EveryProcessOfTheHostAnswersOnThePort) {
  with_services(kLong, [](const SocketAddress& address) {
    // The kernel spreads connections over the three services; each of them answers for all.
    for (int i = 0; i < 12; ++i) {
      EXPECT_NE(ask(address).find("3 processes, 3 answer"), std::string::npos);
    }
    EXPECT_FALSE(listen_tcp(address));
  });
}

// A client that sends a little now and then would occupy the service for ever without a limit.
TEST_F(StatusServices, ASlowClientIsLetGo) {
  with_services(std::chrono::milliseconds(300), [](const SocketAddress& address) {
    const UniqueFd slow = connect(address);
    std::atomic<bool> is_over{false};
    std::jthread dripping([&] {
      const std::string_view command = "TIMEOUT 3\n";
      while (!is_over) {
        // The service may have closed the connection by now.
        static_cast<void>(send_some(slow.get(), std::as_bytes(std::span(command))));
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    });
    EXPECT_NE(ask(address).find("3 processes, 3 answer"), std::string::npos);
    is_over = true;
  });
}

}  // namespace
}  // namespace ringside
