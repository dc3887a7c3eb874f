#include "engine/runtime/watch/watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <future>
#include <latch>
#include <mutex>
#include <set>
#include <string>

#include "base/fd.h"
#include "tests/runtime/ranks.h"
#include "tests/support/fake_clock.h"

namespace ringside {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::StartsWith;

/// One rank under test: its watch, and the reason that its callback received.
struct Watched {
  std::promise<Error> reason;
  std::atomic<int> calls = 0;
  std::unique_ptr<Bootstrap> bootstrap;
  std::unique_ptr<Watch> watch;

  bool start(int rank, int nranks, const UniqueId& id, Clock& clock = real_clock()) {
    bootstrap = must_join(rank, nranks, id, clock);
    if (bootstrap == nullptr) return false;
    auto started = Watch::start(*bootstrap, [this](const Error& why) {
      if (++calls == 1) reason.set_value(why);
    });
    EXPECT_TRUE(started) << started.error().message;
    if (!started) return false;
    watch = *std::move(started);
    return true;
  }
};

/// Starts `nranks` watched ranks, does `body` on each rank's thread once all are up, and keeps the
/// ranks that are left until every body has returned.
void watch_ranks(int nranks, const std::function<void(int rank, Watched& self)>& body) {
  FakeClock clock;
  const auto root = make_root(nranks, kPlenty, clock);
  ClockBarrier all(clock, nranks);
  const auto watched = [&](int rank) {
    Watched self;
    const bool is_up = self.start(rank, nranks, root->id(), clock);
    all.arrive_and_wait();
    if (is_up) body(rank, self);
    all.arrive_and_wait();
    EXPECT_LE(self.calls, 1);
  };
  run_ranks(first_ranks(nranks), watched, clock);
}

/// The messages that ranks reported, each once.
class Verdicts {
 public:
  void wait_for(Watched& self) {
    const auto reason = self.watch->reason(deadline_in(kPlenty, self.bootstrap->clock()));
    ASSERT_TRUE(reason) << "a rank got no reason";
    const Error why = self.reason.get_future().get();
    EXPECT_EQ(reason->message, why.message);
    const std::lock_guard lock(mutex_);
    messages_.insert(why.message);
    ++count_;
  }

  std::set<std::string> messages() { return messages_; }
  [[nodiscard]] int count() const { return count_; }

