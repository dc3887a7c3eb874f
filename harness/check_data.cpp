#include "harness/check_data.h"

#include <cstring>

#include "engine/runtime/reduce.h"

namespace ringside {
namespace {

constexpr std::size_t kClasses = 8;

std::size_t class_of(std::int64_t place, std::uint64_t seed) {
  // Fibonacci hashing: the top bits of a product with 2^64 / golden ratio are well mixed.
  return ((static_cast<std::uint64_t>(place) + seed) * 0x9E3779B97F4A7C15) >> 61;
}

int value_of(int rank, std::size_t klass, RedOp op) {
  const int mixed = static_cast<int>(klass) + 3 * rank;
  // Products of ones and twos stay powers of two: exact in floating point, wrapping in integers.
  return op == RedOp::Prod ? 1 + mixed % 2 : mixed % static_cast<int>(kClasses);
}

template <typename T>
void put(std::byte* at, int value) {
  const T typed = static_cast<T>(value);
  std::memcpy(at, &typed, sizeof typed);
}

void put_value(std::byte* at, DataType type, int value) {
  switch (type) {
    case DataType::Int8:
      return put<std::int8_t>(at, value);
    case DataType::Uint8:
      return put<std::uint8_t>(at, value);
    case DataType::Int32:
      return put<std::int32_t>(at, value);
    case DataType::Uint32:
      return put<std::uint32_t>(at, value);
    case DataType::Int64:
      return put<std::int64_t>(at, value);
    case DataType::Uint64:
      return put<std::uint64_t>(at, value);
    case DataType::Float32:
      return put<float>(at, value);
    case DataType::Float64:
      return put<double>(at, value);
    case DataType::Float16:
    case DataType::Bfloat16:
    case DataType::Float8E4m3:
    case DataType::Float8E5m2:
      break;
  }
  RINGSIDE_ASSERT(false, "check_supported() lets no {} through", to_string(type));
}

/// Places an element of each class by memcpy of a fixed size: the compiler turns that into one store.
template <std::size_t kSize>
void fill_from(std::byte* buffer, std::int64_t count, const std::byte* table, std::int64_t first,
               std::uint64_t seed) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(buffer + static_cast<std::size_t>(i) * kSize,
                table + class_of(first + i, seed) * kSize, kSize);
  }
}

template <std::size_t kSize>
std::int64_t differences(const std::byte* buffer, std::int64_t count, const std::byte* table,
                         std::int64_t first, std::uint64_t seed) {
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    wrong += std::memcmp(buffer + static_cast<std::size_t>(i) * kSize,
                         table + class_of(first + i, seed) * kSize, kSize) != 0
                 ? 1
                 : 0;
  }
  return wrong;
}

}  // namespace

Status CheckData::check_supported() const {
  RINGSIDE_TRY([[maybe_unused]] const ReduceKernel kernel, reduce_kernel(type_, op_));
  return {};
}

std::vector<std::byte> CheckData::table_of(int rank) const {
  const std::size_t size = size_of(type_).value;
  std::vector<std::byte> table(kClasses * size);
  for (std::size_t klass = 0; klass < kClasses; ++klass) {
    put_value(table.data() + klass * size, type_, value_of(rank, klass, op_));
  }
  return table;
}

void CheckData::fill(std::byte* buffer, std::int64_t count, int rank, std::int64_t first) const {
  const std::vector<std::byte> table = table_of(rank);
  switch (size_of(type_).value) {
    case 1:
      return fill_from<1>(buffer, count, table.data(), first, seed_);
    case 2:
      return fill_from<2>(buffer, count, table.data(), first, seed_);
    case 4:
      return fill_from<4>(buffer, count, table.data(), first, seed_);
    default:
      return fill_from<8>(buffer, count, table.data(), first, seed_);
  }
}

std::int64_t CheckData::count_wrong(const std::byte* buffer, std::int64_t count,
                                    const std::vector<std::byte>& table, std::int64_t first) const {
  switch (size_of(type_).value) {
    case 1:
      return differences<1>(buffer, count, table.data(), first, seed_);
    case 2:
      return differences<2>(buffer, count, table.data(), first, seed_);
    case 4:
      return differences<4>(buffer, count, table.data(), first, seed_);
    default:
      return differences<8>(buffer, count, table.data(), first, seed_);
  }
}

std::int64_t CheckData::count_wrong_reduced(const std::byte* buffer, std::int64_t count, int nranks,
                                            std::int64_t first) const {
  const Result<ReduceKernel> kernel = reduce_kernel(type_, op_);
  RINGSIDE_ASSERT(kernel, "check_supported() comes first");
  std::vector<std::byte> expected = table_of(0);
  for (int rank = 1; rank < nranks; ++rank) {
    (*kernel)(expected.data(), expected.data(), table_of(rank).data(), kClasses);
  }
  return count_wrong(buffer, count, expected, first);
}

std::int64_t CheckData::count_wrong_copied(const std::byte* buffer, std::int64_t count, int rank,
                                           std::int64_t first) const {
  return count_wrong(buffer, count, table_of(rank), first);
}

}  // namespace ringside
