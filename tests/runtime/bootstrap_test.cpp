#include "engine/runtime/bootstrap/bootstrap.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <future>
#include <latch>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>

#include "engine/runtime/bootstrap/messages.h"
#include "engine/runtime/bootstrap/shared_trace.h"
#include "engine/transport/socket/acceptor.h"
#include "engine/transport/socket/socket.h"
#include "tests/runtime/ranks.h"
#include "tests/support/fake_clock.h"

namespace ringside {
namespace {

using std::chrono::milliseconds;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;

using std::chrono::seconds;

/// Returns the error of each of `ranks` from join() when all of them try to join.
std::map<int, Error> errors_of(const std::vector<int>& ranks, int nranks, const UniqueId& id,
                               Clock& clock = real_clock(), Nanoseconds join_timeout = kPlenty) {
  std::mutex mutex;
  std::map<int, Error> errors;
  run_ranks(
      ranks,
      [&](int rank) {
        const auto joined = Bootstrap::join({.rank = Rank{rank},
                                             .nranks = nranks,
                                             .id = id,
                                             .join_timeout = join_timeout,
                                             .who = fmt::format("host:{}", rank),
                                             .clock = &clock});
        const std::lock_guard lock(mutex);
        if (!joined) errors[rank] = joined.error();
      },
      clock);
  return errors;
}

// RINGSIDE_TRACE may be set for some ranks alone.
TEST(Bootstrap, RanksThatRecordNothingTakePartInTheCreationOfTheOthersTrace) {
  const std::string path = fmt::format("{}/some_ranks_{}.rtrace", testing::TempDir(), ::getpid());
  const auto root = make_root(3);
  run_ranks(first_ranks(3), [&](int rank) {
    const auto bootstrap = must_join(rank, 3, root->id());
    ASSERT_NE(bootstrap, nullptr);
    const Status created = create_shared_trace(*bootstrap, rank == 1 ? path : std::string(),
                                               this_process_info(TraceClock::HostMonotonic), false);
    EXPECT_TRUE(created);
    const std::array<int, 1> mine{rank};
    const auto all = bootstrap->all_gather(std::as_bytes(std::span(mine)));
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_EQ(all->size(), 3 * sizeof mine);
  });
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

class BootstrapOf : public testing::TestWithParam<int> {};

TEST_P(BootstrapOf, EveryRankGathersWhatEachGave) {
  const int n = GetParam();
  const auto root = make_root(n);
  run_ranks(first_ranks(n), [&](int rank) {
    const auto bootstrap = must_join(rank, n, root->id());
    ASSERT_NE(bootstrap, nullptr);
    EXPECT_EQ(bootstrap->rank(), Rank{rank});
    EXPECT_EQ(bootstrap->nranks(), n);
    for (const int round : {1, 2, 3}) {
      const std::array<int, 2> mine{rank, round * 1000};
      const auto all = bootstrap->all_gather(std::as_bytes(std::span(mine)));
      ASSERT_TRUE(all) << all.error().message;
      ASSERT_EQ(all->size(), sizeof mine * static_cast<std::size_t>(n));
      for (int peer = 0; peer < n; ++peer) {
        std::array<int, 2> theirs{};
        std::memcpy(theirs.data(), &(*all)[static_cast<std::size_t>(peer) * sizeof theirs],
                    sizeof theirs);
        EXPECT_EQ(theirs[0], peer);
        EXPECT_EQ(theirs[1], round * 1000);
      }
    }
    EXPECT_TRUE(bootstrap->barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, BootstrapOf, testing::Values(1, 2, 3, 4, 7, 32));

TEST(Bootstrap, OneRankNeedsNoRootAndNoSocket) {
  const auto alone = Bootstrap::join({});
  ASSERT_TRUE(alone);
  EXPECT_EQ((*alone)->next(), Rank{0});
  const int mine = 7;
  const auto all = (*alone)->all_gather(std::as_bytes(std::span(&mine, 1)));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), sizeof mine);
}

TEST(Bootstrap, BlocksLargerThanASocketsBufferPassBothWaysAtOnce) {
  constexpr int kRanks = 3;
  constexpr std::size_t kSize = 4 << 20;
  const auto root = make_root(kRanks);
  run_ranks(first_ranks(kRanks), [&](int rank) {
    const auto bootstrap = must_join(rank, kRanks, root->id());
    ASSERT_NE(bootstrap, nullptr);
    const auto all =
        bootstrap->all_gather(std::vector<std::byte>(kSize, static_cast<std::byte>(rank + 1)));
    ASSERT_TRUE(all) << all.error().message;
    for (std::size_t peer = 0; peer < kRanks; ++peer) {
      EXPECT_EQ((*all)[peer * kSize], static_cast<std::byte>(peer + 1));
      EXPECT_EQ((*all)[(peer + 1) * kSize - 1], static_cast<std::byte>(peer + 1));
    }
  });
}

TEST(Bootstrap, ARootWithoutANumberOfRanksLearnsItFromTheFirst) {
  const auto root = make_root(0);
  EXPECT_TRUE(errors_of({0, 1}, 2, root->id()).empty());
}

TEST(Bootstrap, RanksThatNeverComeAreNamedToAllThatDid) {
  FakeClock clock;
  const auto root = make_root(8, seconds(8), clock);
  const auto errors = errors_of({0, 1, 4}, 8, root->id(), clock);
  ASSERT_EQ(errors.size(), 3U);
  for (const auto& [rank, error] : errors) {
    EXPECT_EQ(error.code, ErrorCode::Timeout);
    EXPECT_EQ(error.message, "ranks 2-3,5-7 of 8 never came within 8 s of the last arrival");
    EXPECT_THAT(error.help, HasSubstr(to_string(root->address())));
  }
}

TEST(Bootstrap, OneMissingRankIsNamedInTheSingular) {
  FakeClock clock;
  const auto root = make_root(2, seconds(8), clock);
  const auto errors = errors_of({1}, 2, root->id(), clock);
  EXPECT_GE(clock.elapsed(), seconds(8));
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors.at(1).message, HasSubstr("rank 0 of 2 never came within 8 s"));
}

TEST(Bootstrap, EachArrivalGivesTheOthersTheWholeTimeAgain) {
  FakeClock clock;
  const auto root = make_root(4, seconds(8), clock);
  run_ranks(
      first_ranks(4),
      [&](int rank) {
        // The last rank comes after 3 x 6 = 18 s, more than the 8 s that a rank waits for the next one.
        clock.sleep(seconds(6) * rank);
        must_join(rank, 4, root->id(), clock);
      },
      clock);
  EXPECT_GE(clock.elapsed(), seconds(18));
}

TEST(Bootstrap, EveryRankReportsAMissingRoot) {
  auto root = make_root(2);
  const UniqueId id = root->id();
  root.reset();
  FakeClock clock;
  const auto errors = errors_of({1}, 2, id, clock, seconds(8));
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.at(1).code, ErrorCode::Timeout);
  EXPECT_THAT(errors.at(1).message,
              MatchesRegex("rank 1: rank 0's root at 127.0.0.1:[0-9]+ does not answer within 8 s: "
                           ".*Connection refused"));
}

TEST(Bootstrap, ARootThatEndsIsNotWaitedFor) {
  FakeClock clock;
  std::optional<Attendance> here(clock);
  auto root = make_root(2, seconds(8), clock);
  const UniqueId id = root->id();
  auto waiting = async_on(clock, [&] {
    return Bootstrap::join({.rank = Rank{1}, .nranks = 2, .id = id, .clock = &clock});
  });
  clock.wait_for_others();
  root.reset();
  here.reset();
  EXPECT_FALSE(waiting.get());
  EXPECT_LT(clock.elapsed(), seconds(8));
}

TEST(Bootstrap, TheWrongSecretIsRefusedAndLoggedWhileTheRealRanksJoin) {
  testing::internal::CaptureStderr();
  {
    const auto root = make_root(2);
    const UniqueId wrong{root->address(), random_secret()};
    const auto errors = errors_of({1}, 2, wrong);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors.at(1).code, ErrorCode::PermissionDenied);
    EXPECT_THAT(errors.at(1).message, HasSubstr("rank 1: rank 0's root at 127.0.0.1:"));
    EXPECT_TRUE(errors_of({0, 1}, 2, root->id()).empty());
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              ContainsRegex("NCCL WARN .* refused 127.0.0.1:[0-9]+: does not know the secret"));
}

// Rank 2 joins and its port accepts connections, but no thread answers there: the process was stopped then.
TEST(Bootstrap, ARankStoppedBeforeItHasItsLinksIsNamedToAll) {
  FakeClock clock;
  const auto root = make_root(4, std::chrono::seconds(8), clock);
  const auto listener = listen_on(Endpoint{loopback_address()});
  ASSERT_TRUE(listener);
  const auto port = local_endpoint(listener->get());
  ASSERT_TRUE(port);
  const JoinMessage stopped{2, 4, std::get<SocketAddress>(*port), "host:2"};
  auto connection = connect_authenticated(Endpoint{root->address()}, root->id().secret,
                                          to_bytes(stopped), deadline_in(kPlenty));
  ASSERT_TRUE(connection);
  const auto join = [&](int rank) {
    const auto joined = Bootstrap::join({.rank = Rank{rank},
                                         .nranks = 4,
                                         .id = root->id(),
                                         .join_timeout = std::chrono::seconds(8),
                                         .clock = &clock});
    ASSERT_FALSE(joined);
    EXPECT_EQ(joined.error().message,
              "rank 2 does not answer: it is stopped, or cannot be reached (no links within 8 s of "
              "the last arrival)")
        << rank;
    EXPECT_EQ(joined.error().is_reported_elsewhere, rank != 0);
  };
  run_ranks({0, 1, 3}, join, clock);
}

TEST(Bootstrap, ASecondJoinOfARankIsRefusedAndTheJobContinues) {
  testing::internal::CaptureStderr();
  const auto root = make_root(3);
  auto first = std::async(std::launch::async, [&] { return errors_of({1}, 3, root->id()); });
  // Which of the two comes first is chance; one of them is refused.
  auto second = std::async(std::launch::async, [&] { return errors_of({1}, 3, root->id()); });
  while (first.wait_for(milliseconds(1)) != std::future_status::ready &&
         second.wait_for(milliseconds(1)) != std::future_status::ready) {
  }
  EXPECT_TRUE(errors_of({0, 2}, 3, root->id()).empty());
  std::map<int, Error> refused = first.get();
  refused.merge(second.get());
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused.at(1).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(refused.at(1).message, "rank 1 came twice: host:1 and host:1");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("rank 1 came twice"));
}