 private:
  std::mutex mutex_;
  std::set<std::string> messages_;
  int count_ = 0;
};

std::string gone(int rank) {
  return fmt::format("rank {} is gone: its process or host ended without a goodbye", rank);
}

class WatchOf : public testing::TestWithParam<int> {};

TEST_P(WatchOf, ADeathIsReportedToAllInTheSameWords) {
  const int n = GetParam();
  const int victim = n / 2;
  Verdicts verdicts;
  watch_ranks(n, [&](int rank, Watched& self) {
    if (rank == victim) {
      self.watch.reset();  // no goodbye
    } else {
      verdicts.wait_for(self);
    }
  });
  EXPECT_EQ(verdicts.count(), n - 1);
  EXPECT_EQ(verdicts.messages(), std::set{gone(victim)});
}

INSTANTIATE_TEST_SUITE_P(Ranks, WatchOf, testing::Values(2, 3, 7, 100));

TEST(Watch, AnAbortReachesAllWithItsCodeTextAndHelp) {
  Verdicts verdicts;
  watch_ranks(5, [&](int rank, Watched& self) {
    if (rank == 3) {
      self.watch->abort(
          {ErrorCode::Timeout, "rank 3: all_reduce 7 made no progress", "see ringside hang"});
    }
    verdicts.wait_for(self);
    ASSERT_TRUE(self.watch->reason());
    EXPECT_EQ(self.watch->reason()->code, ErrorCode::Timeout);
    EXPECT_EQ(self.watch->reason()->help, "see ringside hang");
  });
  EXPECT_EQ(verdicts.count(), 5);
  EXPECT_EQ(verdicts.messages(), std::set<std::string>{"rank 3: all_reduce 7 made no progress"});
}

TEST(Watch, ARankThatAbortsAndLeavesAtOnceIsNotReportedDead) {
  Verdicts verdicts;
  watch_ranks(4, [&](int rank, Watched& self) {
    if (rank == 1) {
      self.watch->abort({ErrorCode::Corrupt, "wrong data"});
      self.watch.reset();
    } else {
      verdicts.wait_for(self);
    }
  });
  EXPECT_EQ(verdicts.messages(), std::set<std::string>{"wrong data"});
}

TEST(Watch, ARankThatLeavesAfterTheNewsIsNotReportedDead) {
  Verdicts verdicts;
  watch_ranks(6, [&](int rank, Watched& self) {
    if (rank == 1) self.watch->abort({ErrorCode::Corrupt, "wrong data"});
    ASSERT_TRUE(self.bootstrap->barrier());  // both neighbours have the news by now
    if (rank == 2) {
      self.watch.reset();  // does not wait until the reason is settled
    } else {
      verdicts.wait_for(self);
    }
  });
  EXPECT_EQ(verdicts.count(), 5);
  EXPECT_EQ(verdicts.messages(), std::set<std::string>{"wrong data"});
}

// A rank that is destroyed here is not quite a killed process: if it learns of the other's death first, it leaves with
// a goodbye. So which of them is named is chance; that all ranks name the same one is not.
TEST(Watch, TwoDeathsAtOnceGiveOneReasonEverywhere) {
  Verdicts verdicts;
  std::barrier together(2);
  watch_ranks(12, [&](int rank, Watched& self) {
    if (rank == 3 || rank == 10) {
      together.arrive_and_wait();
      self.watch.reset();
    } else {
      verdicts.wait_for(self);
    }
  });
  EXPECT_EQ(verdicts.count(), 10);
  EXPECT_THAT(verdicts.messages(),
              ElementsAre(AnyOf(gone(3) + ", and so did rank 10", gone(3), gone(10))));
}

TEST(Watch, AllDeathsOfOneMomentAreReported) {
  Verdicts verdicts;
  std::barrier together(8);
  watch_ranks(8, [&](int rank, Watched& self) {
    const bool is_called_dead = rank == 2 || rank == 6 || rank == 7;
    // Without a goodbye this rank, which lives and passes on news, would deny its death.
    if (is_called_dead) self.watch->goodbye();
    together.arrive_and_wait();
    if (is_called_dead) return;
    const int dead = rank == 1 ? 6 : rank == 3 ? 2 : rank == 5 ? 7 : -1;
    if (dead >= 0) self.watch->abort({ErrorCode::PeerGone, "lost"}, Rank{dead});
    verdicts.wait_for(self);
    // The ranks on both sides of the first report to the user.
    EXPECT_EQ(self.watch->reason()->is_reported_elsewhere, rank != 1 && rank != 3) << rank;
  });
  EXPECT_EQ(verdicts.messages(), std::set{gone(2) + ", and so did ranks 6-7"});
}

TEST(Watch, EveryRankAbortsAtOnceAndAllReportTheSame) {
  Verdicts verdicts;
  std::barrier together(8);
  watch_ranks(8, [&](int rank, Watched& self) {
    together.arrive_and_wait();
    // Ranks 0-3 lost another rank, ranks 4-7 found an error themselves, and these have precedence.
    self.watch->abort({rank < 4 ? ErrorCode::PeerGone : ErrorCode::Timeout,
                       fmt::format("rank {} says so", rank)});
    verdicts.wait_for(self);
  });
  EXPECT_EQ(verdicts.count(), 8);
  EXPECT_EQ(verdicts.messages(), std::set<std::string>{"rank 4 says so"});
}

// The lower rank's loss of its peer says less than why that peer gave up.
TEST(Watch, ARequestedEndHasPrecedenceOverALostPeer) {
  Verdicts verdicts;
  std::barrier together(4);
  watch_ranks(4, [&](int rank, Watched& self) {
    together.arrive_and_wait();
    self.watch->abort(rank == 3 ? Error{ErrorCode::Aborted, "the program gave up"}
                                : Error{ErrorCode::PeerGone, fmt::format("rank {}: lost", rank)});
    verdicts.wait_for(self);
  });
  EXPECT_EQ(verdicts.messages(), std::set<std::string>{"the program gave up"});
}

TEST(Watch, ADeathHasPrecedenceOverItsConsequences) {
  Verdicts verdicts;
  std::latch died(1);
  watch_ranks(5, [&](int rank, Watched& self) {
    if (rank == 4) {
      self.watch.reset();
      died.count_down();
      return;
    }
    if (rank == 2) {  // not a neighbour of rank 4
      died.wait();
      self.watch->abort({ErrorCode::PeerGone, "rank 2: shm: rank 4 closed"});
    }
    verdicts.wait_for(self);
  });
  EXPECT_EQ(verdicts.messages(), std::set{gone(4)});
}

// A reset by a disconnected network looks like the end of a process; the process itself knows better.
TEST(Watch, ARankDeniesNewsOfItsOwnDeath) {
  Verdicts verdicts;
  watch_ranks(4, [&](int rank, Watched& self) {
    if (rank == 2) self.watch->abort({}, Rank{1});
    verdicts.wait_for(self);
    ASSERT_TRUE(self.watch->reason());
    EXPECT_EQ(self.watch->reason()->code, ErrorCode::Unreachable);
  });
  EXPECT_EQ(verdicts.count(), 4);
  EXPECT_EQ(verdicts.messages(),
            std::set<std::string>{"rank 1 lost rank 2 on the watch's connection: rank 2 reported "
                                  "that this rank had died, but it "
                                  "runs"});
}

TEST(Watch, AGoodbyeIsNotADeath) {
  watch_ranks(4, [](int, Watched& self) {
    ASSERT_TRUE(self.bootstrap->barrier());
    self.watch->goodbye();
    self.watch->goodbye();  // a second goodbye changes nothing
    self.watch.reset();
    EXPECT_EQ(self.calls, 0);
  });
}

TEST(Watch, RemainingRanksContinueAfterAGoodbye) {
  watch_ranks(4, [](int rank, Watched& self) {
    if (rank == 2) {
      self.watch->goodbye();
      self.watch.reset();
    } else {
      self.bootstrap->clock().sleep(kSettleTime * 2);
      EXPECT_FALSE(self.watch->reason());
      self.watch->goodbye();
    }
  });
}

TEST(Watch, ADeathReachesAllThoughOneRankHasLeftInGoodOrder) {
  Verdicts verdicts;
  std::barrier left(6);
  watch_ranks(6, [&](int rank, Watched& self) {
    if (rank == 1) {
      self.watch->goodbye();
      self.watch.reset();
    }
    left.arrive_and_wait();
    if (rank == 4) self.watch.reset();
    if (rank != 1 && rank != 4) verdicts.wait_for(self);
  });
  EXPECT_EQ(verdicts.count(), 4);
  EXPECT_EQ(verdicts.messages(), std::set{gone(4)});
}

TEST(Watch, ARankAloneLearnsOfItsOwnAbort) {
  Verdicts verdicts;
  watch_ranks(1, [&](int, Watched& self) {
    EXPECT_FALSE(self.watch->reason());
    self.watch->abort({ErrorCode::Aborted, "enough"});
    self.watch->abort({ErrorCode::Aborted, "more than enough"});
    verdicts.wait_for(self);
  });
  EXPECT_EQ(verdicts.messages(), std::set<std::string>{"enough"});
}

TEST(Watch, MayGoAtAnyTimeWhileOthersAbort) {
  for (int round = 0; round < 10; ++round) {
    watch_ranks(4, [&](int rank, Watched& self) {
      if (rank % 2 == 0) self.watch->abort({ErrorCode::Aborted, "go"});
      // Waits in real time, so that the end comes at a random point of the other threads' work.
      std::this_thread::sleep_for(std::chrono::microseconds(200) * rank * round);
      self.watch.reset();
    });
  }
}

/// The last actions of a killed rank before the signal.
using FinalAction = std::function<void(int rank, Watched& self)>;

/// Runs one rank of the next tests in its own process: joins, and writes the reason to `out`.
[[noreturn]] void run_killable_rank(int rank, int nranks, const FinalAction* final_action, int in,
                                    int out) {
  std::array<char, 256> text{};
  const ssize_t size = ::read(in, text.data(), text.size());
  const auto id =
      parse_unique_id({text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))});
  Watched self;
  if (!id || !self.start(rank, nranks, *id) || !self.bootstrap->barrier()) ::_exit(1);
  if (final_action != nullptr) {
    (*final_action)(rank, self);
    ::raise(SIGKILL);
  }
  const std::string reason = self.reason.get_future().get().message;
  const bool is_written = ::write(out, reason.data(), reason.size()) > 0;
  ::_exit(is_written ? 0 : 1);
}

