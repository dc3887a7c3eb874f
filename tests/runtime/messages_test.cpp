#include "engine/runtime/bootstrap/messages.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

TEST(Messages, AJoinSurvivesEncoding) {
  const JoinMessage sent{3, 8, *parse_socket_address("[fd00::1]:4000"), "host:17", random_secret()};
  const auto got = parse_join(to_bytes(sent));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->rank, 3);
  EXPECT_EQ(got->nranks, 8);
  EXPECT_EQ(got->listen, sent.listen);
  EXPECT_EQ(got->who, "host:17");
  EXPECT_EQ(got->ticket, sent.ticket);
}

TEST(Messages, AnAdmittedRankGetsASecret) {
  const RootMessage sent{.kind = RootMessage::Kind::Admitted, .secret = random_secret()};
  const auto got = parse_root(to_bytes(sent));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->kind, RootMessage::Kind::Admitted);
  EXPECT_EQ(got->secret, sent.secret);
}

TEST(Messages, AJoinFitsAHelloHoweverLongTheHostsName) {
  const auto bytes = to_bytes(JoinMessage{1, 2, {}, std::string(1000, 'x')});
  EXPECT_LE(bytes.size(), 256U);
  EXPECT_EQ(parse_join(bytes)->who, std::string(64, 'x'));
}

TEST(Messages, AnErrorKeepsItsCodeTextAndHelpAndStaysUnderTheLimit) {
  const Error error{ErrorCode::Timeout, std::string(100'000, 'm'), "do this"};
  const auto bytes = to_bytes(RootMessage{.kind = RootMessage::Kind::Failure, .error = error});
  EXPECT_LE(bytes.size(), kMessageLimit);
  const auto got = parse_root(bytes);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->error.code, ErrorCode::Timeout);
  EXPECT_EQ(got->error.message, std::string(3000, 'm'));
  EXPECT_EQ(got->error.help, "do this");
}

TEST(Messages, AnAbortCarriesItsOriginAndTheDeadRank) {
  const auto got = parse_watch(to_bytes(WatchMessage{
      WatchMessage::Kind::Abort, Rank{5}, kNoRank, {ErrorCode::Corrupt, "wrong data"}}));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->origin, Rank{5});
  EXPECT_EQ(got->dead, kNoRank);
  EXPECT_EQ(got->error.message, "wrong data");
}

TEST(Messages, ACallContainsItsNumberAndSignature) {
  const CallSignature call{.collective = Collective::Reduce, .root = 3, .count = 1 << 30};
  const auto bytes =
      to_bytes(WatchMessage{.kind = WatchMessage::Kind::Call, .number = 17, .call = call});
  const auto got = parse_watch(bytes);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->number, 17U);
  EXPECT_EQ(got->call, call);
  EXPECT_EQ(to_bytes(*got), bytes);
}

TEST(Messages, PeerInfoSurvivesEncoding) {
  PeerInfo info{.where = {.host = "host/boot/net:[1]",
                          .doors = {"", "@ringside-1", "10.0.0.1:4000"},
                          .open = {{"shm", ""}, {"rdma", std::string("gid\0, rail 1", 12)}}},
                .cache = 2 << 20};
  info.cores[0] = 3;
  info.cores[15] = std::uint64_t{1} << 63;
  const auto bytes = to_bytes(info);
  const auto got = parse_peer_info(bytes);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->where, info.where);
  EXPECT_EQ(got->cores, info.cores);
  EXPECT_EQ(got->cache, info.cache);
  EXPECT_EQ(to_bytes(*got), bytes);
}

// A message from which bytes are removed or to which bytes are added is not valid.
template <typename Parse>
void expect_exact(const std::vector<std::byte>& bytes, const Parse& parse) {
  ASSERT_TRUE(parse(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse(std::span(bytes).first(size))) << size << " of " << bytes.size();
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back(std::byte{});
  EXPECT_FALSE(parse(longer));
}

TEST(Messages, OneByteMoreOrLessIsCorrupt) {
  expect_exact(to_bytes(JoinMessage{1, 2, loopback_address(9), "host:1"}), parse_join);
  expect_exact(to_bytes(RootMessage{.kind = RootMessage::Kind::Waiting}), parse_root);
  expect_exact(to_bytes(RootMessage{.kind = RootMessage::Kind::Successor}), parse_root);
  expect_exact(to_bytes(RootMessage{.kind = RootMessage::Kind::Admitted}), parse_root);
  expect_exact(to_bytes(RootMessage{.kind = RootMessage::Kind::Failure,
                                    .error = {ErrorCode::Timeout, "a", "b"}}),
               parse_root);
  expect_exact(
      to_bytes(PeerInfo{.where = {.host = "a", .doors = {"", "b", "c"}, .open = {{"d", "e"}}}}),
      parse_peer_info);
  expect_exact(to_bytes(ConnectionHello{1, 2, 3, 4, Protocol::LL128, 5, 6}),
               parse_connection_hello);
  expect_exact(to_bytes(RingHello{RingHello::Purpose::Watch, Rank{4}}), parse_ring_hello);
  expect_exact(to_bytes(WatchMessage{.kind = WatchMessage::Kind::Goodbye}), parse_watch);
  expect_exact(to_bytes(WatchMessage{.kind = WatchMessage::Kind::Present, .origin = Rank{3}}),
               parse_watch);
}

TEST(Messages, UnknownKindsCodesAndFamiliesAreCorrupt) {
  EXPECT_FALSE(parse_root(std::vector{std::byte{0}}));
  EXPECT_FALSE(parse_root(std::vector{std::byte{9}}));
  EXPECT_FALSE(parse_watch(std::vector{std::byte{3}}));
  auto failure = to_bytes(RootMessage{.kind = RootMessage::Kind::Failure});
  failure[1] = std::byte{200};  // the ErrorCode
  EXPECT_FALSE(parse_root(failure));
  auto successor = to_bytes(RootMessage{.kind = RootMessage::Kind::Successor});
  successor[1] = std::byte{2};  // the address family
  EXPECT_FALSE(parse_root(successor));
}

}  // namespace
}  // namespace ringside
