#include "engine/runtime/bootstrap/unique_id.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

TEST(UniqueId, TextGoesThereAndBack) {
  for (const char* address : {"10.0.0.1:4000", "[fd00::1]:65535"}) {
    const UniqueId id{*parse_socket_address(address), random_secret()};
    const auto again = parse_unique_id(to_string(id));
    ASSERT_TRUE(again) << to_string(id);
    EXPECT_EQ(*again, id);
  }
}

TEST(UniqueId, ReadsAsWritten) {
  const auto id = parse_unique_id("ringside:127.0.0.1:4000:000102030405060708090a0b0c0d0e0f");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->root, loopback_address(4000));
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(id->secret.bytes[i], static_cast<std::byte>(i));
}

TEST(UniqueId, RefusesInvalidIdsWithoutRepeatingThem) {
  const std::string secret = "000102030405060708090a0b0c0d0e0f";
  for (const std::string text : {"", "ringside:", "ringside:127.0.0.1:4000",
                                 "127.0.0.1:4000:000102030405060708090a0b0c0d0e0f",
                                 "ringside:127.0.0.1:4000:000102030405060708090a0b0c0d0e",
                                 "ringside:127.0.0.1:4000:000102030405060708090a0b0c0d0e0g",
                                 "ringside:127.0.0.1:0:000102030405060708090a0b0c0d0e0f",
                                 "ringside:127.0.0.1:000102030405060708090a0b0c0d0e0f",
                                 "ringside:head:4000:000102030405060708090a0b0c0d0e0f"}) {
    const auto id = parse_unique_id(text);
    ASSERT_FALSE(id) << text;
    EXPECT_EQ(id.error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(id.error().message.find("0102030405"), std::string::npos) << id.error().message;
  }
}

TEST(Secret, RandomOnesDifferAndDerivedOnesFollowTheirText) {
  EXPECT_NE(random_secret(), random_secret());
  EXPECT_EQ(derive_secret("job 7"), derive_secret("job 7"));
  EXPECT_NE(derive_secret("job 7"), derive_secret("job 8"));
}

}  // namespace
}  // namespace ringside