/// Returns the first message of that kind from the root, after skipping others.
RootMessage next_of_kind(RootMessage::Kind kind, const UniqueFd& root) {
  for (;;) {
    const auto frame = recv_frame(root.get(), kMessageLimit, deadline_in(kPlenty));
    const auto message = frame ? parse_root(*frame) : Result<RootMessage>(frame.error());
    if (!message || message->kind == kind) return message ? *message : RootMessage();
  }
}

// The secret of a job may be guessed (rendezvous.h). It does not help at the ports of ranks that have joined.
TEST(Bootstrap, APeerWithTheJobsSecretCannotTakeThePlaceOfARankThatHasJoined) {
  testing::internal::CaptureStderr();
  const auto root = make_root(2);
  auto rank_1 = std::async(std::launch::async, [&] { return must_join(1, 2, root->id()); });
  const auto listener = listen_on(Endpoint{loopback_address()});
  ASSERT_TRUE(listener);
  const JoinMessage join{0, 2, std::get<SocketAddress>(*local_endpoint(listener->get())), "host:0"};
  const auto rank_0 = connect_authenticated(Endpoint{root->address()}, root->id().secret,
                                            to_bytes(join), deadline_in(kPlenty));
  ASSERT_TRUE(rank_0);
  const Secret admitted = next_of_kind(RootMessage::Kind::Admitted, *rank_0).secret;
  const Endpoint next{next_of_kind(RootMessage::Kind::Successor, *rank_0).successor};
  const auto hello = to_bytes(RingHello{RingHello::Purpose::Bootstrap, Rank{0}});
  const auto stranger = connect_authenticated(next, root->id().secret, hello, deadline_in(kPlenty));
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.error().code, ErrorCode::PermissionDenied);

  const auto acceptor = Acceptor::serve(UniqueFd(::dup(listener->get())), admitted);
  ASSERT_TRUE(acceptor);
  std::vector<UniqueFd> links;
  for (const auto purpose : {RingHello::Purpose::Bootstrap, RingHello::Purpose::Watch}) {
    auto link = connect_authenticated(next, admitted, to_bytes(RingHello{purpose, Rank{0}}),
                                      deadline_in(kPlenty));
    ASSERT_TRUE(link) << link.error().message;
    links.push_back(*std::move(link));
    ASSERT_TRUE((*acceptor)->accept(deadline_in(kPlenty)));
  }
  ASSERT_TRUE(send_frame(rank_0->get(), to_bytes(RootMessage{.kind = RootMessage::Kind::Linked}),
                         deadline_in(kPlenty)));
  const auto joined = rank_1.get();
  ASSERT_NE(joined, nullptr);
  EXPECT_EQ(joined->secret(), admitted);
  testing::internal::GetCapturedStderr();
}

