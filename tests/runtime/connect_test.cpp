#include "engine/runtime/host/connect.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "tests/runtime/ranks.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

constexpr std::uint64_t kSlot = 4096;

Deadline soon() { return deadline_in(std::chrono::seconds(20)); }

ConnectionId id_of(int from, int to, std::uint32_t channel, Protocol protocol) {
  return {.from = static_cast<std::uint32_t>(from),
          .to = static_cast<std::uint32_t>(to),
          .channel = channel,
          .protocol = protocol,
          .slot_size = kSlot};
}

std::uint32_t receive(RecvEnd& from, SendEnd& moving) {
  std::uint32_t got = 0;
  const Deadline deadline = soon();
  while (!has_passed(deadline)) {
    EXPECT_TRUE(moving.progress());
    const Result<bool> taken = from.take(std::as_writable_bytes(std::span(&got, 1)));
    EXPECT_TRUE(taken);
    if (!taken || *taken) break;
  }
  return got;
}

/// Sends `word` from rank to rank. returns  what the previous rank sent, 0 if nothing
std::uint32_t exchange(const Connections& connections, const ConnectionId& to,
                       const ConnectionId& from, std::uint32_t word) {
  SendEnd& send = connections.send_end(to);
  const Result<bool> sent = send.send(std::as_bytes(std::span(&word, 1)));
  EXPECT_TRUE(sent && *sent);
  return receive(connections.recv_end(from), send);
}

class Connect : public testing::TestWithParam<TransportAndProtocol> {};

// There are 3 ranks: first in a ring, in which rank r sends 1 + 10 r; then in the opposite direction, with 100 more;
// then the first connections again, which already exist.
TEST_P(Connect, ComesWhenAskedForAndStays) {
  const auto [transport, protocol] = GetParam();
  const auto root = make_root(3);
  std::array<std::array<std::uint32_t, 3>, 3> heard{};
  run_ranks(first_ranks(3), [&](int rank) {
    const auto bootstrap = must_join(rank, 3, root->id());
    auto made = Connections::make(*bootstrap, transport, soon());
    ASSERT_TRUE(made) << made.error().message;
    Connections& connections = **made;
    const int next = (rank + 1) % 3;
    const int previous = (rank + 2) % 3;
    const std::uint32_t word = 1 + 10 * static_cast<std::uint32_t>(rank);
    auto& mine = heard[static_cast<std::size_t>(rank)];
    for (const std::size_t round : {0U, 1U, 2U}) {
      const ConnectionId to = id_of(rank, round == 1 ? previous : next, 0, protocol);
      const ConnectionId from = id_of(round == 1 ? next : previous, rank, 0, protocol);
      const std::array wanted{to, from};
      const Status connected = connections.connect(wanted, soon());
      ASSERT_TRUE(connected) << connected.error().message;
      mine[round] = exchange(connections, to, from, word + (round == 1 ? 100 : 0));
    }
    EXPECT_EQ(connections.layout().transport, transport->name);
    EXPECT_EQ(connections.layout().slowest, transport);
    EXPECT_EQ(&connections.transport_of(id_of(rank, next, 0, protocol)), transport);
    EXPECT_EQ(connections.layout().local_ranks, 3);
    ASSERT_TRUE(bootstrap->all_gather({}, soon()));
  });
  const std::array<std::array<std::uint32_t, 3>, 3> expected{
      {{21, 111, 21}, {1, 121, 1}, {11, 101, 11}}};
  EXPECT_EQ(heard, expected);
}

INSTANTIATE_TEST_SUITE_P(Table, Connect,
                         testing::Combine(testing::ValuesIn(joining_transports()),
                                          testing::Values(Protocol::Simple, Protocol::LL,
                                                          Protocol::LL128)),
                         [](const auto& test) { return name_of(test); });

class ConnectOver : public testing::TestWithParam<const Transport*> {};

