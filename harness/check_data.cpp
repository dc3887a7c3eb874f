#include "harness/check_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/reduce/reduce_op.h"

namespace ringside {
namespace {

/// Returns the factor by which a rank multiplies its values.
int factor_of(RedOp op, int rank) { return op == RedOp::PreMulSum ? 1 + rank % 2 : 1; }

/// Stores an element of each class by memcpy of a fixed size, which the compiler turns into one store.
template <std::size_t kSize>
void fill_from(std::byte* buffer, std::int64_t count, const std::byte* table, std::int64_t first,
               std::uint64_t seed) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(buffer + static_cast<std::size_t>(i) * kSize,
                table + class_of_place(first + i, seed) * kSize, kSize);
  }
}

template <std::size_t kSize>
std::int64_t differences(const std::byte* buffer, std::int64_t count, const std::byte* table,
                         std::int64_t first, std::uint64_t seed) {
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    wrong += std::memcmp(buffer + static_cast<std::size_t>(i) * kSize,
                         table + class_of_place(first + i, seed) * kSize, kSize) != 0
                 ? 1
                 : 0;
  }
  return wrong;
}

}  // namespace

int CheckData::value_of(int rank, std::size_t klass) const {
  const int mixed = static_cast<int>(klass) + 3 * rank;
  // Products of ones and twos are powers of two: exact in floating point, and wrapping in integers.
  if (op_ == RedOp::Prod) return 1 + mixed % 2;
  // 8-bit floating-point types count exactly to 8 or 16, so their values are one bit of the class; then more ranks
  // fit.
  if (is_floating(type_) && size_of(type_) == Bytes{1}) {
    return static_cast<int>(klass >> (rank % 3)) & 1;
  }
  return mixed % static_cast<int>(kClasses);
}

std::optional<ElementBits> CheckData::scalar_of(int rank) const {
  if (op_ != RedOp::PreMulSum) return std::nullopt;
  return to_element(type_, factor_of(op_, rank));
}

std::vector<std::byte> CheckData::table_of(int rank) const {
  const std::size_t size = size_of(type_).value;
  std::vector<std::byte> table(kClasses * size);
  for (std::size_t klass = 0; klass < kClasses; ++klass) {
    store_element(type_, to_element(type_, value_of(rank, klass)), table.data() + klass * size);
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

std::int64_t CheckData::count_different(const std::byte* buffer, std::int64_t count,
                                        const std::vector<std::byte>& table,
                                        std::int64_t first) const {
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

std::vector<std::byte> CheckData::reduced_table(int nranks) const {
  std::vector<std::byte> result(kClasses * size_of(type_).value);
  const std::array outputs{result.data()};
  for (int rank = 0; rank < nranks; ++rank) {
    const auto op = make_reduce_op(type_, op_, nranks, scalar_of(rank));
    RINGSIDE_ASSERT(op, "scalar_of() gives each reduction what it needs");
    const std::vector<std::byte> own = table_of(rank);
    const std::array<const std::byte*, 2> inputs{own.data(), result.data()};
    op->reduce(outputs, std::span(inputs.data(), rank == 0 ? 1 : 2), FirstInput::Own, kClasses);
    if (rank == nranks - 1) op->finish(result.data(), kClasses);
  }
  return result;
}

std::array<double, CheckData::kClasses> CheckData::real_sums(int nranks) const {
  std::array<double, kClasses> sums{};
  for (std::size_t klass = 0; klass < kClasses; ++klass) {
    for (int rank = 0; rank < nranks; ++rank) {
      sums[klass] += value_of(rank, klass) * factor_of(op_, rank);
    }
    if (op_ == RedOp::Avg) sums[klass] /= nranks;
  }
  return sums;
}

bool CheckData::is_exact(const std::array<double, kClasses>& sums, int nranks) const {
  if (!is_floating(type_) || op_ == RedOp::Prod || op_ == RedOp::Min || op_ == RedOp::Max) {
    return true;
  }
  const bool is_average = op_ == RedOp::Avg;
  if (is_average && !std::has_single_bit(static_cast<unsigned>(nranks))) return false;
  const double whole = *std::max_element(sums.begin(), sums.end()) * (is_average ? nranks : 1);
  return whole <= std::ldexp(1.0, precision_of(type_));
}

std::int64_t CheckData::count_far(const std::byte* buffer, std::int64_t count,
                                  const std::array<double, kClasses>& sums, int nranks,
                                  std::int64_t first) const {
  const int precision = precision_of(type_);
  std::array<double, kClasses> tolerance{};
  for (std::size_t klass = 0; klass < kClasses; ++klass) {
    const double most = sums[klass] * std::pow(1 + std::ldexp(1.0, -precision), nranks);
    tolerance[klass] = most > 0 ? nranks * std::ldexp(1.0, std::ilogb(most) + 1 - precision) : 0;
  }
  const std::size_t size = size_of(type_).value;
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t klass = class_of_place(first + i, seed_);
    const double value =
        from_element(type_, load_element(type_, buffer + static_cast<std::size_t>(i) * size));
    // Written in this way, a NaN counts as wrong.
    wrong += std::fabs(value - sums[klass]) <= tolerance[klass] ? 0 : 1;
  }
  return wrong;
}

PlaceTable CheckData::place_table(std::int64_t count, std::int64_t first,
                                  const std::vector<std::byte>& values) const {
  PlaceTable table{.seed = seed_,
                   .first = first,
                   .count = count,
                   .element = static_cast<std::int32_t>(size_of(type_).value)};
  RINGSIDE_ASSERT(values.size() <= sizeof table.values, "{} bytes of values", values.size());
  std::memcpy(table.values, values.data(), values.size());
  return table;
}

std::optional<PlaceTable> CheckData::expect_reduced(std::int64_t count, int nranks,
                                                    std::int64_t first) const {
  if (!is_exact(real_sums(nranks), nranks)) return std::nullopt;
  return place_table(count, first, reduced_table(nranks));
}

PlaceTable CheckData::expect_copied(std::int64_t count, int rank, std::int64_t first) const {
  return place_table(count, first, table_of(rank));
}

std::int64_t CheckData::count_wrong_reduced(const std::byte* buffer, std::int64_t count, int nranks,
                                            std::int64_t first) const {
  const std::array<double, kClasses> sums = real_sums(nranks);
  if (!is_exact(sums, nranks)) return count_far(buffer, count, sums, nranks, first);
  return count_different(buffer, count, reduced_table(nranks), first);
}

std::int64_t CheckData::count_wrong_copied(const std::byte* buffer, std::int64_t count, int rank,
                                           std::int64_t first) const {
  return count_different(buffer, count, table_of(rank), first);
}

}  // namespace ringside
