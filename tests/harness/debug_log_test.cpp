#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "diag/audit/audit.h"
#include "diag/hangdetect/examine.h"
#include "diag/report/sentences/hang_sentences.h"
#include "engine/transport/transport.h"
#include "harness/job.h"

// The audit reads back what a real run logs about itself, with code that shares nothing with the code that wrote it.

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kAllSubsystems = "INIT,BOOTSTRAP,NET,GRAPH,COLL,TUNING,DESTROY";

/// Sets variables as long as the object lives; the ranks inherit them.
class Variables {
 public:
  explicit Variables(std::map<std::string, std::string> values) : values_(std::move(values)) {
    for (const auto& [name, value] : values_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() {
    for (const auto& [name, value] : values_) ::unsetenv(name.c_str());
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  std::map<std::string, std::string> values_;
};

JobOptions ring_job(const char* transport) {
  JobOptions job;
  job.local_ranks = 4;
  job.communicator.host.transport = *parse_transport(transport);
  job.communicator.settings.algorithm = Algorithm::Ring;
  job.grace = Seconds{2};
  return job;
}

Status reduce(JobRank& rank, std::int64_t count) {
  std::vector<float> data(static_cast<std::size_t>(count), 1.0F);
  return rank.communicator.run({.collective = Collective::AllReduce,
                                .input = data.data(),
                                .output = data.data(),
                                .count = count});
}

Result<int> three_calls(JobRank& rank) {
  for (const std::int64_t count : {1024, 1024, 8}) RINGSIDE_TRY(reduce(rank, count));
  return 0;
}

struct LoggedRun {
  Result<int> status;
  audit::Audit audit;
  hang::Explanation hang;  ///< the verdict of the hang verb on the same files
};

/// Runs the job with a log file for each rank, and audits those.
LoggedRun run_logged(const JobOptions& job, const JobMain& main,
                     const char* subsystems = kAllSubsystems) {
  const std::filesystem::path folder =
      testing::TempDir() + "debug_log_" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const Variables variables({{"NCCL_DEBUG", "INFO"},
                             {"NCCL_DEBUG_SUBSYS", subsystems},
                             {"NCCL_DEBUG_FILE", folder.string() + "/%h.%p.log"}});
  Result<int> status = run_job(job, main);
  auto audited = audit::audit_logs({folder.string()}, {});
  EXPECT_TRUE(audited) << audited.error().message;
  auto examined = hang::examine({folder.string()});
  EXPECT_TRUE(examined) << examined.error().message;
  std::filesystem::remove_all(folder);
  return {std::move(status), audited ? *std::move(audited) : audit::Audit{},
          examined ? examined->verdict.best : hang::Explanation{}};
}

/// Returns the findings that require an action.
std::vector<std::string> troubles_of(const audit::Audit& audit) {
  std::vector<std::string> troubles;
  for (const audit::Finding& finding : audit.findings) {
    if (finding.severity >= audit::Severity::Warning) {
      troubles.push_back(finding.id + ": " + finding.title);
    }
  }
  return troubles;
}

std::vector<std::string> not_understood(const audit::Audit& audit) {
  std::vector<std::string> lines;
  for (const logs::UnparsedShape& shape : audit.parsed.unparsed) lines.push_back(shape.example);
  return lines;
}

/// Returns the pairs of ranks, e.g. "0-1", that connections of that kind join.
std::set<std::string> pairs_via(const audit::CommFacts& comm, logs::Via via) {
  std::set<std::string> pairs;
  for (const audit::Link& link : comm.links) {
    if (link.via != via) continue;
    const bool is_receive = link.direction == logs::Direction::Receive;
    const std::int32_t from = is_receive ? link.peer : link.rank;
    const std::int32_t to = is_receive ? link.rank : link.peer;
    pairs.insert(std::to_string(from) + "-" + std::to_string(to));
  }
  return pairs;
}

const std::set<std::string> kRing{"0-1", "1-2", "2-3", "3-0"};

void expect_whole_life(const audit::Audit& audit) {
  const audit::CommFacts* comm = audit.facts.world();
  ASSERT_NE(comm, nullptr);
  EXPECT_EQ(comm->nranks, 4);
  EXPECT_EQ(comm->nnodes, 1);
  ASSERT_EQ(comm->members.size(), 4U);
  std::set<std::uint32_t> processes;
  for (const audit::Member& member : comm->members) {
    EXPECT_TRUE(member.is_started && member.is_complete && member.is_destroyed) << member.rank;
    EXPECT_EQ(member.ncalls, 3U) << member.rank;
    EXPECT_EQ(member.bus_id, -1) << "there is no GPU";
    processes.insert(member.process);
  }
  EXPECT_EQ(processes.size(), 4U);
  ASSERT_EQ(comm->rings.size(), 1U);
  EXPECT_EQ(comm->rings[0].source, audit::RingSource::Neighbours);
  EXPECT_THAT(comm->rings[0].ranks, ElementsAre(0, 1, 2, 3));
  ASSERT_EQ(audit.facts.versions.size(), 1U);
  EXPECT_THAT(audit.facts.versions.begin()->first, HasSubstr("2.31.2+ringside"));
  EXPECT_EQ(audit.facts.bootstraps.begin()->first.second, "127.0.0.1");
  EXPECT_THAT(not_understood(audit), IsEmpty());
}

TEST(DebugLog, AHealthyRunOverSharedMemoryReadsSo) {
  const LoggedRun run = run_logged(ring_job("shm"), three_calls);
  ASSERT_TRUE(run.status) << run.status.error().message;
  EXPECT_THAT(troubles_of(run.audit), IsEmpty());
  expect_whole_life(run.audit);
  EXPECT_EQ(run.hang.kind, hang::Kind::NotAHang) << hang::why_of(run.hang);
  EXPECT_EQ(pairs_via(*run.audit.facts.world(), logs::Via::Shm), kRing);
  EXPECT_THAT(pairs_via(*run.audit.facts.world(), logs::Via::Net), IsEmpty());
  EXPECT_THAT(run.audit.facts.networks, IsEmpty()) << "none is open";
}

TEST(DebugLog, ARunThatIsForcedOverTcpShowsIt) {
  const LoggedRun run = run_logged(ring_job("tcp"), three_calls);
  ASSERT_TRUE(run.status) << run.status.error().message;
  EXPECT_THAT(troubles_of(run.audit),
              ElementsAre(HasSubstr("connections within the host go over TCP")));
  expect_whole_life(run.audit);
  EXPECT_EQ(run.hang.kind, hang::Kind::NotAHang) << hang::why_of(run.hang);
  EXPECT_EQ(pairs_via(*run.audit.facts.world(), logs::Via::Net), kRing);
  EXPECT_THAT(pairs_via(*run.audit.facts.world(), logs::Via::Shm), IsEmpty());
  ASSERT_EQ(run.audit.facts.networks.size(), 1U);
  EXPECT_EQ(run.audit.facts.networks.begin()->first, "Socket");
  ASSERT_EQ(run.audit.facts.hosts.size(), 1U);
  EXPECT_THAT(run.audit.facts.hosts[0].devices.at("Socket"), ElementsAre("lo"));
}

const audit::Finding* find(const audit::Audit& audit, std::string_view id) {
  for (const audit::Finding& finding : audit.findings) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

// Variables that were left in the environment take effect, are logged as NCCL logs them, and are found by the audit.
TEST(DebugLog, VariablesThatForceTcpOrCapTheChannelsAreFound) {
  for (const char* const name : {"NCCL_SHM_DISABLE", "NCCL_MAX_NCHANNELS"}) {
    const Variables variables(std::map<std::string, std::string>{{name, "1"}});
    JobOptions job = ring_job("shm");
    job.communicator.host.transport = nullptr;
    job.communicator.settings.nchannels = 4;
    const LoggedRun run =
        run_logged(job, three_calls, "INIT,BOOTSTRAP,ENV,NET,GRAPH,COLL,TUNING,DESTROY");
    ASSERT_TRUE(run.status) << run.status.error().message;
    const audit::Finding* const found = find(run.audit, "env_override");
    ASSERT_NE(found, nullptr) << name;
    EXPECT_THAT(found->title, HasSubstr(name));
    const bool is_tcp = std::string_view(name) == "NCCL_SHM_DISABLE";
    const audit::CommFacts& comm = *run.audit.facts.world();
    EXPECT_EQ(pairs_via(comm, logs::Via::Net), is_tcp ? kRing : std::set<std::string>());
    EXPECT_EQ(comm.rings.size(), is_tcp ? 4U : 1U);
  }
}

TEST(DebugLog, ARankThatDiesIsNamed) {
  const LoggedRun run = run_logged(ring_job("shm"), [](JobRank& rank) -> Result<int> {
    RINGSIDE_TRY(three_calls(rank));
    if (rank.communicator.rank() == Rank{2}) ::kill(::getpid(), SIGKILL);
    return three_calls(rank);
  });
  ASSERT_FALSE(run.status);
  const audit::Finding* const death = find(run.audit, "hang_dead_rank");
  ASSERT_NE(death, nullptr) << testing::PrintToString(troubles_of(run.audit));
  EXPECT_EQ(death->severity, audit::Severity::Error);
  EXPECT_THAT(death->ranks, ElementsAre(2));
  EXPECT_THAT(death->title, HasSubstr("rank 2"));
  EXPECT_EQ(run.hang.kind, hang::Kind::DeadRank) << hang::why_of(run.hang);
  EXPECT_THAT(run.hang.culprits, ElementsAre(2));
  const audit::CommFacts* comm = run.audit.facts.world();
  ASSERT_NE(comm, nullptr);
  EXPECT_EQ(comm->member(2)->ncalls, 3U) << "it has called no more";
  EXPECT_THAT(not_understood(run.audit), IsEmpty());
}

/// Rank 2 calls the function after its third call, and does not reach its fourth.
LoggedRun run_without_rank_2(const char* transport, void (*instead)()) {
  JobOptions job = ring_job(transport);
  job.communicator.op_timeout = Seconds{0.5};
  return run_logged(job, [instead](JobRank& rank) -> Result<int> {
    RINGSIDE_TRY(three_calls(rank));
    if (rank.communicator.rank() == Rank{2}) instead();
    return three_calls(rank);
  });
}

void expect_rank_2_missed(const LoggedRun& run) {
  ASSERT_FALSE(run.status);
  const audit::Finding* const timeout = find(run.audit, "collective_timeout");
  ASSERT_NE(timeout, nullptr) << testing::PrintToString(troubles_of(run.audit));
  const audit::Finding* const missed = find(run.audit, "hang_missing_rank");
  ASSERT_NE(missed, nullptr) << testing::PrintToString(troubles_of(run.audit));
  EXPECT_EQ(missed->severity, audit::Severity::Error);
  EXPECT_THAT(missed->ranks, ElementsAre(2));
  EXPECT_THAT(not_understood(run.audit), IsEmpty());
  EXPECT_EQ(run.hang.kind, hang::Kind::MissingRank) << hang::why_of(run.hang);
  EXPECT_THAT(run.hang.culprits, ElementsAre(2));
}

// The sleeping rank learns of the failure and reports it as all ranks do: its calls show it.
TEST(DebugLog, ARankThatComesFarTooLateIsNamed) {
  for (const char* const transport : {"shm", "tcp"}) {
    expect_rank_2_missed(run_without_rank_2(transport, [] { ::sleep(1); }));
  }
}

// All others report that they wait, and the stopped rank does not.
TEST(DebugLog, ARankThatIsStoppedIsNamed) {
  for (const char* const transport : {"shm", "tcp"}) {
    expect_rank_2_missed(run_without_rank_2(transport, [] { ::raise(SIGSTOP); }));
  }
}

TEST(DebugLog, RanksThatCallDifferentlyAreNamed) {
  const LoggedRun run = run_logged(ring_job("shm"), [](JobRank& rank) -> Result<int> {
    RINGSIDE_TRY(reduce(rank, 1024));
    RINGSIDE_TRY(reduce(rank, rank.communicator.rank() == Rank{1} ? 512 : 1024));
    return 0;
  });
  ASSERT_FALSE(run.status);
  const audit::Finding* const difference = find(run.audit, "mismatched_collective");
  ASSERT_NE(difference, nullptr) << testing::PrintToString(troubles_of(run.audit));
  EXPECT_THAT(difference->ranks, testing::Contains(1));
  EXPECT_THAT(difference->title, HasSubstr("all_reduce of 512 float"));
}

TEST(DebugLog, ConnectionsAloneDoNotShowAFallbackToHostMemory) {
  const LoggedRun run = run_logged(ring_job("shm"), three_calls, "NET");
  ASSERT_TRUE(run.status) << run.status.error().message;
  EXPECT_THAT(troubles_of(run.audit), IsEmpty());
}

/// Returns what all ranks of a job write to stderr.
std::string said_by(const std::map<std::string, std::string>& variables) {
  const Variables set(variables);
  testing::internal::CaptureStderr();
  const Result<int> status = run_job(ring_job("shm"), three_calls);
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(status) << said;
  return said;
}

// ncclTimeout is 8 from 2.31 on; up to 2.30 it was handed on as the failure of another rank, 6.
TEST(DebugLog, ATimeoutIsLoggedAsATimeout) {
  const Variables set(std::map<std::string, std::string>{{"NCCL_DEBUG", "INFO"}});
  JobOptions job = ring_job("shm");
  job.communicator.op_timeout = Seconds{0.5};
  testing::internal::CaptureStderr();
  const Result<int> status = run_job(job, [](JobRank& rank) -> Result<int> {
    RINGSIDE_TRY(three_calls(rank));
    if (rank.communicator.rank() == Rank{2}) ::raise(SIGSTOP);
    return three_calls(rank);
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(status);
  EXPECT_THAT(said, HasSubstr(") -> 8\n"));
}

TEST(DebugLog, LogsNothingUnlessRequested) {
  EXPECT_EQ(said_by({}), "");
  EXPECT_EQ(said_by({{"NCCL_DEBUG", "WARN"}, {"NCCL_DEBUG_SUBSYS", "ALL"}}).find("NCCL INFO"),
            std::string::npos);
  const std::string version = said_by({{"NCCL_DEBUG", "VERSION"}});
  EXPECT_THAT(version, testing::MatchesRegex("NCCL version 2\\.31\\.2\\+ringside[0-9.]*\n"))
      << "of rank 0 alone";
  const std::string calls = said_by({{"NCCL_DEBUG", "INFO"}, {"NCCL_DEBUG_SUBSYS", "^INIT,NET"}});
  EXPECT_EQ(calls.find("Init COMPLETE"), std::string::npos);
  EXPECT_NE(calls.find("AllReduce: opCount 2 "), std::string::npos) << calls;
}

}  // namespace
}  // namespace ringside
