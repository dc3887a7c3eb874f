#include "engine/topology/path_type.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(PathTypeNames, EachIsParsedBack) {
  for (int value = 0; value <= 11; ++value) {
    const auto type = static_cast<PathType>(value);
    const auto read = parse_path_type(to_string(type));
    ASSERT_TRUE(read) << to_string(type);
    EXPECT_EQ(*read, type);
  }
}

TEST(PathTypeNames, AnUnknownWordNamesTheNearest) {
  const auto read = parse_path_type("PBX");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::InvalidArgument);
  EXPECT_NE(read.error().help.find("PXB"), std::string::npos) << read.error().help;
}

}  // namespace
}  // namespace ringside