/// Runs ranks as processes, kills `victims`, and returns the reasons that the others received.
void kill_ranks(int nranks, const std::set<int>& victims, const FinalAction& final_action,
                std::set<std::string>& reasons) {
  std::vector<pid_t> children;
  std::vector<UniqueFd> inputs;
  std::vector<UniqueFd> outputs;
  for (int rank = 0; rank < nranks; ++rank) {  // before this process has a thread
    int down[2];
    int up[2];
    ASSERT_EQ(::pipe2(down, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(up, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      run_killable_rank(rank, nranks, victims.contains(rank) ? &final_action : nullptr, down[0],
                        up[1]);
    }
    children.push_back(child);
    ::close(down[0]);
    ::close(up[1]);
    inputs.emplace_back(down[1]);
    outputs.emplace_back(up[0]);
  }
  {
    const auto root = make_root(nranks);
    const std::string id = to_string(root->id());
    for (const UniqueFd& input : inputs) {
      ASSERT_TRUE(write_all(input.get(), std::as_bytes(std::span(id))));
    }
    for (const UniqueFd& output : outputs) {
      std::array<char, 256> text{};
      const ssize_t size = ::read(output.get(), text.data(), text.size());
      if (size > 0) reasons.emplace(text.data(), static_cast<std::size_t>(size));
    }
  }
  for (int rank = 0; rank < nranks; ++rank) {
    int status = 0;
    ASSERT_EQ(::waitpid(children[static_cast<std::size_t>(rank)], &status, 0),
              children[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(WIFSIGNALED(status), victims.contains(rank)) << "rank " << rank;
    if (!victims.contains(rank)) {
      EXPECT_EQ(WEXITSTATUS(status), 0) << "rank " << rank;
    }
  }
}

TEST(Watch, AHostOfProcessesThatIsKilledGivesOneReasonEverywhere) {
  std::set<std::string> reasons;
  kill_ranks(
      8, {3, 4, 5}, [](int, Watched&) {}, reasons);
  // Which rank's end is noticed, and whether in time, is a race; that all ranks get the same reason is not.
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_THAT(*reasons.begin(), AnyOf(StartsWith(gone(3)), StartsWith(gone(4)), gone(5)));
}

// The rank has passed on the other's death, which is not the reason of its own end.
TEST(Watch, ARankKilledAfterItSawAnotherDieIsNamedToo) {
  std::set<std::string> reasons;
  // Rank 4 holds a lock that is released when it ends: as long as it lived, it would deny its death.
  const UniqueFd file(::memfd_create("alive", MFD_CLOEXEC));
  struct flock whole = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1, .l_pid = 0};
  const FinalAction reports_4 = [&](int rank, Watched& self) {
    if (rank == 4) {
      EXPECT_EQ(::fcntl(file.get(), F_SETLK, &whole), 0);
      EXPECT_EQ(::write(file.get(), "held", 4), 4);
      return;
    }
    struct stat now {};
    while (::fstat(file.get(), &now) == 0 && now.st_size == 0) ::usleep(100);
    EXPECT_EQ(::fcntl(file.get(), F_SETLKW, &whole), 0);
    self.watch->abort({ErrorCode::PeerGone, "lost"}, Rank{4});
  };
  kill_ranks(8, {3, 4}, reports_4, reasons);
  EXPECT_THAT(reasons, ElementsAre(gone(3) + ", and so did rank 4"));
}

/// Runs one rank of the next tests in its own process: it stops itself, or writes the reason to `out` when it receives
/// a byte to continue. Rank 0 waits for a rank in vain.
[[noreturn]] void run_stoppable_rank(int rank, int nranks, bool is_stopped, int in, int out) {
  std::array<char, 256> text{};
  const ssize_t size = ::read(in, text.data(), text.size());
  const auto id =
      parse_unique_id({text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))});
  Watched self;
  if (!id || !self.start(rank, nranks, *id) || !self.bootstrap->barrier()) ::_exit(1);
  if (is_stopped) ::raise(SIGSTOP);
  if (::read(in, text.data(), 1) != 1) ::_exit(1);
  if (rank == 0) self.watch->abort({ErrorCode::Timeout, "waited in vain"});
  const std::string reason = self.reason.get_future().get().message;
  const bool is_written = ::write(out, reason.data(), reason.size()) > 0;
  ::_exit(is_written ? 0 : 1);
}

/// returns  the reasons, rank by rank, of the ranks that still run when rank 0 gives up; empty for stopped ones
std::vector<std::string> reasons_when_stopped(int nranks, const std::set<int>& stopped) {
  std::vector<pid_t> children;
  std::vector<UniqueFd> inputs;
  std::vector<UniqueFd> outputs;
  for (int rank = 0; rank < nranks; ++rank) {  // before this process has a thread
    int down[2];
    int up[2];
    EXPECT_EQ(::pipe2(down, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(up, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      run_stoppable_rank(rank, nranks, stopped.contains(rank), down[0], up[1]);
    }
    children.push_back(child);
    ::close(down[0]);
    ::close(up[1]);
    inputs.emplace_back(down[1]);
    outputs.emplace_back(up[0]);
  }
  std::vector<std::string> reasons(children.size());
  const auto root = make_root(nranks);
  const std::string id = to_string(root->id());
  for (const UniqueFd& input : inputs) {
    EXPECT_TRUE(write_all(input.get(), std::as_bytes(std::span(id))));
  }
  int status = 0;
  for (const int rank : stopped) {
    ::waitpid(children[static_cast<std::size_t>(rank)], &status, WUNTRACED);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  for (std::size_t rank = 0; rank < children.size(); ++rank) {
    if (stopped.contains(static_cast<int>(rank))) continue;
    EXPECT_EQ(::write(inputs[rank].get(), "!", 1), 1);
  }
  for (std::size_t rank = 0; rank < children.size(); ++rank) {
    if (stopped.contains(static_cast<int>(rank))) continue;
    std::array<char, 256> text{};
    const ssize_t size = ::read(outputs[rank].get(), text.data(), text.size());
    if (size > 0) reasons[rank].assign(text.data(), static_cast<std::size_t>(size));
  }
  for (std::size_t rank = 0; rank < children.size(); ++rank) {
    if (stopped.contains(static_cast<int>(rank))) ::kill(children[rank], SIGKILL);
    ::waitpid(children[rank], &status, 0);
  }
  return reasons;
}

TEST(Watch, AStoppedRankIsNamedWhenAnotherGivesUp) {
  const std::string why =
      "rank 2 does not answer: it is stopped, or cannot be reached (waited in vain)";
  EXPECT_THAT(reasons_when_stopped(4, {2}), ElementsAre(why, why, "", why));
}

// Ranks 0 and 1 cannot see whether 3 and 4 live. Here those do not, or they would wait for ever: no news reaches them.
TEST(Watch, ReportsNothingAboutRanksBetweenTwoStoppedRanks) {
  const std::string why =
      "ranks 2,5 do not answer: they are stopped, or cannot be reached; the state of ranks 3-4 "
      "between them is unknown (waited in vain)";
  const auto reasons = reasons_when_stopped(6, {2, 5, 3, 4});
  EXPECT_EQ(reasons[0], why);
  EXPECT_EQ(reasons[1], why);
}

}  // namespace
}  // namespace ringside
