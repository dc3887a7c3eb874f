#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/program.h"

// A sweep of 50 points that is killed in the middle: no point is lost, and none is computed twice.
namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFifty = R"(ringside: sweep/1
name: fifty
currency: EUR
clusters: {two: {on: dgx-h100, nodes: 2, price: {gpu_hour: 2}, power: {host: 10kW}}}
workloads: {8B: {ddp: {model: llama3-8b, sequence: 512, gpu: h100, efficiency: 0.5, check_memory: no, data: 16}}}
vary: ['workload.bucket_cap_mb=10,20,30,40,50', 'nics=1,2,4,6,8', 'nccl=2.27,2.30']
)";

class Sweeps : public testing::Test {
 protected:
  Sweeps() : folder_(temporary_path("sweep")) {
    fs::create_directories(folder_);
    std::ofstream(file()) << kFifty;
  }
  ~Sweeps() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string file() const { return folder_ + "/fifty.yaml"; }
  [[nodiscard]] std::string results() const { return folder_ + "/results"; }

  /// Returns the first column of each row of the results; empty while there are none.
  [[nodiscard]] std::vector<std::string> ask(const char* sql) const {
    std::vector<std::string> all;
    sqlite3* database = nullptr;
    if (sqlite3_open_v2((results() + "/results.sqlite").c_str(), &database, SQLITE_OPEN_READONLY,
                        nullptr) == SQLITE_OK) {
      sqlite3_busy_timeout(database, 10'000);
      const auto keep = [](void* to, int, char** columns, char**) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(columns[0] ? columns[0] : "");
        return 0;
      };
      sqlite3_exec(database, sql, keep, &all, nullptr);
    }
    sqlite3_close(database);
    return all;
  }
  [[nodiscard]] std::vector<std::string> done() const {
    return ask("SELECT key FROM points WHERE result IS NOT NULL");
  }

  static pid_t start(std::vector<std::string> words) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (std::freopen("/dev/null", "w", stdout) == nullptr) ::_exit(126);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }

  /// errors  a test that waits in vain fails
  void wait_for_done(std::size_t least) const {
    for (int i = 0; i < 2000 && done().size() < least; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ASSERT_GE(done().size(), least);
  }

  /// Returns how often each point was begun.
  [[nodiscard]] std::map<std::string, int> attempts() const {
    std::map<std::string, int> count;
    for (const std::string& key : ask("SELECT key FROM attempts")) ++count[key];
    return count;
  }

  const std::string folder_;
};

