#include "base/pytorch_types.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(PyTorchTypes, EachTypeHasItsName) {
  EXPECT_STREQ(pytorch_name(DataType::Int8), "Char");
  EXPECT_STREQ(pytorch_name(DataType::Float16), "Half");
  EXPECT_STREQ(pytorch_name(DataType::Float8E5m2), "Float8_e5m2");
  for (std::size_t i = 0; i < kPyTorchTypes.size(); ++i) {
    EXPECT_EQ(type_of_pytorch(kPyTorchTypes[i]), static_cast<DataType>(i));
  }
}

TEST(PyTorchTypes, OtherNamesHaveNoType) {
  for (const char* name : {"", "float", "Bool", "ComplexFloat", "Float8"}) {
    EXPECT_FALSE(type_of_pytorch(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace ringside
