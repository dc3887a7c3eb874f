#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "diag/logparse/parse_logs.h"

namespace ringside::logs {

/// Counts unrecognised lines by shape and keeps the first line of each shape.
///
/// Memory  bounded: after 1,000 shapes, new shapes are counted as "(other shapes)"
class UnparsedShapes {
 public:
  void add(std::string_view text, Place place);
  void merge(const UnparsedShapes& later);
  /// Returns the shapes, the most frequent first, then in order of appearance.
  [[nodiscard]] std::vector<UnparsedShape> sorted() const;

 private:
  UnparsedShape& shape_of(std::string_view text, Place place);

  std::unordered_map<std::string, UnparsedShape> shapes_;
  std::string buffer_;
};

}  // namespace ringside::logs