TEST_F(Sweeps, AreContinuedAfterKillMinusNine) {
  const pid_t first = start({RINGSIDE_PROGRAM, "sweep", file(), "-o", results(), "--jobs", "2"});
  wait_for_done(10);
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  int status = 0;
  ::waitpid(first, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it had ended before it was killed: the sweep is too short";
  const std::vector<std::string> before = done();
  ASSERT_LT(before.size(), 50U);

  const Outcome again = run_program({"sweep", file(), "-o", results(), "--jobs", "2", "--json"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(done().size(), 50U);
  const auto begun = attempts();
  EXPECT_EQ(begun.size(), 50U);
  std::size_t all = 0;
  for (const auto& [key, times] : begun) all += static_cast<std::size_t>(times);
  EXPECT_LE(all, 52U);  // the two that were in progress
  for (const std::string& key : before) EXPECT_EQ(begun.at(key), 1);

  const auto document = nlohmann::json::parse(again.out);
  EXPECT_EQ(document["schema"], "ringside.sweep/1");
  ASSERT_EQ(document["points"].size(), 50U);
  std::set<std::string> settings;
  for (const auto& point : document["points"]) {
    EXPECT_EQ(point["outcome"], "finished");
    EXPECT_GT(point["step_time_us"], 0);
    EXPECT_GT(point["cost"]["money"], 0);
    EXPECT_GT(point["cost"]["energy_j"], 0);
    settings.insert(point["settings"].dump());
  }
  EXPECT_EQ(settings.size(), 50U);
  for (const char* const name : {"points.csv", "points.json", "index.html"}) {
    EXPECT_TRUE(fs::exists(results() + "/" + name)) << name;
  }

  // The page contains all that it needs, and draws.
  std::ifstream file_of_page(results() + "/index.html");
  const std::string page((std::istreambuf_iterator<char>(file_of_page)), {});
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_NE(page.find("class=\"assumed\""), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);

  // All points are done: only the report is made.
  ASSERT_EQ(run_program({"sweep", file(), "-o", results()}).status, 0);
  EXPECT_EQ(ask("SELECT key FROM attempts").size(), all);
}

TEST_F(Sweeps, UnderMpirunOutliveARankThatIsKilled) {
  if (run_program({"--version"}, {}, "mpirun").status != 0) {
    GTEST_SKIP() << "skipped: needs mpirun: apt-get install openmpi-bin";
  }
  const pid_t job =
      start({"mpirun", "--allow-run-as-root", "--oversubscribe", "--enable-recovery", "-n", "4",
             RINGSIDE_PROGRAM, "sweep", file(), "-o", results(), "--jobs", "1"});
  wait_for_done(8);
  // Does not take the first worker, which may be the one that reports.
  const std::vector<std::string> workers =
      ask("SELECT pid FROM workers WHERE id > 1 AND id IN (SELECT worker FROM points WHERE result "
          "IS NULL)");
  ASSERT_FALSE(workers.empty());
  ASSERT_EQ(::kill(std::stoi(workers.back()), SIGKILL), 0);
  int status = 0;
  ::waitpid(job, &status, 0);
  EXPECT_EQ(done().size(), 50U);
  EXPECT_EQ(ask("SELECT DISTINCT worker FROM attempts").size(), 4U);
  std::size_t all = 0;
  for (const auto& [key, times] : attempts()) all += static_cast<std::size_t>(times);
  EXPECT_LE(all, 51U);
  EXPECT_GE(all, 50U);
}

// An impossible combination is a result, and so is a hang.
TEST_F(Sweeps, APointThatFailsIsAResult) {
  std::ofstream(folder_ + "/hang.yaml") << R"(ringside: scenario/1
name: never
ranks: 4
steps:
- all_reduce: {on: world, count: 1048576}
- synchronize
faults:
- skip: {rank: 2, call: 0}
)";
  std::ofstream(file()) << R"(ringside: sweep/1
name: some-fail
clusters: {one: {on: dgx-h100}}
workloads:
  hangs: {scenario: hang.yaml}
  fine: {ddp: {model: llama3-8b, sequence: 512, gpu: h100, efficiency: 0.5, check_memory: no, data: 8}}
vary: ['nics=8,64']
)";
  const Outcome outcome = run_program({"sweep", file(), "-o", results(), "--json"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  const auto document = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(document["points"].size(), 4U);
  std::multiset<std::string> outcomes;
  for (const auto& point : document["points"]) outcomes.insert(point["outcome"]);
  EXPECT_EQ(outcomes, (std::multiset<std::string>{"finished", "hang", "refused", "refused"}));
  for (const auto& point : document["points"]) {
    EXPECT_EQ(point["outcome"] == "finished", !point.contains("reason"));
  }
}

TEST_F(Sweeps, RefusesABadFileAndWritesNothing) {
  std::ofstream(file())
      << "ringside: sweep/1\nname: x\nclusters: {one: {on: dgx-h10}}\n"
         "workloads: {w: {ddp: {model: llama3-8b, gpu: h100, efficiency: 0.5, check_memory: no, "
         "data: 8}}}\n";
  const Outcome outcome = run_program({"sweep", file(), "-o", results()});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("fifty.yaml:3: cluster one: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("dgx-h100"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(results()));
}

}  // namespace
}  // namespace ringside
