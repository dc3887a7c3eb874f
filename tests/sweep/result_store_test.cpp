#include "harness/sweep/result_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/fd.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

class ResultStores : public testing::Test {
 protected:
  ResultStores() { fs::remove_all(folder_); }
  ~ResultStores() override { fs::remove_all(folder_); }

  /// Forks a process, as workers are processes and a lock belongs to one. It takes a point, reports that, and waits to
  /// be killed.
  pid_t take_elsewhere() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto store = ResultStore::open(folder_);
      const bool taken = store && store->take() && true;
      static_cast<void>(::write(ends[1], taken ? "y" : "n", 1));
      for (;;) ::pause();
    }
    char said = 0;
    EXPECT_EQ(::read(ends[0], &said, 1), 1);
    EXPECT_EQ(said, 'y');
    ::close(ends[0]);
    ::close(ends[1]);
    return child;
  }

  static void end(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  const std::string folder_ = testing::TempDir() + "store_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name() +
                              std::to_string(::getpid());
};

const std::vector<StoredPoint> kThree{{"a", "first"}, {"b", "second"}, {"c", "third"}};

TEST_F(ResultStores, ReturnsEachPointOnceInOrder) {
  auto store = ResultStore::open(folder_);
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE(store->set_points(kThree));
  for (const char* const key : {"a", "b", "c"}) {
    const auto taken = store->take();
    ASSERT_TRUE(taken && *taken);
    EXPECT_EQ(**taken, key);
  }
  EXPECT_EQ(store->take().value(), std::nullopt);
  EXPECT_EQ(store->count()->taken, 3);
}

TEST_F(ResultStores, StoredResultsAreVisibleToEveryProcess) {
  {
    auto store = ResultStore::open(folder_);
    ASSERT_TRUE(store && store->set_points(kThree));
    ASSERT_EQ(**store->take(), "a");
    ASSERT_TRUE(store->finish("a", "result", 1.5));
  }
  auto again = ResultStore::open(folder_);
  ASSERT_TRUE(again);
  // The points have another order, one less and one more.
  ASSERT_TRUE(again->set_points({{"d", ""}, {"a", ""}, {"b", ""}}));
  const auto count = again->count();
  EXPECT_EQ(count->all, 3);
  EXPECT_EQ(count->done, 1);
  EXPECT_DOUBLE_EQ(count->wall_s, 1.5);
  EXPECT_EQ(**again->take(), "d");
  EXPECT_EQ(**again->take(), "b");
  EXPECT_EQ(again->take().value(), std::nullopt);
  ASSERT_EQ(again->done()->size(), 1U);
  EXPECT_EQ(again->done()->front().result, "result");
}

// A worker that lives keeps its point, however long it sleeps; one that has ended loses it.
TEST_F(ResultStores, OnlyAWorkerThatIsGoneLosesItsPoint) {
  auto store = ResultStore::open(folder_);
  ASSERT_TRUE(store && store->set_points({{"a", ""}}));
  const pid_t other = take_elsewhere();
  ::kill(other, SIGSTOP);
  EXPECT_EQ(store->take().value(), std::nullopt);
  end(other);
  const auto taken = store->take();
  ASSERT_TRUE(taken && *taken);
  EXPECT_EQ(**taken, "a");
}

TEST_F(ResultStores, ReturnedPointsAreOpenAgain) {
  auto store = ResultStore::open(folder_);
  ASSERT_TRUE(store && store->set_points({{"a", ""}}));
  ASSERT_EQ(**store->take(), "a");
  ASSERT_TRUE(store->give_back("a"));
  ASSERT_EQ(**store->take(), "a");
  ASSERT_TRUE(store->finish("a", "x", 0));
  ASSERT_TRUE(store->give_back("a"));  // too late: the point is done
  EXPECT_EQ(store->take().value(), std::nullopt);
}

TEST_F(ResultStores, AnotherFileIsRefusedWithTheFix) {
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/results.sqlite") << std::string(8192, 'x');
  const auto store = ResultStore::open(folder_);
  ASSERT_FALSE(store);
  EXPECT_EQ(exit_status(store.error().code), 2);
  EXPECT_NE(store.error().help, "");
}

TEST_F(ResultStores, AFolderThatCannotBeIsRefused) {
  std::ofstream(folder_) << "a file";
  const auto store = ResultStore::open(folder_);
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().message.find(folder_), std::string::npos);
}

}  // namespace
}  // namespace ringside
