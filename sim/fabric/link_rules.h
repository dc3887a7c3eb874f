#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ringside {

/// The name of a cable's end: `host 3 nic 1`, `pod 2 spine 5`.
struct FabricEnd {
  struct Part {
    std::string_view word;  ///< a string literal
    int number = 0;
  };
  std::array<Part, 3> parts = {};
  std::size_t count = 0;

  FabricEnd() = default;
  FabricEnd(std::initializer_list<Part> some);

  [[nodiscard]] std::string text() const;
};

/// A pattern of links, and the share of their rate that remains.
///
///   host 3 nic 1 -> leaf 0      one direction of a cable
///   leaf 3 <-> spine *          both directions; * is any number
///   leaf 3 -> spine 2 link 1    one of several parallel cables; without `link` all of them
struct LinkRule {
  struct Part {
    std::string word;
    std::optional<int> number;  ///< none: any number
  };
  std::vector<Part> from, to;
  std::optional<int> link = {};
  bool is_both_ways = false;
  double share = 1;   ///< 0: down
  std::string text;   ///< the rule in the file
  std::string where;  ///< file:line, for messages

  /// Returns whether the rule is about the link from `a` to `b`.
  /// number  index of the link among parallel cables; -1: the only cable, which counts as link 0
  [[nodiscard]] bool fits(const FabricEnd& a, const FabricEnd& b, int number) const;
};

/// Parses the pattern. The caller sets `share` and `where`.
/// errors  InvalidArgument: malformed pattern
Result<LinkRule> parse_link_rule(std::string_view text);

}  // namespace ringside
