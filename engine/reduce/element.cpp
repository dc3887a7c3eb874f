#include "engine/reduce/element.h"

#include <bit>
#include <cstring>

#include "engine/reduce/small_float.h"

namespace ringside {
namespace {

template <typename T>
ElementBits integer_element(double value) {
  const T typed = static_cast<T>(value);
  ElementBits bits = 0;
  std::memcpy(&bits, &typed, sizeof typed);
  return bits;
}

template <typename T>
double integer_value(ElementBits bits) {
  return static_cast<double>(static_cast<T>(bits));
}

}  // namespace

ElementBits to_element(DataType type, double value) {
  const auto narrow = static_cast<float>(value);
  switch (type) {
    case DataType::Int8:
      return integer_element<std::int8_t>(value);
    case DataType::Uint8:
      return integer_element<std::uint8_t>(value);
    case DataType::Int32:
      return integer_element<std::int32_t>(value);
    case DataType::Uint32:
      return integer_element<std::uint32_t>(value);
    case DataType::Int64:
      return integer_element<std::int64_t>(value);
    case DataType::Uint64:
      return integer_element<std::uint64_t>(value);
    case DataType::Float16:
      return float_to_half(narrow);
    case DataType::Float32:
      return std::bit_cast<std::uint32_t>(narrow);
    case DataType::Float64:
      return std::bit_cast<std::uint64_t>(value);
    case DataType::Bfloat16:
      return float_to_bfloat16(narrow);
    case DataType::Float8E4m3:
      return float_to_e4m3(narrow);
    case DataType::Float8E5m2:
      return float_to_e5m2(narrow);
  }
  return 0;
}

double from_element(DataType type, ElementBits bits) {
  switch (type) {
    case DataType::Int8:
      return integer_value<std::int8_t>(bits);
    case DataType::Uint8:
      return integer_value<std::uint8_t>(bits);
    case DataType::Int32:
      return integer_value<std::int32_t>(bits);
    case DataType::Uint32:
      return integer_value<std::uint32_t>(bits);
    case DataType::Int64:
      return integer_value<std::int64_t>(bits);
    case DataType::Uint64:
      return integer_value<std::uint64_t>(bits);
    case DataType::Float16:
      return half_to_float(static_cast<std::uint16_t>(bits));
    case DataType::Float32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case DataType::Float64:
      return std::bit_cast<double>(bits);
    case DataType::Bfloat16:
      return bfloat16_to_float(static_cast<std::uint16_t>(bits));
    case DataType::Float8E4m3:
      return e4m3_to_float(static_cast<std::uint8_t>(bits));
    case DataType::Float8E5m2:
      return e5m2_to_float(static_cast<std::uint8_t>(bits));
  }
  return 0;
}

ElementBits load_element(DataType type, const std::byte* from) {
  ElementBits bits = 0;
  std::memcpy(&bits, from, size_of(type).value);
  return bits;
}

void store_element(DataType type, ElementBits bits, std::byte* to) {
  std::memcpy(to, &bits, size_of(type).value);
}

bool is_floating(DataType type) {
  return type >= DataType::Float16;  // integer types precede Float16, as in NCCL's numbering
}

int precision_of(DataType type) {
  switch (type) {
    case DataType::Float16:
      return 11;
    case DataType::Float32:
      return 24;
    case DataType::Float64:
      return 53;
    case DataType::Bfloat16:
      return 8;
    case DataType::Float8E4m3:
      return 4;
    case DataType::Float8E5m2:
      return 3;
    default:
      break;
  }
  RINGSIDE_ASSERT(false, "{} is no floating-point type", to_string(type));
  return 0;
}

}  // namespace ringside
