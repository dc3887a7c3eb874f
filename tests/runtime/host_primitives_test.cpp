#include "engine/runtime/host/host_primitives.h"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <random>
#include <thread>

#include "engine/collectives/record.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

using std::chrono::seconds;

using Way = TransportAndProtocol;

/// The connections of a ring whose ranks are threads of this process.
struct LocalRing {
  TwoRanks ranks;
  std::vector<std::unique_ptr<SendEnd>> send;  // of each rank, to the next
  std::vector<std::unique_ptr<RecvEnd>> recv;  // of each rank, from the one before

  LocalRing(int n, Way way, Bytes slot) : ranks(*std::get<0>(way)), send(size(n)), recv(size(n)) {
    for (int rank = 0; rank < n; ++rank) {
      Ends ends = ranks.connect({std::get<Protocol>(way), slot});
      send[size(rank)] = std::move(ends.send);
      recv[size((rank + 1) % n)] = std::move(ends.recv);
    }
  }

  static std::size_t size(int n) { return static_cast<std::size_t>(n); }
};

struct Case {
  Collective collective = Collective::AllReduce;
  int n = 2;
  std::int64_t count = 1;  // as CollectiveCall::count
  std::int64_t chunk = 16;
  bool in_place = false;
  int root = 0;
  RedOp op = RedOp::Sum;
  bool is_streaming = false;
};

std::vector<Rank> natural_order(int n) {
  std::vector<Rank> order;
  for (int rank = 0; rank < n; ++rank) order.push_back(Rank{rank});
  return order;
}

/// Returns the value that `rank` contributes at place i of the logical buffer.
std::int32_t share(int rank, std::int64_t i) {
  return static_cast<std::int32_t>((rank + 1) * 1000003 + i * 17);
}

/// Returns the factor with which a rank multiplies its values.
std::int32_t factor(RedOp op, int rank) { return op == RedOp::PreMulSum ? 1 + rank % 2 : 1; }

/// Runs one rank.
///
/// returns  the number of wrong elements
std::int64_t run_rank(const Case& test, int rank, LocalRing& ring, Failure& failure) {
  const bool blocks_in = test.collective == Collective::ReduceScatter;
  const bool blocks_out = test.collective == Collective::AllGather;
  const std::size_t n = LocalRing::size(test.n);
  const auto count = static_cast<std::size_t>(test.count);
  std::vector<std::int32_t> input(count * (blocks_in ? n : 1));
  std::vector<std::int32_t> output(count * (blocks_out ? n : 1), -1);
  std::int32_t* in = input.data();
  std::int32_t* out = output.data();
  if (test.in_place) {
    in = blocks_out ? out + static_cast<std::size_t>(rank) * count : out;
    if (blocks_in) {
      in = input.data();
      out = in + static_cast<std::size_t>(rank) * count;
    }
  }
  const std::int64_t first = blocks_out ? rank * test.count : 0;
  for (std::size_t i = 0; i < input.size(); ++i) {
    in[i] = share(rank, first + static_cast<std::int64_t>(i));
  }

  const std::vector<Rank> order = natural_order(test.n);
  const ChannelTask task{{.collective = test.collective,
                          .algorithm = Algorithm::Ring,
                          .ring = {rank, test.n},
                          .root = test.root},
                         ChunkMap({.collective = test.collective,
                                   .order = std::make_shared<const std::vector<Rank>>(order),
                                   .count = test.count,
                                   .part = {0, test.count},
                                   .chunk = test.chunk,
                                   .grain = 4})};
  WaitPolicy wait = wait_policy(test.n, 2);
  wait.deadline = seconds(20);
  TraceEvent event;
  event.rank = rank;
  std::optional<ElementBits> scalar;
  if (test.op == RedOp::PreMulSum) scalar = to_element(DataType::Int32, factor(test.op, rank));
  const ReduceOp reduce = *make_reduce_op(DataType::Int32, test.op, test.n, scalar);
  const bool reduces = !blocks_out && test.collective != Collective::Broadcast;
  SendEnd* const next = ring.send[LocalRing::size(rank)].get();
  RecvEnd* const previous = ring.recv[LocalRing::size(rank)].get();
  ConnectionCount received;
  ConnectionCount sent;
  HostPorts ports{.recv = {.ends = {previous},
                           .peers = {Rank{(rank + test.n - 1) % test.n}},
                           .counts = {&received},
                           .first = {0, 1}},
                  .send = {.ends = {next},
                           .peers = {Rank{(rank + 1) % test.n}},
                           .counts = {&sent},
                           .first = {0, 1}},
                  .moving = {next}};
  HostPrimitives primitives({.map = &task.map,
                             .ports = &ports,
                             .slot = next != nullptr ? next->slot_size() : 64_B,
                             .input = reinterpret_cast<const std::byte*>(in),
                             .output = reinterpret_cast<std::byte*>(out),
                             .element = 4_B,
                             .reduce = reduces ? &reduce : nullptr,
                             .is_streaming = test.is_streaming,
                             .wait = &wait,
                             .failure = &failure,
                             .lane = nullptr,
                             .recorder = nullptr,
                             .event = event});
  run_channel(primitives, task);
  primitives.drain();

  std::int64_t wrong = 0;
  const std::int64_t outputs = test.count * (blocks_out ? test.n : 1);
  for (std::int64_t i = 0; i < outputs; ++i) {
    std::int32_t expected = 0;
    if (blocks_out) {
      expected = share(static_cast<int>(i / test.count), i);
    } else if (test.collective == Collective::Broadcast) {
      expected = share(test.root, i);
    } else {
      const std::int64_t place = blocks_in ? rank * test.count + i : i;
      for (int from = 0; from < test.n; ++from) {
        expected += share(from, place) * factor(test.op, from);
      }
      if (test.op == RedOp::Avg) expected /= test.n;
    }
    wrong += out[i] != expected ? 1 : 0;
  }
  return wrong;
}

