#include "tests/reduce/reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <vector>

namespace ringside::reference {
namespace {

struct Shape {
  int bits;
  int mantissa;
  int bias;
  bool has_infinity;
};

Shape shape_of(DataType type) {
  switch (type) {
    case DataType::Float16:
      return {16, 10, 15, true};
    case DataType::Bfloat16:
      return {16, 7, 127, true};
    case DataType::Float8E4m3:
      return {8, 3, 7, false};
    default:
      return {8, 2, 15, true};
  }
}

double small_value(const Shape& shape, Bits code) {
  const Bits magnitude = code & ((Bits{1} << (shape.bits - 1)) - 1);
  const double sign = (code >> (shape.bits - 1)) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(magnitude >> shape.mantissa);
  const int highest = (1 << (shape.bits - 1 - shape.mantissa)) - 1;
  const double fraction = std::ldexp(
      static_cast<double>(magnitude & ((Bits{1} << shape.mantissa) - 1)), -shape.mantissa);
  if (exponent == highest) {
    if (shape.has_infinity) return fraction == 0 ? sign * HUGE_VAL : NAN;
    if (fraction == 1 - std::ldexp(1.0, -shape.mantissa)) return NAN;
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - shape.bias);
  return sign * std::ldexp(1 + fraction, exponent - shape.bias);
}

/// Returns the finite values from 0 upwards; the index of a value is its code.
const std::vector<double>& finite_values(DataType type) {
  static std::map<DataType, std::vector<double>> tables;
  std::vector<double>& values = tables[type];
  if (values.empty()) {
    for (Bits code = 0; std::isfinite(small_value(shape_of(type), code)); ++code) {
      values.push_back(small_value(shape_of(type), code));
    }
  }
  return values;
}

Bits nan_of(DataType type) { return (Bits{1} << (8 * size_of(type).value - 1)) - 1; }

Bits sign_of(DataType type) { return Bits{1} << (8 * size_of(type).value - 1); }

std::int64_t signed_value(DataType type, Bits bits) {
  if (type == DataType::Int8) return static_cast<std::int8_t>(bits);
  if (type == DataType::Int32) return static_cast<std::int32_t>(bits);
  return static_cast<std::int64_t>(bits);
}

bool is_less(DataType type, Bits a, Bits b) {
  switch (type) {
    case DataType::Int8:
    case DataType::Int32:
    case DataType::Int64:
      return signed_value(type, a) < signed_value(type, b);
    case DataType::Uint8:
    case DataType::Uint32:
    case DataType::Uint64:
      return a < b;
    default:
      break;
  }
  const double x = decode(type, a);
  const double y = decode(type, b);
  if (x == 0 && y == 0) return std::signbit(x) && !std::signbit(y);
  return x < y;
}

Bits pick(DataType type, RedOp op, Bits a, Bits b) {
  if (is_nan(type, a)) return is_nan(type, b) ? nan_of(type) : b;
  if (is_nan(type, b)) return a;
  return is_less(type, a, b) == (op == RedOp::Min) ? a : b;
}

template <typename T>
T arithmetic(RedOp op, T a, T b) {
  return op == RedOp::Sum ? a + b : a * b;
}

}  // namespace

bool is_float(DataType type) {
  return type == DataType::Float64 || type == DataType::Float32 || is_small_float(type);
}

bool is_small_float(DataType type) {
  return type == DataType::Float16 || type == DataType::Bfloat16 || type == DataType::Float8E4m3 ||
         type == DataType::Float8E5m2;
}

bool is_nan(DataType type, Bits bits) { return is_float(type) && std::isnan(decode(type, bits)); }

double decode(DataType type, Bits bits) {
  if (type == DataType::Float64) return std::bit_cast<double>(bits);
  if (type == DataType::Float32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return small_value(shape_of(type), bits);
}

int finite_codes(DataType type) { return static_cast<int>(finite_values(type).size()); }

Bits encode(DataType type, double value) {
  if (std::isnan(value)) return nan_of(type);
  const Bits sign = std::signbit(value) ? sign_of(type) : 0;
  const double magnitude = std::fabs(value);
  const std::vector<double>& values = finite_values(type);
  const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
  const auto below = static_cast<Bits>(above - values.begin()) - 1;
  if (above == values.end()) {
    if (!shape_of(type).has_infinity) return sign | below;
    // A value that exceeds the last one by half a step or more would be rounded to the next power of two.
    const double step = values[below] - values[below - 1];
    return sign | (magnitude - values[below] >= step / 2 ? below + 1 : below);
  }
  const double up = *above - magnitude;
  const double down = magnitude - values[below];
  if (up == down) return sign | (below + below % 2);
  return sign | (up < down ? below + 1 : below);
}

Bits combine(DataType type, RedOp op, Bits a, Bits b) {
  if (op == RedOp::Min || op == RedOp::Max) return pick(type, op, a, b);
  if (!is_float(type)) return arithmetic(op, a, b) & (nan_of(type) | sign_of(type));
  if (type == DataType::Float64) {
    return std::bit_cast<Bits>(arithmetic(op, decode(type, a), decode(type, b)));
  }
  const float result =
      arithmetic(op, static_cast<float>(decode(type, a)), static_cast<float>(decode(type, b)));
  if (type == DataType::Float32) return std::bit_cast<std::uint32_t>(result);
  return encode(type, result);
}

bool agrees(DataType type, RedOp op, Bits actual, Bits expected) {
  if (actual == expected) return true;
  const bool is_open = op != RedOp::Min && op != RedOp::Max && !is_small_float(type);
  return is_open && is_nan(type, actual) && is_nan(type, expected);
}

}  // namespace ringside::reference