TEST(Bootstrap, NoOtherProcessIsRank0WhereItRunsTheRoot) {
  testing::internal::CaptureStderr();
  const auto root =
      BootstrapRoot::start({.secret = random_secret(), .wants_ticket = true, .nranks = 2});
  ASSERT_TRUE(root);
  const UniqueId id = (*root)->id();
  const auto stranger = errors_of({0}, 2, id);
  ASSERT_EQ(stranger.size(), 1U);
  EXPECT_EQ(stranger.at(0).message, "rank 0 (host:0) is not the process that runs the root");
  run_ranks({0, 1}, [&](int rank) {
    const auto joined = Bootstrap::join({.rank = Rank{rank},
                                         .nranks = 2,
                                         .id = id,
                                         .ticket = rank == 0 ? (*root)->ticket() : Secret(),
                                         .join_timeout = kPlenty});
    EXPECT_TRUE(joined) << joined.error().message;
  });
  testing::internal::GetCapturedStderr();
}

TEST(Bootstrap, AnotherNumberOfRanksIsRefusedAndNotedForTheOthers) {
  testing::internal::CaptureStderr();
  FakeClock clock;
  const auto root = make_root(2, seconds(8), clock);
  const auto other = errors_of({1}, 3, root->id(), clock);
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(other.at(1).message, "rank 1 (host:1) was started for 3 ranks, the job has 2");
  const auto errors = errors_of({0}, 2, root->id(), clock);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors.at(0).message, HasSubstr("rank 1 of 2 never came"));
  EXPECT_THAT(errors.at(0).message, HasSubstr("refused: rank 1 (host:1) was started for 3 ranks"));
  testing::internal::GetCapturedStderr();
}

