#include "harness/attach/store_client.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <map>

#include "tests/attach/fake_service.h"

namespace ringside::attach {
namespace {

constexpr auto kPlenty = std::chrono::seconds(20);

template <typename Number>
Number number_in(FakeClient& client) {
  const std::string bytes = client.bytes(sizeof(Number));
  Number number{};
  if (bytes.size() == sizeof number) std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}
template <typename Number>
std::string as_bytes(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

/// The server's side of a TCPStore, as far as the client asks.
void serve_store(FakeClient& client, const std::map<std::string, std::string>& keys) {
  EXPECT_EQ(number_in<std::uint8_t>(client), 0);
  EXPECT_EQ(number_in<std::uint32_t>(client), 0x3C85F7CEU);
  for (;;) {
    const auto query = number_in<std::uint8_t>(client);
    if (client.has_gone()) return;
    if (query == 13) {
      client.say(client.bytes(4));
      continue;
    }
    if (query == 5) {
      EXPECT_EQ(number_in<std::uint64_t>(client), 1U);
    }
    const std::string key = client.bytes(number_in<std::uint64_t>(client));
    const auto found = keys.find(key);
    if (query == 5) {
      client.say(as_bytes(static_cast<std::uint8_t>(found == keys.end() ? 1 : 0)));
    } else {
      EXPECT_EQ(query, 3);
      ASSERT_NE(found, keys.end());
      client.say(as_bytes(static_cast<std::uint64_t>(found->second.size())) + found->second);
    }
  }
}

TEST(StoreClient, ReadsKeysAndKnowsWhichAreNotThere) {
  FakeService service([](FakeClient& client) {
    serve_store(client, {{"/debug_server/rank0", "http://node7:4711"}});
  });
  auto store = StoreClient::open(service.place(), deadline_in(kPlenty));
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(**store->get("/debug_server/rank0", deadline_in(kPlenty)), "http://node7:4711");
  EXPECT_FALSE(store->get("/debug_server/rank1", deadline_in(kPlenty))->has_value());
}

TEST(StoreClient, APeerThatIsNoStoreIsRefusedInTime) {
  FakeService wrong([](FakeClient& client) { client.say("hello there"); });
  const auto other = StoreClient::open(wrong.place(), deadline_in(kPlenty));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::Corrupt);
  FakeService silent([](FakeClient& client) { client.stay_silent(); });
  const auto none = StoreClient::open(silent.place(), deadline_in(std::chrono::milliseconds(200)));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::Timeout);
}

TEST(StoreClient, AHugeValueIsRefused) {
  FakeService service([](FakeClient& client) {
    client.bytes(5 + 1 + 4);
    client.say(std::string("GNIR"));
    client.bytes(1 + 8 + 8 + 1);
    client.say(std::string(1, '\0'));
    client.bytes(1 + 8 + 1);
    client.say(as_bytes(std::uint64_t{1} << 62));
    client.stay_silent();
  });
  auto store = StoreClient::open(service.place(), deadline_in(kPlenty));
  ASSERT_TRUE(store) << store.error().message;
  const auto value = store->get("k", deadline_in(kPlenty));
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::Corrupt);
}

}  // namespace
}  // namespace ringside::attach
