#include "engine/flight/pickle_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

// K 5: one byte; M: two; J: four, signed; 8a 08: eight.
TEST(PickleWriter, NumbersTakeTheShortestOpcode) {
  std::string out;
  PickleWriter writer(out);
  for (const std::int64_t value : {5LL, 256LL, 65536LL, -1LL, 1LL << 31}) writer.integer(value);
  writer.finish();
  EXPECT_EQ(out, std::string("\x80\x02"
                             "K\x05"
                             "M\x00\x01"
                             "J\x00\x00\x01\x00"
                             "J\xff\xff\xff\xff"
                             "\x8a\x08\x00\x00\x00\x80\x00\x00\x00\x00.",
                             28));
}

TEST(PickleWriter, AStringIsWrittenOnceAndFetchedAfterwards) {
  std::string out;
  PickleWriter writer(out);
  writer.string("ab");
  writer.string("c");
  writer.string("ab");
  EXPECT_EQ(out, std::string("\x80\x02X\x02\x00\x00\x00"
                             "abq\x00X\x01\x00\x00\x00"
                             "cq\x01h\x00",
                             21));
}

}  // namespace
}  // namespace ringside
