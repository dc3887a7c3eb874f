#include "engine/runtime/connect.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <tuple>

#include "engine/runtime/failure.h"
#include "tests/runtime/ranks.h"

namespace ringside {
namespace {

constexpr Bytes kSlot = 4_KiB;

Result<ConnectedRings> connect(Bootstrap& bootstrap, TransportKind transport, Protocol protocol) {
  const Failure failure;
  return connect_rings(bootstrap, host_channels(bootstrap.nranks(), 2), transport, kSlot,
                       deadline_in(std::chrono::seconds(20)), failure, protocol);
}

/// Sends `word` to the next rank on the channel. returns  what the previous rank sent, 0 if nothing
std::uint32_t exchange(ChannelEnds& ends, std::uint32_t word) {
  const Result<bool> sent = ends.send->send(std::as_bytes(std::span(&word, 1)));
  EXPECT_TRUE(sent && *sent);
  std::uint32_t got = 0;
  const Deadline deadline = deadline_in(std::chrono::seconds(20));
  while (!has_passed(deadline)) {
    EXPECT_TRUE(ends.send->progress());
    const Result<bool> taken = ends.recv->take(std::as_writable_bytes(std::span(&got, 1)));
    EXPECT_TRUE(taken);
    if (!taken || *taken) break;
  }
  return got;
}

class ConnectRings : public testing::TestWithParam<std::tuple<TransportKind, Protocol>> {};

// 3 ranks, 2 channels: rank r sends 1 + 10 r + channel to rank r + 1.
TEST_P(ConnectRings, EachRankHearsTheOneBeforeInTheProtocolAskedFor) {
  const auto [transport, protocol] = GetParam();
  const auto root = make_root(3);
  std::array<std::array<std::uint32_t, 2>, 3> heard{};
  run_ranks(first_ranks(3), [&](int rank) {
    const auto bootstrap = must_join(rank, 3, root->id());
    auto rings = connect(*bootstrap, transport, protocol);
    ASSERT_TRUE(rings) << rings.error().message;
    for (std::uint32_t channel = 0; channel < 2; ++channel) {
      heard[static_cast<std::size_t>(rank)][channel] =
          exchange(rings->channels[channel], 1 + 10 * static_cast<std::uint32_t>(rank) + channel);
    }
    ASSERT_TRUE(bootstrap->all_gather({}, deadline_in(std::chrono::seconds(20))));
  });
  const std::array<std::array<std::uint32_t, 2>, 3> expected{{{21, 22}, {1, 2}, {11, 12}}};
  EXPECT_EQ(heard, expected);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ConnectRings,
                         testing::Combine(testing::Values(TransportKind::Shm, TransportKind::Tcp),
                                          testing::Values(Protocol::Simple, Protocol::LL,
                                                          Protocol::LL128)),
                         [](const auto& test) {
                           return std::string(to_string(std::get<TransportKind>(test.param))) +
                                  "_" + to_string(std::get<Protocol>(test.param));
                         });

TEST(ConnectRingsRefuse, ARankWithAnotherProtocolIsNamed) {
  const auto root = make_root(2);
  std::array<std::optional<Error>, 2> errors;
  run_ranks(first_ranks(2), [&](int rank) {
    const auto bootstrap = must_join(rank, 2, root->id());
    const auto rings =
        connect(*bootstrap, TransportKind::Shm, rank == 0 ? Protocol::LL : Protocol::LL128);
    if (!rings) errors[static_cast<std::size_t>(rank)] = rings.error();
    static_cast<void>(bootstrap->all_gather({}, deadline_in(std::chrono::seconds(20))));
  });
  ASSERT_TRUE(errors[0]);
  EXPECT_EQ(errors[0]->code, ErrorCode::InvalidArgument);
  EXPECT_NE(errors[0]->message.find("rank 1 wants channel"), std::string::npos);
  EXPECT_NE(errors[0]->message.find("with ll128 slots"), std::string::npos) << errors[0]->message;
}

}  // namespace
}  // namespace ringside
