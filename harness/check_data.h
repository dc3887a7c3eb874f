#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/vocabulary.h"

namespace ringside {

/// Data whose reductions come out exactly, whatever the order: small whole numbers that depend on the
/// rank and, through a mixed hash, on the place in the buffer, so that an element which ends up at
/// another place, or twice, shows.
///
/// Every element's value is one of 8 classes of its place; a table of the 8 expected results serves the
/// whole buffer.
class CheckData {
 public:
  CheckData(DataType type, RedOp op, std::uint64_t seed) : type_(type), op_(op), seed_(seed) {}

  /// Writes what `rank` contributes at places first .. first + count - 1 of the logical buffer.
  void fill(std::byte* buffer, std::int64_t count, int rank, std::int64_t first) const;

  /// How many elements differ from the reduction over ranks 0 .. nranks-1.
  [[nodiscard]] std::int64_t count_wrong_reduced(const std::byte* buffer, std::int64_t count,
                                                 int nranks, std::int64_t first) const;

  /// How many elements differ from what `rank` contributed.
  [[nodiscard]] std::int64_t count_wrong_copied(const std::byte* buffer, std::int64_t count,
                                                int rank, std::int64_t first) const;

  /// errors  Unsupported: the type or the reduction has no host kernel
  [[nodiscard]] Status check_supported() const;

 private:
  /// The 8 values of one rank, each `size_of(type)` bytes, one after the other.
  [[nodiscard]] std::vector<std::byte> table_of(int rank) const;
  [[nodiscard]] std::int64_t count_wrong(const std::byte* buffer, std::int64_t count,
                                         const std::vector<std::byte>& table,
                                         std::int64_t first) const;

  DataType type_;
  RedOp op_;
  std::uint64_t seed_;
};

}  // namespace ringside
