#include "harness/sweep/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace ringside {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Workers : public testing::Test {
 protected:
  Workers() { fs::remove_all(folder_); }
  ~Workers() override { fs::remove_all(folder_); }

  ResultStore store_of(const std::vector<std::string>& keys) const {
    auto store = ResultStore::open(folder_);
    EXPECT_TRUE(store) << store.error().message;
    std::vector<StoredPoint> points;
    for (const std::string& key : keys) points.push_back({key, key});
    EXPECT_TRUE(store->set_points(points));
    return *std::move(store);
  }

  /// Returns how often a point was begun, counted in a file in the folder, as another process does the work.
  [[nodiscard]] int tries(const std::string& key) const {
    std::ifstream lines(folder_ + "/" + key);
    int count = 0;
    for (std::string line; std::getline(lines, line);) ++count;
    return count;
  }
  void note(const std::string& key) const {
    std::ofstream(folder_ + "/" + key, std::ios::app) << "begun\n";
  }

  static std::map<std::string, PointResult> results_of(ResultStore& store) {
    std::map<std::string, PointResult> results;
    const auto done = store.done();
    EXPECT_TRUE(done);
    for (const auto& one : *done) results[one.key] = parse_point_result(one.result).value();
    return results;
  }

  const std::string folder_ = testing::TempDir() + "worker_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name() +
                              std::to_string(::getpid());
};

PointResult finished(double step_s) {
  return {.end = PointResult::End::Finished, .step = Seconds{step_s}};
}

TEST_F(Workers, WorkOutEveryPointOnce) {
  ResultStore store = store_of({"1", "2", "3", "4", "5"});
  std::int64_t reported = 0;
  const auto work = [&](const std::string& key) {
    note(key);
    return finished(std::stod(key));
  };
  const WorkerOptions options{.jobs = 2, .progress = [&](const SweepProgress& now) {
                                EXPECT_GE(now.done, reported);
                                reported = now.done;
                              }};
  ASSERT_TRUE(run_worker(store, work, options));
  EXPECT_EQ(reported, 5);
  const auto results = results_of(store);
  ASSERT_EQ(results.size(), 5U);
  for (const auto& [key, result] : results) {
    EXPECT_EQ(result.step.count(), std::stod(key));
    EXPECT_EQ(tries(key), 1);
  }
}

// A point whose process dies has a result with its last output; the other points are computed.
TEST_F(Workers, DeathIsAResult) {
  ResultStore store = store_of({"aborts", "exits", "throws", "fine"});
  const auto work = [](const std::string& key) -> PointResult {
    if (key == "aborts") {
      std::fputs("first\nrank 3 of 2\n", stderr);
      std::abort();
    }
    if (key == "exits") ::_exit(7);
    if (key == "throws") throw std::runtime_error("no such thing");
    return finished(1);
  };
  ASSERT_TRUE(run_worker(store, work, {.jobs = 4}));
  auto results = results_of(store);
  EXPECT_EQ(results["aborts"].end, PointResult::End::Failed);
  EXPECT_THAT(results["aborts"].reason, HasSubstr("rank 3 of 2"));
  EXPECT_THAT(results["exits"].reason, HasSubstr("left with 7"));
  EXPECT_EQ(results["throws"].reason, "no such thing");
  EXPECT_EQ(results["fine"].end, PointResult::End::Finished);
}

// A point that is killed from outside is begun again; the third time, the result reports it.
// A library may call exit(0) within a simulation.
TEST_F(Workers, AProcessWithoutAnAnswerIsAFailedPoint) {
  ResultStore store = store_of({"ends", "runs"});
  const auto compute = [](const std::string& key) {
    if (key == "ends") ::_exit(0);
    return finished(1);
  };
  ASSERT_TRUE(run_worker(store, compute, {.jobs = 2}));
  const auto results = results_of(store);
  EXPECT_EQ(results.at("ends").end, PointResult::End::Failed);
  EXPECT_THAT(results.at("ends").reason, HasSubstr("without an answer"));
  EXPECT_EQ(results.at("runs").end, PointResult::End::Finished);
}

TEST_F(Workers, AKilledPointIsBegunAnew) {
  ResultStore store = store_of({"once", "ever"});
  const auto work = [&](const std::string& key) {
    note(key);
    if (key == "ever" || tries(key) == 1) ::raise(SIGKILL);
    return finished(2);
  };
  ASSERT_TRUE(run_worker(store, work, {.jobs = 1}));
  auto results = results_of(store);
  EXPECT_EQ(results["once"].end, PointResult::End::Finished);
  EXPECT_EQ(tries("once"), 2);
  EXPECT_EQ(results["ever"].end, PointResult::End::Failed);
  EXPECT_EQ(tries("ever"), 3);
}

// The descendant has inherited both pipes of the point's process.
TEST_F(Workers, APointEndsWithItsProcessThoughADescendantGoesOn) {
  ResultStore store = store_of({"parent"});
  const std::string stop = folder_ + "/stop";
  const auto work = [&](const std::string&) {
    if (::fork() == 0) {
      for (int i = 0; i < 300 && !fs::exists(stop); ++i) ::usleep(100'000);
      ::_exit(0);
    }
    return finished(2);
  };
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(run_worker(store, work, {.jobs = 1}));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  std::ofstream(stop) << '\n';
  EXPECT_EQ(results_of(store)["parent"].end, PointResult::End::Finished);
}

TEST_F(Workers, APointThatTakesTooLongIsEnded) {
  ResultStore store = store_of({"slow"});
  const auto work = [&](const std::string& key) {
    note(key);
    for (;;) ::pause();
    return finished(1);
  };
  ASSERT_TRUE(run_worker(store, work, {.jobs = 1, .limit = Seconds{0.05}}));
  EXPECT_THAT(results_of(store)["slow"].reason, HasSubstr("longer than 0.05 s"));
  EXPECT_EQ(tries("slow"), 1);
}

}  // namespace
}  // namespace ringside