// Rank 1 never makes the connection: rank 0 waits for it until the deadline, unless some thread aborts.
TEST_P(ConnectOver, AbortEndsTheWaitForAnotherRank) {
  const auto root = make_root(2);
  run_ranks(first_ranks(2), [&](int rank) {
    const auto bootstrap = must_join(rank, 2, root->id());
    auto made = Connections::make(*bootstrap, GetParam(), soon());
    ASSERT_TRUE(made) << made.error().message;
    if (rank == 0) {
      const std::array ids{id_of(1, 0, 0, Protocol::Simple)};
      const std::jthread aborting([&] { (*made)->abort(); });
      const Status connected = (*made)->connect(ids, soon());
      ASSERT_FALSE(connected);
      EXPECT_EQ(connected.error().code, ErrorCode::Aborted);
      EXPECT_NE(connected.error().message.find("rank 0 cannot reach rank 1 on channel 0"),
                std::string::npos);
    }
    ASSERT_TRUE(bootstrap->all_gather({}, soon()));
  });
}

INSTANTIATE_TEST_SUITE_P(Table, ConnectOver, testing::ValuesIn(joining_transports()),
                         [](const auto& test) { return name_of(test); });

// Rank 1 asks for channel 0 only after rank 0 has dialled channel 1 as well.
TEST(ConnectEarly, KeepsConnectionsThatArriveEarly) {
  const auto root = make_root(2);
  run_ranks(first_ranks(2), [&](int rank) {
    const auto bootstrap = must_join(rank, 2, root->id());
    auto made = Connections::make(*bootstrap, *parse_transport("tcp"), soon());
    ASSERT_TRUE(made) << made.error().message;
    const std::array ids{id_of(0, 1, 0, Protocol::Simple), id_of(0, 1, 1, Protocol::Simple)};
    if (rank == 0) {
      ASSERT_TRUE((*made)->connect(std::span(ids).first(1), soon()));
      ASSERT_TRUE((*made)->connect(ids, soon()));
    }
    ASSERT_TRUE(bootstrap->all_gather({}, soon()));
    if (rank == 1) {
      ASSERT_TRUE((*made)->connect(std::span(ids).first(1), soon()));
      ASSERT_TRUE((*made)->connect(ids, soon()));
    }
    ASSERT_TRUE(bootstrap->all_gather({}, soon()));
  });
}

/// Returns the sockets of this process by inode: several descriptors of one socket count once.
std::size_t sockets() {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (!error && target.starts_with("socket:")) found.insert(target);
  }
  return found.size();
}

/// Returns sockets() once the number has not changed for a while: another thread closes the connections of the start.
std::size_t settled_sockets() {
  constexpr int kCalm = 5;
  std::size_t count = sockets();
  for (int calm = 0; calm < kCalm;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::size_t now = sockets();
    calm = now == count ? calm + 1 : 0;
    count = now;
  }
  return count;
}

// Both ranks are threads of this process: here one socket has two ends, and two sockets have four.
TEST(ConnectBothWays, TakesOneSocketAndCarriesBothDirections) {
  const auto root = make_root(2);
  std::array<std::uint32_t, 2> heard{};
  std::array<std::size_t, 2> before{};
  std::array<std::size_t, 2> after{};
  run_ranks(first_ranks(2), [&](int rank) {
    const auto bootstrap = must_join(rank, 2, root->id());
    auto made = Connections::make(*bootstrap, *parse_transport("tcp"), soon());
    ASSERT_TRUE(made) << made.error().message;
    const ConnectionId to = id_of(rank, 1 - rank, 0, Protocol::Simple);
    const ConnectionId from = id_of(1 - rank, rank, 0, Protocol::Simple);
    ASSERT_TRUE(bootstrap->all_gather({}, soon()));
    before[static_cast<std::size_t>(rank)] = settled_sockets();
    ASSERT_TRUE(bootstrap->all_gather({}, soon()));
    ASSERT_TRUE((*made)->connect(std::array{to, from}, soon()));
    ASSERT_TRUE(bootstrap->all_gather({}, soon()));
    after[static_cast<std::size_t>(rank)] = settled_sockets();
    ASSERT_TRUE(bootstrap->all_gather({}, soon()));
    heard[static_cast<std::size_t>(rank)] =
        exchange(**made, to, from, 7 + static_cast<std::uint32_t>(rank));
    ASSERT_TRUE(bootstrap->all_gather({}, soon()));
  });
  EXPECT_EQ(heard, (std::array<std::uint32_t, 2>{8, 7}));
  EXPECT_EQ(after[0] - before[0], 2U);
}

