#include "base/text.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(ParseBytes, StepsAreTwoToTheTenAsInNcclTests) {
  EXPECT_EQ(*parse_bytes("8"), 8_B);
  EXPECT_EQ(parse_bytes("1e18")->value, 1'000'000'000'000'000'000U);
  EXPECT_EQ(parse_bytes("9007199254740993B")->value, 9'007'199'254'740'993U);
  EXPECT_EQ(parse_bytes(" 9007199254740993 B ")->value, 9'007'199'254'740'993U);
  EXPECT_EQ(*parse_bytes("64K"), 64_KiB);
  EXPECT_EQ(*parse_bytes("64M"), 64_MiB);
  EXPECT_EQ(*parse_bytes("1.5G"), 1536_MiB);
  EXPECT_EQ(*parse_bytes("2GiB"), 2_GiB);
  EXPECT_EQ(*parse_bytes("9007199254740993"), 9007199254740993_B);  // 2^53 + 1: exact
}

TEST(ParseBytes, RefusesInvalidSizes) {
  for (const char* text :
       {"", "M", "-1", "1.5", "64X", "64MM", "nan", "inf", "1e30", "8 8", "0x8"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

TEST(ParseSizeRange, MultipliesUpToTheEnd) {
  EXPECT_EQ(*parse_size_range("8:64:2"), (std::vector<Bytes>{8_B, 16_B, 32_B, 64_B}));
  EXPECT_EQ(*parse_size_range("8:70:4"), (std::vector<Bytes>{8_B, 32_B}));
  EXPECT_EQ(*parse_size_range("8:32"), (std::vector<Bytes>{8_B, 16_B, 32_B}));
  EXPECT_EQ(*parse_size_range("1M"), (std::vector<Bytes>{1_MiB}));
  EXPECT_EQ(*parse_size_range("0"), (std::vector<Bytes>{0_B}));
}

TEST(ParseSizeRange, RefusesWhatNeverEnds) {
  for (const char* text :
       {"0:8:2", "64:8:2", "8:64:1", "8:64:0", "8:64:-2", "8:64:x", ":", "8:", "8:9:"}) {
    EXPECT_FALSE(parse_size_range(text)) << text;
  }
}

TEST(ParseTime, WantsItsUnit) {
  EXPECT_DOUBLE_EQ(parse_time("1.5us")->count(), 1.5e-6);
  EXPECT_DOUBLE_EQ(parse_time("2 min")->count(), 120);
  ASSERT_FALSE(parse_time("1.5"));
  EXPECT_NE(parse_time("1.5").error().message.find("no unit"), std::string::npos);
  EXPECT_NE(parse_time("1.5usec").error().help.find("known: ns, us"), std::string::npos);
  EXPECT_FALSE(parse_time("-1s"));
  EXPECT_FALSE(parse_time("1e308h"));  // beyond the numbers of a double
}

TEST(ParseBandwidth, KnowsBytesAndBits) {
  EXPECT_DOUBLE_EQ(parse_bandwidth("48GB/s")->value, 48e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth("400Gbit/s")->value, 50e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth("400G")->value, 50e9);
  EXPECT_FALSE(parse_bandwidth("0GB/s"));
  EXPECT_FALSE(parse_bandwidth("1e308TB/s"));
  EXPECT_NE(parse_bandwidth("4Gbits").error().help.find("did you mean 'Gbit/s'"),
            std::string::npos);
}

TEST(Format, ReadsBackWhereItIsExact) {
  EXPECT_EQ(format_bytes(64_MiB), "64M");
  EXPECT_EQ(format_bytes(1000_B), "1000");
  EXPECT_EQ(format_bytes(0_B), "0");
  EXPECT_EQ(format_time(Seconds{12.346e-6}), "12.35us");
  EXPECT_EQ(format_bandwidth(BytesPerSecond{48e9}), "48.00 GB/s");
}

TEST(FormatRanks, RunsAreFolded) {
  EXPECT_EQ(format_ranks(std::vector<int>{}), "");
  EXPECT_EQ(format_ranks(std::vector{3}), "3");
  EXPECT_EQ(format_ranks(std::vector{2, 3}), "2-3");
  EXPECT_EQ(format_ranks(std::vector{3, 5, 6, 7, 9}), "3,5-7,9");
}

}  // namespace
}  // namespace ringside
