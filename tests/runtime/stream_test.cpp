// Tests streams, groups, calls in flight on several communicators, and ends at any moment; ranks are threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <span>
#include <thread>

#include "engine/runtime/call_group.h"
#include "engine/runtime/communicator.h"
#include "engine/runtime/host/host_stream.h"
#include "engine/runtime/pending_communicator.h"
#include "engine/runtime/split.h"
#include "engine/transport/socket/socket.h"
#include "tests/runtime/ranks.h"

namespace ringside {
namespace {

using std::chrono::milliseconds;

CommunicatorOptions options_with(Seconds op_timeout = Seconds{20}) {
  CommunicatorOptions options;
  options.host.table_path = "";
  options.op_timeout = op_timeout;
  options.connect_timeout = Seconds{20};
  return options;
}

std::unique_ptr<runtime::Communicator> must_make(int rank, int nranks, const BootstrapRoot& root,
                                                 const CommunicatorOptions& options) {
  auto made = runtime::Communicator::make(must_join(rank, nranks, root.id()), options);
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

CollectiveCall sum_of(const int& in, int& out) {
  CollectiveCall call;
  call.type = DataType::Int32;
  call.input = &in;
  call.output = &out;
  call.count = 1;
  return call;
}

CollectiveCall message(Collective collective, int peer, int& value) {
  CollectiveCall call;
  call.collective = collective;
  call.type = DataType::Int32;
  call.count = 1;
  if (collective == Collective::Send) {
    call.input = &value;
    call.sends = {{Rank{peer}, 0, 1}};
  } else {
    call.output = &value;
    call.recvs = {{Rank{peer}, 0, 1}};
  }
  return call;
}

TEST(HostStream, WorkComesInItsOrderAndSynchronizeWaitsForIt) {
  std::vector<int> order;
  HostStream stream;
  EXPECT_TRUE(stream.is_idle());
  for (int i = 0; i < 100; ++i) stream.push([&order, i] { order.push_back(i); });
  stream.synchronize();
  EXPECT_TRUE(stream.is_idle());
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST(HostStream, WorkIsDoneWhenItIsWaitedForByItsNumber) {
  HostStream stream;
  std::atomic<bool> is_open{false};
  std::thread::id ran_on;
  stream.push([&] {
    while (!is_open) std::this_thread::yield();
  });
  const std::uint64_t mine = stream.push([&] { ran_on = std::this_thread::get_id(); });
  bool has_later_run = false;
  stream.push([&] { has_later_run = true; });
  is_open = true;
  stream.finish(mine);
  EXPECT_NE(ran_on, std::thread::id());
  stream.synchronize();
  EXPECT_TRUE(has_later_run);
  // On whichever of the two threads: never on both, and never on neither.
  for (int i = 0; i < 100; ++i) {
    HostStream other;
    std::thread::id thread;
    const std::uint64_t number = other.push([&] { thread = std::this_thread::get_id(); });
    other.finish(number);
    EXPECT_NE(thread, std::thread::id());
  }
}

TEST(HostStream, TwoStreamsRunConcurrently) {
  HostStream first;
  HostStream second;
  std::atomic<bool> is_open{false};
  first.push([&] {
    while (!is_open) std::this_thread::yield();
  });
  second.push([&] { is_open = true; });
  first.synchronize();  // would wait for ever with one stream
  EXPECT_TRUE(is_open);
}

TEST(HostStream, TheDestructorWaitsForTheWork) {
  std::atomic<int> done{0};
  {
    HostStream stream;
    stream.compute(Seconds{0.01});
    stream.push([&] { ++done; });
  }
  EXPECT_EQ(done, 1);
}

// Rank r gives r + round: over 3 ranks 3 + 3 * round.
TEST(Streams, CallsOfOneCommunicatorKeepTheirOrderOverTwoStreams) {
  const auto root = make_root(3);
  run_ranks(first_ranks(3), [&](int rank) {
    const auto communicator = must_make(rank, 3, *root, options_with());
    HostStream streams[2];
    constexpr int kRounds = 40;
    std::vector<int> in(kRounds);
    std::vector<int> out(kRounds);
    for (int round = 0; round < kRounds; ++round) {
      const auto at = static_cast<std::size_t>(round);
      in[at] = rank + round;
      // Ranks choose their streams differently: only the order of the calls matters.
      ASSERT_TRUE(communicator->enqueue(sum_of(in[at], out[at]), streams[(round + rank) % 2]));
    }
    for (HostStream& stream : streams) stream.synchronize();
    for (int round = 0; round < kRounds; ++round) {
      EXPECT_EQ(out[static_cast<std::size_t>(round)], 3 + 3 * round);
    }
    EXPECT_FALSE(communicator->async_error());
    EXPECT_TRUE(communicator->finish());
  });
}

TEST(Streams, TwoCommunicatorsEnteredInOppositeOrderHangOnOneStreamAndNotOnTwo) {
  for (const bool is_one_stream : {false, true}) {
    const auto root = make_root(2);
    run_ranks(first_ranks(2), [&](int rank) {
      const auto all = must_make(rank, 2, *root, options_with(Seconds{is_one_stream ? 0.3 : 20}));
      auto part = all->split(0);
      ASSERT_TRUE(part);
      HostStream streams[2];
      int in = 1;
      int out[2] = {};
      runtime::Communicator* const order[2] = {rank == 0 ? all.get() : part->get(),
                                               rank == 0 ? part->get() : all.get()};
      for (std::size_t i = 0; i < 2; ++i) {
        ASSERT_TRUE(order[i]->enqueue(sum_of(in, out[i]), streams[is_one_stream ? 0 : i]));
      }
      for (HostStream& stream : streams) stream.synchronize();
      const bool has_hung = all->async_error() || (*part)->async_error();
      EXPECT_EQ(has_hung, is_one_stream);
      EXPECT_EQ(out[0] == 2 && out[1] == 2, !is_one_stream);
    });
  }
}

// The stream waits in the whole communicator's call, which rank 1 never makes; the part's call is behind it.
TEST(Streams, AnAbortedCommunicatorIsDestroyedBeforeItsStreamRunsItsCalls) {
  const auto root = make_root(2);
  run_ranks(first_ranks(2), [&](int rank) {
    const auto all = must_make(rank, 2, *root, options_with(Seconds{60}));
    auto part = all->split(0);
    ASSERT_TRUE(part);
    if (rank == 1) {
      while (!all->async_error()) std::this_thread::sleep_for(milliseconds(1));
      return;
    }
    HostStream stream;
    int in = 1;
    int out[2] = {};
    ASSERT_TRUE(all->enqueue(sum_of(in, out[0]), stream));
    ASSERT_TRUE((*part)->enqueue(sum_of(in, out[1]), stream));
    (*part)->abort({ErrorCode::Aborted, "enough"});
    part->reset();
    EXPECT_FALSE(stream.is_idle());
    all->abort({ErrorCode::Aborted, "enough"});
    stream.synchronize();
  });
}

// Rank 1 agrees to the part and then sends nothing in it.
TEST(Streams, AnAbortOfTheWholeEndsTheMakingOfAPart) {
  const auto root = make_root(2);
  run_ranks(first_ranks(2), [&](int rank) {
    CommunicatorOptions options = options_with();
    options.connect_timeout = Seconds{60};
    const std::shared_ptr<Bootstrap> bootstrap = must_join(rank, 2, root->id());
    auto all = runtime::Communicator::make(bootstrap, options);
    ASSERT_TRUE(all);
    if (rank == 1) {
      const auto part = split(*bootstrap, 0, 0, deadline_in(kPlenty), kPlenty);
      ASSERT_TRUE(part);
      while (!(*all)->async_error()) std::this_thread::sleep_for(milliseconds(1));
      return;
    }
    std::jthread splits([&] {
      const auto part = (*all)->split(0);
      ASSERT_FALSE(part);
      EXPECT_EQ(part.error().code, ErrorCode::Aborted) << part.error().message;
    });
    std::this_thread::sleep_for(milliseconds(50));
    (*all)->abort({ErrorCode::Aborted, "enough"});
  });
}

// Each rank sends before it receives, and twice to each: in a group none of these waits for the others.
TEST(CallGroup, SendsAndReceivesOfAGroupDoNotWaitForEachOther) {
  const auto root = make_root(3);
  run_ranks(first_ranks(3), [&](int rank) {
    const auto communicator = must_make(rank, 3, *root, options_with());
    HostStream stream;
    int sent[3][2];
    int got[3][2] = {};
    CallGroup group;
    for (int peer = 0; peer < 3; ++peer) {
      for (int i = 0; i < 2; ++i) {
        sent[peer][i] = 100 * rank + 10 * peer + i;
        group.add(*communicator, &stream, message(Collective::Send, peer, sent[peer][i]));
      }
    }
    for (int peer = 2; peer >= 0; --peer) {
      for (int i = 0; i < 2; ++i) {
        group.add(*communicator, &stream, message(Collective::Recv, peer, got[peer][i]));
      }
    }
    ASSERT_TRUE(group.launch());
    EXPECT_TRUE(group.is_empty());
    stream.synchronize();
    ASSERT_FALSE(communicator->async_error()) << communicator->async_error()->message;
    for (int peer = 0; peer < 3; ++peer) {
      for (int i = 0; i < 2; ++i) EXPECT_EQ(got[peer][i], 100 * peer + 10 * rank + i);
    }
    EXPECT_TRUE(communicator->finish());
  });
}

TEST(CallGroup, MessagesOfOneKindKeepItAndMixedOnesTravelAsBytes) {
  int a = 0;
  int b = 0;
  const auto alike =
      fuse_messages({message(Collective::Send, 1, a), message(Collective::Recv, 2, b)});
  ASSERT_EQ(alike.size(), 1U);
  EXPECT_EQ(alike[0].type, DataType::Int32);
  EXPECT_EQ(alike[0].sends[0].count, 1);
  CollectiveCall wide = message(Collective::Recv, 2, b);
  wide.type = DataType::Float64;
  const auto mixed = fuse_messages({message(Collective::Send, 1, a), wide});
  EXPECT_EQ(mixed[0].type, DataType::Uint8);
  EXPECT_EQ(mixed[0].sends[0].count, 4);
  EXPECT_EQ(mixed[0].recvs[0].count, 8);
}

TEST(Streams, AnAbortFromAnotherThreadEndsRunningAndQueuedCalls) {
  const auto root = make_root(2);
  run_ranks(first_ranks(2), [&](int rank) {
    const auto communicator = must_make(rank, 2, *root, options_with(Seconds{60}));
    HostStream stream;
    int in = 1;
    int out[3] = {};
    if (rank == 0) {
      for (int& one : out) ASSERT_TRUE(communicator->enqueue(sum_of(in, one), stream));
      std::this_thread::sleep_for(milliseconds(50));  // it waits for rank 1 by now, or soon
      std::jthread([&] { communicator->abort({ErrorCode::Aborted, "enough"}); }).join();
      stream.synchronize();
      ASSERT_TRUE(communicator->async_error());
      EXPECT_NE(communicator->async_error()->message.find("enough"), std::string::npos);
      EXPECT_FALSE(communicator->enqueue(sum_of(in, out[0]), stream));
      EXPECT_EQ(out[0], 0);
    } else {
      while (!communicator->async_error()) std::this_thread::sleep_for(milliseconds(1));
    }
  });
}

TEST(Streams, ARejectedCallIsTheAsyncErrorAndStopsLaterCalls) {
  const auto root = make_root(1);
  const auto communicator = must_make(0, 1, *root, options_with());
  HostStream stream;
  int in = 1;
  int out = 0;
  CollectiveCall bad = sum_of(in, out);
  bad.count = -1;
  ASSERT_TRUE(communicator->enqueue(bad, stream));
  stream.synchronize();
  const auto error = communicator->async_error();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ErrorCode::InvalidArgument);
  EXPECT_FALSE(communicator->enqueue(sum_of(in, out), stream));
}

TEST(PendingCommunicator, IsMadeWhileTheCallerContinues) {
  auto root = make_root(2);
  const UniqueId id = root->id();
  std::vector<std::unique_ptr<PendingCommunicator>> pending;
  for (int rank = 0; rank < 2; ++rank) {
    auto started =
        PendingCommunicator::start({.rank = Rank{rank}, .nranks = 2, .id = id}, options_with(),
                                   rank == 0 ? std::move(root) : nullptr);
    ASSERT_TRUE(started);
    pending.push_back(*std::move(started));
  }
  std::vector<std::unique_ptr<runtime::Communicator>> made;
  for (auto& one : pending) {
    auto taken = one->take();
    ASSERT_TRUE(taken) << taken.error().message;
    made.push_back(*std::move(taken));
  }
  HostStream streams[2];
  int in = 21;
  int out[2] = {};
  for (std::size_t i = 0; i < 2; ++i) ASSERT_TRUE(made[i]->enqueue(sum_of(in, out[i]), streams[i]));
  for (HostStream& stream : streams) stream.synchronize();
  EXPECT_EQ(out[0], 42);
  EXPECT_EQ(out[1], 42);
}

// The other rank never comes: without the cancellation, the wait would last a minute.
TEST(PendingCommunicator, CanBeCancelledWhileItWaitsForTheOthers) {
  auto root = make_root(2);
  const UniqueId id = root->id();
  auto started =
      PendingCommunicator::start({.rank = Rank{0}, .nranks = 2, .id = id, .join_timeout = kPlenty},
                                 options_with(), std::move(root));
  ASSERT_TRUE(started);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE((*started)->is_ready());
  const auto began = std::chrono::steady_clock::now();
  (*started)->abort();
  EXPECT_FALSE((*started)->take());
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

// The other rank has come, and then sends nothing more.
TEST(PendingCommunicator, CanBeCancelledWhileItConnects) {
  auto root = make_root(2);
  const UniqueId id = root->id();
  std::unique_ptr<Bootstrap> silent;
  std::jthread other([&] { silent = must_join(1, 2, id); });
  auto started = PendingCommunicator::start({.rank = Rank{0}, .nranks = 2, .id = id},
                                            options_with(), std::move(root));
  ASSERT_TRUE(started);
  other.join();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE((*started)->is_ready());
  const auto began = std::chrono::steady_clock::now();
  (*started)->abort();
  EXPECT_FALSE((*started)->take());
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

}  // namespace
}  // namespace ringside
