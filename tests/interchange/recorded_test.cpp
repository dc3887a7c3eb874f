#include "study/interchange/recorded.h"

#include <gtest/gtest.h>

namespace ringside::study {
namespace {

TEST(Recorded, TypesOfUnsignedIntegersAreKnown) {
  EXPECT_EQ(program_type("UInt32"), DataType::Uint32);
  EXPECT_EQ(program_type("UInt64->UInt64"), DataType::Uint64);
  EXPECT_EQ(program_type("Bool"), DataType::Uint8);
  EXPECT_EQ(program_type("Float->BFloat16"), DataType::Float32) << "the first of several";
  EXPECT_EQ(program_type("ComplexFloat"), std::nullopt);
}

}  // namespace
}  // namespace ringside::study
