#include "base/append.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(Append, AppendsTheFormattedText) {
  std::string text = "rank 3";
  append(text, " {:>4}|{:.2f}|{}", 17, 2.5, std::string("ring"));
  EXPECT_EQ(text, "rank 3" + fmt::format(" {:>4}|{:.2f}|{}", 17, 2.5, "ring"));
  append(text, "");
  EXPECT_EQ(text, "rank 3   17|2.50|ring");
}

}  // namespace
}  // namespace ringside