TEST(Bootstrap, TheRootItselfRefusesARankOutOfRange) {
  testing::internal::CaptureStderr();
  const auto root = make_root(2);
  const auto connection = connect_authenticated(
      Endpoint{root->address()}, root->id().secret,
      to_bytes(JoinMessage{5, 2, loopback_address(9), "host:5"}), deadline_in(kPlenty));
  ASSERT_TRUE(connection);
  const auto frame = recv_frame(connection->get(), kMessageLimit, deadline_in(kPlenty));
  ASSERT_TRUE(frame);
  EXPECT_EQ(parse_root(*frame)->error.message, "rank 5 (host:5) is outside 0-1");
  testing::internal::GetCapturedStderr();
}

TEST(Bootstrap, ARankAfterTheJobHasMetLearnsThatItIsLate) {
  testing::internal::CaptureStderr();
  const auto root = make_root(2);
  EXPECT_TRUE(errors_of({0, 1}, 2, root->id()).empty());
  const auto late = errors_of({0}, 2, root->id());
  ASSERT_EQ(late.size(), 1U);
  EXPECT_THAT(late.at(0).message, HasSubstr("came too late: the job of 2 ranks has met already"));
  testing::internal::GetCapturedStderr();
}

TEST(Bootstrap, ARankThatLeavesEarlyEndsTheWaitOfTheOthers) {
  FakeClock clock;
  std::optional<Attendance> here(clock);
  const auto root = make_root(3, kPlenty, clock);
  auto waiting = async_on(
      clock, [&] { return Bootstrap::join({.nranks = 3, .id = root->id(), .clock = &clock}); });
  const JoinMessage join{1, 3, loopback_address(9), "host:1"};
  auto connection = connect_authenticated(Endpoint{root->address()}, root->id().secret,
                                          to_bytes(join), deadline_in(kPlenty, clock));
  ASSERT_TRUE(connection);
  // Rank 0 learns of rank 1 as its successor once the root has accepted both.
  clock.wait_for_others();
  connection->reset();
  here.reset();
  const auto joined = waiting.get();
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code, ErrorCode::PeerGone);
  EXPECT_EQ(joined.error().message,
            "rank 1 (host:1) came and left again before rank 2 of 3 had come");
}

