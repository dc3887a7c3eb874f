#include "base/fnv.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

// Values from the authors' test vectors.
TEST(Fnv, HasThePublishedValues) {
  EXPECT_EQ(fnv_of(""), 0xcbf29ce484222325U);
  EXPECT_EQ(fnv_of("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(fnv_of("foobar"), 0x85944171f73967e8U);
}

TEST(Fnv, ATextCanBeHashedInParts) {
  EXPECT_EQ(fnv_with(fnv_of("foo"), "bar"), fnv_of("foobar"));
  EXPECT_EQ(fnv_with(fnv_of("fooba"), std::uint64_t{'r'}), fnv_of("foobar"));
  EXPECT_EQ(fnv_of("\xff"), fnv_with(kFnvBegin, std::uint64_t{0xff})) << "bytes have no sign";
}

}  // namespace
}  // namespace ringside
