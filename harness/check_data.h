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

/// Test data with exactly predictable reductions, if the type allows it, in any order of
/// operations. Values are small whole numbers that depend on the rank and on a hash of the
/// position, so a misplaced or repeated element is detected.
///
/// An element's value is one of 8 classes, chosen by position; so 8 expected results serve the
/// whole buffer.
///
/// Exact      integers; prod (of ones and twos), min and max; sum and mulsum while the result S is
///            at most 2^p, p the type's precision; avg under that condition if n is a power of two
/// Otherwise  each of the n - 1 additions, and of avg's scalings, may be off by half a unit in the
///            last place; an element may be off by n units in the last place of S * (1 + 2^-p)^n.
///            For 8-bit types this exceeds one rank's contribution: the check finds garbage, but
///            not a missing rank.
class CheckData {
 public:
  CheckData(DataType type, RedOp op, std::uint64_t seed) : type_(type), op_(op), seed_(seed) {}

  /// Writes the contribution of `rank` at positions first .. first + count - 1 of the logical
  /// buffer.
  void fill(std::byte* buffer, std::int64_t count, int rank, std::int64_t first) const;

  /// Returns the factor of `rank` in a mulsum, 1 or 2 as in nccl-tests; none for other operations.
  [[nodiscard]] std::optional<ElementBits> scalar_of(int rank) const;

  /// Returns the expected buffer after the reduction over ranks 0 .. nranks-1, for callers that
  /// count elsewhere; none if the result is not exact.
  [[nodiscard]] std::optional<PlaceTable> expect_reduced(std::int64_t count, int nranks,
                                                         std::int64_t first) const;

  /// Returns the expected buffer with a copy of the contribution of `rank`.
  [[nodiscard]] PlaceTable expect_copied(std::int64_t count, int rank, std::int64_t first) const;

  /// Counts the elements that differ from the reduction over ranks 0 .. nranks-1.
  [[nodiscard]] std::int64_t count_wrong_reduced(const std::byte* buffer, std::int64_t count,
                                                 int nranks, std::int64_t first) const;

  /// Counts the elements that differ from the contribution of `rank`.
  [[nodiscard]] std::int64_t count_wrong_copied(const std::byte* buffer, std::int64_t count,
                                                int rank, std::int64_t first) const;

 private:
  static constexpr std::size_t kClasses = 8;

  [[nodiscard]] PlaceTable place_table(std::int64_t count, std::int64_t first,
                                       const std::vector<std::byte>& values) const;
  [[nodiscard]] int value_of(int rank, std::size_t klass) const;
  /// Returns the 8 values of one rank, each `size_of(type)` bytes, one after the other.
  [[nodiscard]] std::vector<std::byte> table_of(int rank) const;
  /// Returns the 8 results of the reduction as this process computes them, in the order of the
  /// ranks.
  [[nodiscard]] std::vector<std::byte> reduced_table(int nranks) const;
  /// Returns the 8 results of sum, avg or mulsum in real numbers.
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