void run_all(const Case& test, Way way) {
  SCOPED_TRACE(testing::Message() << to_string(test.collective) << " n " << test.n << " count "
                                  << test.count << " chunk " << test.chunk << " in place "
                                  << test.in_place << " " << to_string(test.op));
  LocalRing ring(test.n, way, 64_B);  // 16 elements a slot
  Failure failure;
  std::vector<std::int64_t> wrong(LocalRing::size(test.n), -1);
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < test.n; ++rank) {
      ranks.emplace_back(
          [&, rank] { wrong[LocalRing::size(rank)] = run_rank(test, rank, ring, failure); });
    }
  }
  EXPECT_FALSE(failure.happened()) << failure.get()->message;
  EXPECT_EQ(wrong, std::vector<std::int64_t>(LocalRing::size(test.n), 0));
}

constexpr std::array kCollectives{Collective::AllReduce, Collective::AllGather,
                                  Collective::ReduceScatter, Collective::Broadcast};

class HostPrimitivesOver : public testing::TestWithParam<Way> {};

// Counts around the edges of slots (16 elements), chunks and loops; both placements.
TEST_P(HostPrimitivesOver, EveryCollectiveGivesTheRightDataForAnyCount) {
  std::mt19937 random(20261120);
  for (const Collective collective : kCollectives) {
    for (const std::int64_t count : {0, 1, 3, 15, 16, 17, 64, 65, 1000}) {
      Case test{.collective = collective, .count = count};
      test.n = std::uniform_int_distribution(2, 6)(random);
      test.chunk =
          std::array{4, 16, 20, 64}.at(std::uniform_int_distribution<std::size_t>(0, 3)(random));
      test.in_place = std::bernoulli_distribution()(random);
      test.root = std::uniform_int_distribution(0, test.n - 1)(random);
      test.is_streaming = std::bernoulli_distribution()(random);
      run_all(test, GetParam());
    }
  }
}

// A factor applies to each rank's own input, once; the division to the whole sum, once.
TEST_P(HostPrimitivesOver, AppliesPreAndPostOperationsOnce) {
  for (const Collective collective : {Collective::AllReduce, Collective::ReduceScatter}) {
    for (const RedOp op : {RedOp::Avg, RedOp::PreMulSum}) {
      for (const int n : {1, 2, 3, 5}) {
        for (const bool in_place : {false, true}) {
          run_all({.collective = collective, .n = n, .count = 250, .in_place = in_place, .op = op},
                  GetParam());
        }
      }
    }
  }
}

TEST_P(HostPrimitivesOver, ARankThatExpectsAnotherCountIsReported) {
  LocalRing ring(2, GetParam(), 64_B);
  Failure failure;
  {
    std::jthread other([&] { run_rank({.count = 8}, 1, ring, failure); });
    run_rank({.count = 16}, 0, ring, failure);
  }
  ASSERT_TRUE(failure.happened());
  EXPECT_EQ(failure.get()->code, ErrorCode::InvalidArgument);
  EXPECT_NE(failure.get()->message.find("bytes where this rank expects"), std::string::npos);
}

TEST_P(HostPrimitivesOver, ANeighbourThatEndsIsNamed) {
  LocalRing ring(3, GetParam(), 64_B);
  Failure failure;
  ring.send[2].reset();  // rank 2's process is gone: rank 0 waits for its chunks
  ring.recv[2].reset();
  run_rank({.n = 3, .count = 100}, 0, ring, failure);
  ASSERT_TRUE(failure.happened());
  EXPECT_EQ(failure.get()->code, ErrorCode::PeerGone);
  EXPECT_NE(failure.get()->message.find("rank 0 lost rank 2 on channel 0"), std::string::npos)
      << failure.get()->message;
}

INSTANTIATE_TEST_SUITE_P(Ways, HostPrimitivesOver,
                         testing::Combine(testing::ValuesIn(joining_transports()),
                                          testing::Values(Protocol::Simple, Protocol::LL,
                                                          Protocol::LL128)),
                         [](const auto& test) { return name_of(test); });

}  // namespace
}  // namespace ringside
