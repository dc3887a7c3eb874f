#pragma once

#include <array>
#include <cstdint>

#include "base/vocabulary.h"

/// The expected results of reductions, one element at a time, written to be visibly correct and not to be fast. Shares
/// no code with engine/reduce: a small float is the nearest of all values that its type has.
namespace ringside::reference {

using Bits = std::uint64_t;

inline constexpr std::array kTypes{DataType::Int8,     DataType::Uint8,      DataType::Int32,
                                   DataType::Uint32,   DataType::Int64,      DataType::Uint64,
                                   DataType::Float16,  DataType::Float32,    DataType::Float64,
                                   DataType::Bfloat16, DataType::Float8E4m3, DataType::Float8E5m2};

[[nodiscard]] bool is_float(DataType type);
[[nodiscard]] bool is_small_float(DataType type);
[[nodiscard]] bool is_nan(DataType type, Bits bits);

/// shape   a floating-point type; exact
double decode(DataType type, Bits bits);

/// Returns the nearest value of a small float; ties go to the even code.
Bits encode(DataType type, double value);

/// Returns the number of finite values that are not negative: their codes are 0 .. n-1 in the order of the values.
int finite_codes(DataType type);

/// Returns a op b.
///
/// shape  op is neither Avg nor PreMulSum
Bits combine(DataType type, RedOp op, Bits a, Bits b);

/// Returns whether both are equal, or both are NaN where the kind of NaN is not specified.
bool agrees(DataType type, RedOp op, Bits actual, Bits expected);

}  // namespace ringside::reference
