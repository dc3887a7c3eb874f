#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "diag/logparse/parse_logs.h"

namespace ringside::logs {

/// Counts unrecognised lines by their shape, with the first of each.
/// Memory is bounded: shapes beyond the thousandth are one shape, "(other shapes)".
class UnparsedShapes {
 public:
  void add(std::string_view text, Place place);
  void merge(const UnparsedShapes& later);
  /// Most frequent first, then in order of appearance.
  [[nodiscard]] std::vector<UnparsedShape> sorted() const;

 private:
  UnparsedShape& shape_of(std::string_view text, Place place);

  std::unordered_map<std::string, UnparsedShape> shapes_;
  std::string buffer_;
};

}  // namespace ringside::logs
