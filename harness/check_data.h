#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/vocabulary.h"
#include "engine/cuda/device/device_check.h"
#include "engine/reduce/element.h"

namespace ringside {

/// Data whose reductions come out exactly wherever the type allows it, whatever the order: small whole
/// numbers that depend on the rank and, through a mixed hash, on the place in the buffer, so that an
/// element which ends up at another place, or twice, shows.
///
/// Every element's value is one of 8 classes of its place; a table of the 8 expected results serves the
/// whole buffer.
///
/// Exact      integers; prod (of ones and twos), min and max; sum and mulsum while the result S is at most
///            2^p, p the type's precision; avg while that holds and n is a power of two
/// Otherwise  each of the n - 1 additions, and of avg's scalings, may be off by half a unit in the last
///            place; an element may be off by n units in the last place of S * (1 + 2^-p)^n. With 8 bits
///            that is more than one rank contributes: such a check finds garbage, but not a missing rank.
class CheckData {
 public:
  CheckData(DataType type, RedOp op, std::uint64_t seed) : type_(type), op_(op), seed_(seed) {}

  /// Writes what `rank` contributes at places first .. first + count - 1 of the logical buffer.
  void fill(std::byte* buffer, std::int64_t count, int rank, std::int64_t first) const;

  /// The factor that `rank` gives with a mulsum, 1 or 2 as nccl-tests does; none with another reduction.
  [[nodiscard]] std::optional<ElementBits> scalar_of(int rank) const;

  /// What a buffer holds after the reduction over ranks 0 .. nranks-1, for callers that count elsewhere; none where it is not
  /// exact.
  [[nodiscard]] std::optional<PlaceTable> expect_reduced(std::int64_t count, int nranks,
                                                         std::int64_t first) const;

  /// What it holds of what `rank` contributed.
  [[nodiscard]] PlaceTable expect_copied(std::int64_t count, int rank, std::int64_t first) const;

  /// How many elements differ from the reduction over ranks 0 .. nranks-1.
  [[nodiscard]] std::int64_t count_wrong_reduced(const std::byte* buffer, std::int64_t count,
                                                 int nranks, std::int64_t first) const;

  /// How many elements differ from what `rank` contributed.
  [[nodiscard]] std::int64_t count_wrong_copied(const std::byte* buffer, std::int64_t count,
                                                int rank, std::int64_t first) const;

 private:
  static constexpr std::size_t kClasses = 8;

  [[nodiscard]] PlaceTable place_table(std::int64_t count, std::int64_t first,
                                       const std::vector<std::byte>& values) const;
  [[nodiscard]] int value_of(int rank, std::size_t klass) const;
  /// The 8 values of one rank, each `size_of(type)` bytes, one after the other.
  [[nodiscard]] std::vector<std::byte> table_of(int rank) const;
  /// The 8 results of the reduction by this process, in the order of the ranks.
  [[nodiscard]] std::vector<std::byte> reduced_table(int nranks) const;
  /// The 8 results in real numbers: of sum, avg and mulsum.
  [[nodiscard]] std::array<double, kClasses> real_sums(int nranks) const;
  [[nodiscard]] bool is_exact(const std::array<double, kClasses>& sums, int nranks) const;
  [[nodiscard]] std::int64_t count_different(const std::byte* buffer, std::int64_t count,
                                             const std::vector<std::byte>& table,
                                             std::int64_t first) const;
  [[nodiscard]] std::int64_t count_far(const std::byte* buffer, std::int64_t count,
                                       const std::array<double, kClasses>& sums, int nranks,
                                       std::int64_t first) const;

  DataType type_;
  RedOp op_;
  std::uint64_t seed_;
};

}  // namespace ringside
