#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/words.h"

namespace ringside {

/// PyTorch's names of the element types, in the order of DataType.
/// source  PyTorch c10/core/ScalarType.h
inline constexpr std::array kPyTorchTypes{"Char",   "Byte",     "Int",           "UInt32",
                                          "Long",   "UInt64",   "Half",          "Float",
                                          "Double", "BFloat16", "Float8_e4m3fn", "Float8_e5m2"};

/// Returns the name that PyTorch's flight recorder gives the type: `Float`, `BFloat16`.
constexpr const char* pytorch_name(DataType type) {
  return kPyTorchTypes[static_cast<std::size_t>(type)];
}

/// Returns the type with this name; nothing for a name that has no DataType, such as `Bool` or `ComplexFloat`.
constexpr std::optional<DataType> type_of_pytorch(std::string_view name) {
  for (std::size_t i = 0; i < kPyTorchTypes.size(); ++i) {
    if (name == kPyTorchTypes[i]) return static_cast<DataType>(i);
  }
  return std::nullopt;
}

}  // namespace ringside
