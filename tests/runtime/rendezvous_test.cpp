#include "engine/runtime/bootstrap/rendezvous.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <string>

#include "engine/runtime/bootstrap/pmix_exchange.h"
#include "engine/transport/socket/socket.h"
#include "tests/runtime/ranks.h"
#include "tests/support/environment_table.h"

namespace ringside {
namespace {

using testing::HasSubstr;
using Table = std::map<std::string, std::string>;

/// A TCP port that the kernel gives to no other socket while this lives; a listener with SO_REUSEADDR, as listen_tcp() makes it
/// for a requested port, can have it.
class HeldPort {
 public:
  HeldPort() : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    const int on = 1;
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const sockaddr_in any{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
  }
  [[nodiscard]] std::uint16_t number() const {
    return std::get<SocketAddress>(*local_endpoint(socket_.get())).port;
  }
  [[nodiscard]] std::string text() const { return std::to_string(number()); }

 private:
  UniqueFd socket_;
};

/// Expects that all ranks meet with the settings of `table`, and gather once.
void expect_meeting(int nranks, Table table, Launcher launcher, const std::string& method) {
  table.insert({"RINGSIDE_SECRET", "of these tests"});
  run_ranks(first_ranks(nranks), [&](int rank) {
    const LaunchInfo info{.launcher = launcher, .rank = rank, .nranks = nranks};
    const auto meeting = rendezvous(info, kPlenty, environment_of(table));
    ASSERT_TRUE(meeting) << meeting.error().message;
    EXPECT_EQ(meeting->method, method);
    const auto bootstrap = Bootstrap::join({.rank = Rank{rank},
                                            .nranks = nranks,
                                            .id = meeting->id,
                                            .ticket = meeting->ticket,
                                            .listen = meeting->listen,
                                            .join_timeout = kPlenty});
    ASSERT_TRUE(bootstrap) << bootstrap.error().message;
    EXPECT_TRUE((*bootstrap)->barrier());
  });
}

TEST(Rendezvous, RanksMeetAtTheMastersPort) {
  const HeldPort port;
  expect_meeting(3, {{"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", port.text()}},
                 Launcher::Torchrun, "MASTER_ADDR");
}

TEST(Rendezvous, RanksMeetAtTheCommId) {
  const HeldPort port;
  expect_meeting(3, {{"NCCL_COMM_ID", "localhost:" + port.text()}}, Launcher::OpenMpi,
                 "NCCL_COMM_ID");
}

TEST(Rendezvous, RanksMeetAtARootThatRunsAlready) {
  const auto root = make_root(2);
  expect_meeting(2, {{"RINGSIDE_COMM_ID", to_string(root->id())}, {"NCCL_COMM_ID", "ignored:1"}},
                 Launcher::Torchrun, "RINGSIDE_COMM_ID");
}

TEST(Rendezvous, RanksOfASlurmStepMeetOnItsFirstHost) {
  expect_meeting(2,
                 {{"SLURM_JOB_ID", std::to_string(::getpid())},
                  {"SLURM_STEP_ID", "0"},
                  {"SLURM_STEP_NODELIST", "localhost,node[2-3]"}},
                 Launcher::Slurm, "Slurm");
}

TEST(Rendezvous, ASecretThatDiffersKeepsRanksOut) {
  testing::internal::CaptureStderr();
  const HeldPort held;
  const std::string port = held.text();
  const auto meet = [&](int rank, const char* secret) {
    return rendezvous(
        {.rank = rank, .nranks = 2}, kPlenty,
        environment_of(
            {{"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", port}, {"RINGSIDE_SECRET", secret}}));
  };
  const auto first = meet(0, "one");
  ASSERT_TRUE(first) << first.error().message;
  const auto second = meet(1, "two");
  const auto refused =
      Bootstrap::join({.rank = Rank{1}, .nranks = 2, .id = second->id, .join_timeout = kPlenty});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::PermissionDenied);
  EXPECT_EQ(first->id, meet(1, "one")->id);
  testing::internal::GetCapturedStderr();
}

/// Returns the message of rank 0 or of another rank while it arranges the meeting.
std::string said_of_secret(int rank, Table table) {
  const HeldPort port;
  table.insert({{"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", port.text()}});
  testing::internal::CaptureStderr();
  const auto meeting = rendezvous({.rank = rank, .nranks = 2}, kPlenty, environment_of(table));
  EXPECT_TRUE(meeting) << meeting.error().message;
  return testing::internal::GetCapturedStderr();
}

TEST(Rendezvous, Rank0WarnsWhereTheSecretCanBeGuessed) {
  const std::string said = said_of_secret(0, {});
  EXPECT_THAT(said, HasSubstr("secret of this job is derived from MASTER_ADDR's port"));
  EXPECT_THAT(said, HasSubstr("Set RINGSIDE_SECRET"));
  EXPECT_EQ(said.find("is derived"), said.rfind("is derived")) << said;
  EXPECT_EQ(said_of_secret(1, {}), "");
  EXPECT_EQ(said_of_secret(0, {{"RINGSIDE_SECRET", "f3a9"}}), "");
}

// 192.0.2.1 is an address for documentation: no interface has it, like the address of a service in front of this host.
TEST(Rendezvous, ARootWithATranslatedAddressListensOnOneInterface) {
  testing::internal::CaptureStderr();
  const HeldPort held;
  const std::uint16_t port = held.number();
  const auto meeting = rendezvous({.rank = 0, .nranks = 2}, kPlenty,
                                  environment_of({{"MASTER_ADDR", "192.0.2.1"},
                                                  {"MASTER_PORT", std::to_string(port)},
                                                  {"NCCL_SOCKET_IFNAME", "lo"}}));
  testing::internal::GetCapturedStderr();
  ASSERT_TRUE(meeting) << meeting.error().message;
  EXPECT_EQ(to_string(meeting->root->address()), fmt::format("127.0.0.1:{}", port));
  EXPECT_EQ(meeting->id.root, meeting->root->address());
  EXPECT_EQ(meeting->listen, loopback_address());
}

TEST(Rendezvous, TorchrunsAgentKeepsItsPortAndRanksTakeTheNext) {
  Table table{{"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}};
  const auto port = [&] {
    return rendezvous({.rank = 1, .nranks = 2}, kPlenty, environment_of(table))->id.root.port;
  };
  EXPECT_EQ(port(), 29500);
  table["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  EXPECT_EQ(port(), 29500);
  table["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(port(), 29501);
}

TEST(Rendezvous, ABusyPortIsReportedWithTheFix) {
  const auto listener = listen_tcp(loopback_address());
  const auto port = std::get<SocketAddress>(*local_endpoint(listener->get())).port;
  const auto busy =
      rendezvous({.rank = 0, .nranks = 2}, kPlenty,
                 environment_of({{"NCCL_COMM_ID", fmt::format("127.0.0.1:{}", port)}}));
  ASSERT_FALSE(busy);
  EXPECT_EQ(busy.error().code, ErrorCode::System);
  EXPECT_THAT(busy.error().message, HasSubstr("Address already in use"));
  EXPECT_THAT(busy.error().help, HasSubstr("another process has the port"));
}

TEST(Rendezvous, BadOrHalfSetVariablesAreNamed) {
  const auto message = [](const Table& table) {
    const auto result = rendezvous({.rank = 1, .nranks = 2}, kPlenty, environment_of(table));
    return result ? "fine" : result.error().message + " / " + result.error().help;
  };
  EXPECT_THAT(message({{"MASTER_ADDR", "head"}}),
              HasSubstr("MASTER_ADDR is set, but MASTER_PORT is not"));
  EXPECT_THAT(message({{"MASTER_PORT", "1"}}),
              HasSubstr("MASTER_PORT is set, but MASTER_ADDR is not"));
  EXPECT_THAT(message({{"MASTER_ADDR", "head"}, {"MASTER_PORT", "70000"}}),
              HasSubstr("MASTER_PORT='70000' is not a number from 1 to 65535"));
  EXPECT_THAT(message({{"NCCL_COMM_ID", "head"}}), HasSubstr("NCCL_COMM_ID='head'"));
  EXPECT_THAT(message({{"NCCL_SOCKET_IFNAME", "=nope0"}, {"NCCL_COMM_ID", "127.0.0.1:1"}}),
              HasSubstr("NCCL_SOCKET_IFNAME='=nope0'; there are: "));
  EXPECT_THAT(message({}),
              HasSubstr("has no way to find rank 0 / set MASTER_ADDR and MASTER_PORT"));
}

TEST(SlurmPort, StaysOutOfTheKernelsRangeAndDiffersBetweenSteps) {
  for (int job = 0; job < 1000; ++job) {
    const std::uint16_t port = slurm_port(std::to_string(job), "0");
    EXPECT_GE(port, 20'000);
    EXPECT_LT(port, 30'000);
  }
  EXPECT_NE(slurm_port("77", "0"), slurm_port("77", "1"));
}

/// Runs the test program under mpirun.  returns  its output and exit status
std::pair<std::string, int> mpirun(int nranks, const std::string& arguments) {
  const std::string command = fmt::format(
      "env -u MASTER_ADDR -u MASTER_PORT -u RANK -u WORLD_SIZE mpirun --allow-run-as-root "
      "--oversubscribe -np {} {} {} 2>&1",
      nranks, RINGSIDE_LAUNCHED_RANK, arguments);
  std::string output;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {"popen failed", -1};
  std::array<char, 4096> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  return {output, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

bool has_mpirun() { return std::system("mpirun --version > /dev/null 2>&1") == 0; }

TEST(Pmix, RanksUnderMpirunFindEachOther) {
  if (!has_pmix()) GTEST_SKIP() << "built without PMIx";
  if (!has_mpirun()) GTEST_SKIP() << "needs mpirun";
  const auto [output, status] = mpirun(4, "");
  EXPECT_EQ(status, 0) << output;
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_THAT(output, HasSubstr(fmt::format("rank {} of 4 met by PMIx: 0 1 2 3\n", rank)));
  }
}

TEST(Pmix, ARankThatNeverJoinsIsNamedByTheOthers) {
  if (!has_pmix()) GTEST_SKIP() << "built without PMIx";
  if (!has_mpirun()) GTEST_SKIP() << "needs mpirun";
  // The exit status is not ours: mpirun objects to rank 1, which ends without having connected to it.
  const std::string output = mpirun(3, "1").first;
  EXPECT_THAT(output, HasSubstr("rank 0: rank 1 of 3 never came within 1 s"));
  EXPECT_THAT(output, HasSubstr("rank 2: rank 1 of 3 never came within 1 s"));
}

}  // namespace
}  // namespace ringside
