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

/// The nearest value of a small float, ties to the even code.
Bits encode(DataType type, double value);

/// Number of finite values that are not negative: their codes are 0 .. n-1 in the order of the values.
int finite_codes(DataType type);

/// a op b.  shape  op is none of Avg, PreMulSum
Bits combine(DataType type, RedOp op, Bits a, Bits b);

/// Equal, or both NaN where which one is not promised.
bool agrees(DataType type, RedOp op, Bits actual, Bits expected);

}  // namespace ringside::reference
