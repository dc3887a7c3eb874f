#include "engine/runtime/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ringside {
namespace {

template <typename T>
T combine(T a, T b, RedOp op) {
  // Signed overflow is undefined in C++; the sum in the unsigned type wraps, as GPUs do.
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    // Narrow types would be promoted to int before they are multiplied.
    using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, U>;
    if (op == RedOp::Sum) return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
    if (op == RedOp::Prod) return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  } else {
    if (op == RedOp::Sum) return a + b;
    if (op == RedOp::Prod) return a * b;
  }
  return op == RedOp::Max ? std::max(a, b) : std::min(a, b);
}

/// memcpy in and out lets any alignment through and still vectorises.
template <typename T, RedOp kOp>
void reduce(std::byte* out, const std::byte* a, const std::byte* b, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T x;
    T y;
    std::memcpy(&x, a + i * sizeof(T), sizeof(T));
    std::memcpy(&y, b + i * sizeof(T), sizeof(T));
    x = combine(x, y, kOp);
    std::memcpy(out + i * sizeof(T), &x, sizeof(T));
  }
}

template <typename T>
ReduceKernel kernel_of(RedOp op) {
  switch (op) {
    case RedOp::Sum:
      return reduce<T, RedOp::Sum>;
    case RedOp::Prod:
      return reduce<T, RedOp::Prod>;
    case RedOp::Max:
      return reduce<T, RedOp::Max>;
    case RedOp::Min:
      return reduce<T, RedOp::Min>;
    case RedOp::Avg:
    case RedOp::PreMulSum:
      return nullptr;
  }
  return nullptr;
}

ReduceKernel find_kernel(DataType type, RedOp op) {
  switch (type) {
    case DataType::Int8:
      return kernel_of<std::int8_t>(op);
    case DataType::Uint8:
      return kernel_of<std::uint8_t>(op);
    case DataType::Int32:
      return kernel_of<std::int32_t>(op);
    case DataType::Uint32:
      return kernel_of<std::uint32_t>(op);
    case DataType::Int64:
      return kernel_of<std::int64_t>(op);
    case DataType::Uint64:
      return kernel_of<std::uint64_t>(op);
    case DataType::Float32:
      return kernel_of<float>(op);
    case DataType::Float64:
      return kernel_of<double>(op);
    case DataType::Float16:
    case DataType::Bfloat16:
    case DataType::Float8E4m3:
    case DataType::Float8E5m2:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

Result<ReduceKernel> reduce_kernel(DataType type, RedOp op) {
  if (ReduceKernel kernel = find_kernel(type, op)) return kernel;
  return Error{
      ErrorCode::Unsupported,
      fmt::format("no host kernel reduces {} by {}", to_string(type), to_string(op)),
      "types: int8 uint8 int32 uint32 int64 uint64 float double; reductions: sum prod max min"};
}

}  // namespace ringside
