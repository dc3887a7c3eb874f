#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "engine/transport/open_transports.h"
#include "engine/transport/rdma/rdma.h"
#include "engine/transport/transport.h"

namespace ringside {
namespace {

/// adapters  the adapters that the host has, e.g. "RoCE"; empty: none
Whereabouts rank_on(std::uint32_t rank, const std::string& host, const std::string& adapters = "") {
  Whereabouts where{.rank = rank, .host = host};
  for (const Transport& transport : transports()) {
    const bool needs_adapter = transport.listen == open_rdma;
    if (needs_adapter && adapters.empty()) continue;
    where.open.push_back({std::string(transport.name), needs_adapter ? adapters : ""});
  }
  return where;
}

std::string_view between(const Whereabouts& from, const Whereabouts& to) {
  const Transport* chosen = choose_transport(transports(), from, to);
  return chosen == nullptr ? "none" : chosen->name;
}

TEST(Transports, AreTheFastestThatJoinTheTwoRanks) {
  EXPECT_EQ(between(rank_on(0, "a"), rank_on(0, "a")), "loop");
  EXPECT_EQ(between(rank_on(0, "a"), rank_on(1, "a")), "shm");
  EXPECT_EQ(between(rank_on(0, "a"), rank_on(1, "b")), "tcp");
}

TEST(Transports, AdaptersConnectOnlyToTheirOwnKind) {
  EXPECT_EQ(between(rank_on(0, "a", "IB"), rank_on(1, "b", "IB")), "rdma");
  EXPECT_EQ(between(rank_on(0, "a", "IB"), rank_on(1, "b", "RoCE")), "tcp");
  EXPECT_EQ(between(rank_on(0, "a", "IB"), rank_on(1, "b")), "tcp");
  EXPECT_EQ(between(rank_on(0, "a", "RoCE"), rank_on(1, "a", "RoCE")), "shm");
}

TEST(Transports, SkipsTransportsThatOneRankHasNotOpened) {
  Whereabouts without = rank_on(1, "a");
  std::erase_if(without.open, [](const auto& open) { return open.transport == "shm"; });
  EXPECT_EQ(between(rank_on(0, "a"), without), "tcp");
  EXPECT_EQ(between(without, rank_on(0, "a")), "tcp");
  without.open.clear();
  EXPECT_EQ(between(rank_on(0, "a"), without), "none");
}

// An invented table: the first row is only for devices, the second recognizes cards in addresses.
TEST(Transports, AreAskedForTheMemoryAndReadTheAddresses) {
  const std::array table{
      Transport{.name = "peer",
                .takes_host_memory = false,
                .takes_device_memory = true,
                .reaches = [](const Whereabouts&, const Whereabouts&) { return true; }},
      Transport{.name = "cards", .reaches = [](const Whereabouts& from, const Whereabouts& to) {
                  return *from.address_on("cards") == *to.address_on("cards");
                }}};
  const Whereabouts one{.open = {{"peer", ""}, {"cards", "rail 0"}}};
  const Whereabouts same{.open = {{"peer", ""}, {"cards", "rail 0"}}};
  const Whereabouts other{.open = {{"peer", ""}, {"cards", "rail 1"}}};
  EXPECT_EQ(choose_transport(table, one, same), &table[1]);
  EXPECT_EQ(choose_transport(table, one, other), nullptr);
  EXPECT_EQ(choose_transport(table, one, other, MemoryKind::Device), &table[0]);
}

TEST(Transports, AreKnownByNamesThatDiffer) {
  std::set<std::string_view> names;
  for (const Transport& transport : transports()) EXPECT_TRUE(names.insert(transport.name).second);
  for (const std::string_view name : transport_names()) {
    const auto transport = parse_transport(name);
    ASSERT_TRUE(transport);
    EXPECT_EQ((*transport)->name, name);
    EXPECT_FALSE((*transport)->joins.empty());
  }
  EXPECT_EQ(usual_transport().name, transport_names().front());
}

/// Rows without a listening socket: one that works everywhere, one that needs a card.
constexpr std::array kCards{
    Transport{.name = "here", .joins = "all", .door = Door::None},
    Transport{.name = "card",
              .joins = "ranks with cards",
              .door = Door::None,
              .listen = [](const LocalSite&) -> Result<std::unique_ptr<TransportState>> {
                return Error{ErrorCode::Unsupported, "no such card"};
              }}};

TEST(OpenTransports, SkipUnavailableTransportsUnlessNeeded) {
  const std::array wanted{&kCards[0], &kCards[1]};
  const LocalSite here{.rank = 3, .host = "a"};
  const auto open = OpenTransports::open(here, Secret{}, wanted);
  ASSERT_TRUE(open) << open.error().message;
  const Whereabouts& where = (*open)->whereabouts();
  EXPECT_NE(where.address_on("here"), nullptr);
  EXPECT_EQ(where.address_on("card"), nullptr);
  EXPECT_EQ(where.rank, 3U);
  EXPECT_EQ(where.host, "a");
  const auto refused = OpenTransports::open(here, Secret{}, wanted, &kCards[1]);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "no such card");
}

TEST(Transports, AnUnknownWordIsReportedWithTheKnownOnes) {
  for (const char* word : {"shn", "loop", ""}) EXPECT_FALSE(parse_transport(word)) << word;
  EXPECT_EQ(parse_transport("shn").error().message, "unknown transport 'shn'");
  EXPECT_THAT(parse_transport("shn").error().help,
              testing::StartsWith("did you mean 'shm'? known: shm,"));
}

}  // namespace
}  // namespace ringside