TEST(Bootstrap, RanksOutsideTheJobAreRefusedBeforeAnythingIsConnected) {
  EXPECT_FALSE(Bootstrap::join({.rank = Rank{2}, .nranks = 2}));
  EXPECT_FALSE(Bootstrap::join({.rank = Rank{-1}, .nranks = 2}));
  EXPECT_FALSE(Bootstrap::join({.rank = Rank{0}, .nranks = 0}));
}

TEST(BootstrapRoot, ABusyPortIsASystemError) {
  const auto root = make_root(2);
  const auto second = BootstrapRoot::start({.listen = root->address()});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::System);
  EXPECT_EQ(second.error().message,
            fmt::format("cannot listen on {}: Address already in use", to_string(root->address())));
}

TEST(AllGather, APeerThatLeavesIsNamed) {
  const auto root = make_root(3);
  run_ranks(first_ranks(3), [&](int rank) {
    auto bootstrap = must_join(rank, 3, root->id());
    ASSERT_NE(bootstrap, nullptr);
    ASSERT_TRUE(bootstrap->barrier());
    if (rank == 1) return;
    const Status ended = bootstrap->barrier();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().code, ErrorCode::PeerGone);
    EXPECT_THAT(ended.error().message,
                HasSubstr(fmt::format("rank {}: exchange 2 with rank", rank)));
  });
}

TEST(AllGather, ALatePeerIsNamedAtTheDeadline) {
  FakeClock clock;
  const auto root = make_root(2, kPlenty, clock);
  const auto body = [&](int rank) {
    const auto bootstrap = must_join(rank, 2, root->id(), clock);
    ASSERT_NE(bootstrap, nullptr);
    if (rank == 0) {
      const Status late = bootstrap->barrier(deadline_in(seconds(50), clock));
      ASSERT_FALSE(late);
      EXPECT_EQ(late.error().code, ErrorCode::Timeout);
      EXPECT_EQ(late.error().message, "rank 0: exchange 1 with rank 1: nothing came in time");
    } else {
      clock.sleep(seconds(51));
    }
  };
  run_ranks(first_ranks(2), body, clock);
}

TEST(AllGather, RanksThatGiveDifferentSizesAreReported) {
  const auto root = make_root(2);
  run_ranks(first_ranks(2), [&](int rank) {
    const auto bootstrap = must_join(rank, 2, root->id());
    ASSERT_NE(bootstrap, nullptr);
    const auto all =
        bootstrap->all_gather(std::vector<std::byte>(rank == 0 ? 4 : 8), deadline_in(kPlenty));
    ASSERT_FALSE(all);
    // The rank that finds the difference first closes, so the other may see only that.
    if (all.error().code == ErrorCode::InvalidArgument) {
      EXPECT_THAT(all.error().message, HasSubstr("it gathers"));
    } else {
      EXPECT_EQ(all.error().code, ErrorCode::PeerGone);
    }
  });
}

TEST(AllGather, AbortFromAnotherThreadEndsIt) {
  const auto root = make_root(2);
  std::latch ended(1);
  run_ranks(first_ranks(2), [&](int rank) {
    const auto bootstrap = must_join(rank, 2, root->id());
    ASSERT_NE(bootstrap, nullptr);
    if (rank == 1) {  // never calls
      ended.wait();
      return;
    }
    {
      const std::jthread aborting([&] { bootstrap->abort(); });
      const Status status = bootstrap->barrier();
      ended.count_down();
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code, ErrorCode::Aborted);
    }
    EXPECT_EQ(bootstrap->barrier().error().code, ErrorCode::Aborted);
  });
}

}  // namespace
}  // namespace ringside