// Rank 0 begins channel 1 before channel 0 is complete; rank 1 begins both at once. Each channel has one socket for both
// directions, which both ranks must know.
TEST(ConnectBothWays, KeepsIncompleteConnectionsWhenOthersBegin) {
  const auto root = make_root(2);
  std::array<std::size_t, 2> made_ends{};
  run_ranks(first_ranks(2), [&](int rank) {
    const auto bootstrap = must_join(rank, 2, root->id());
    auto made = Connections::make(*bootstrap, *parse_transport("tcp"), soon());
    ASSERT_TRUE(made) << made.error().message;
    const auto to = [&](std::uint32_t channel) {
      return id_of(rank, 1 - rank, channel, Protocol::Simple);
    };
    const auto from = [&](std::uint32_t channel) {
      return id_of(1 - rank, rank, channel, Protocol::Simple);
    };
    if (rank == 0) {
      ASSERT_TRUE((*made)->begin(std::array{to(0)}, soon()));
      ASSERT_TRUE((*made)->begin(std::array{to(1)}, soon()));
    } else {
      ASSERT_TRUE((*made)->begin(std::array{from(0), from(1)}, soon()));
    }
    std::size_t& ends = made_ends[static_cast<std::size_t>(rank)];
    const Deadline deadline = deadline_in(std::chrono::seconds(5));
    while (ends < 4 && !has_passed(deadline)) {
      ASSERT_TRUE((*made)->advance());
      ends = 0;
      for (const std::uint32_t channel : {0U, 1U}) {
        ends += (*made)->find_send_end(to(channel)) != nullptr ? 1U : 0U;
        ends += (*made)->find_recv_end(from(channel)) != nullptr ? 1U : 0U;
      }
    }
    ASSERT_TRUE(bootstrap->all_gather({}, soon()));
  });
  EXPECT_EQ(made_ends, (std::array<std::size_t, 2>{4, 4}));
}

TEST(ConnectToOneself, ReceivesTheSentData) {
  const auto root = make_root(1);
  const auto bootstrap = must_join(0, 1, root->id());
  auto made = Connections::make(*bootstrap, nullptr, soon());
  ASSERT_TRUE(made) << made.error().message;
  const std::array ids{id_of(0, 0, 0, Protocol::LL)};
  ASSERT_TRUE((*made)->connect(ids, soon()));
  EXPECT_EQ(exchange(**made, ids[0], ids[0], 77), 77U);
  EXPECT_EQ((*made)->layout().transport, "none");
}

TEST(ConnectRefuses, ARankWithAnotherProtocolIsNamed) {
  const auto root = make_root(2);
  std::array<std::optional<Error>, 2> errors;
  run_ranks(first_ranks(2), [&](int rank) {
    const auto bootstrap = must_join(rank, 2, root->id());
    auto made = Connections::make(*bootstrap, *parse_transport("shm"), soon());
    ASSERT_TRUE(made) << made.error().message;
    const Protocol protocol = rank == 0 ? Protocol::LL : Protocol::LL128;
    const std::array ids{id_of(rank, 1 - rank, 0, protocol), id_of(1 - rank, rank, 0, protocol)};
    const Status connected = (*made)->connect(ids, soon());
    if (!connected) errors[static_cast<std::size_t>(rank)] = connected.error();
    static_cast<void>(bootstrap->all_gather({}, soon()));
  });
  ASSERT_TRUE(errors[0]);
  EXPECT_EQ(errors[0]->code, ErrorCode::InvalidArgument);
  EXPECT_NE(errors[0]->message.find("rank 1 wants channel"), std::string::npos);
  EXPECT_NE(errors[0]->message.find("with ll128 slots"), std::string::npos) << errors[0]->message;
}

}  // namespace
}  // namespace ringside
