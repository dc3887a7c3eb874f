#include "sim/fabric/link_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/assert.h"
#include "base/text.h"

namespace ringside {
namespace {

constexpr int kMostNumber = 1 << 24;

Error no_pattern(std::string_view text, const std::string& what) {
  return {ErrorCode::InvalidArgument, fmt::format("link '{}': {}", text, what),
          "such as 'leaf 3 -> spine 2', 'leaf * <-> spine 2', 'host 5 nic 0 -> leaf 1'"};
}

/// Parses `leaf 3` or `host 5 nic *`.
Result<std::vector<LinkRule::Part>> parse_end(std::string_view all, std::string_view text) {
  std::istringstream words{std::string(text)};
  std::vector<LinkRule::Part> parts;
  for (std::string word, number; words >> word;) {
    LinkRule::Part part{.word = word, .number = {}};
    if (!(words >> number)) return no_pattern(all, fmt::format("'{}' needs its number", word));
    if (number != "*") {
      const auto value = parse_int(number);
      if (!value || *value < 0 || *value > kMostNumber) {
        return no_pattern(all, fmt::format("'{}' is neither a number nor *", number));
      }
      part.number = static_cast<int>(*value);
    }
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return no_pattern(all, "one end is missing");
  return parts;
}

bool fits_end(const std::vector<LinkRule::Part>& pattern, const FabricEnd& end) {
  return pattern.size() == end.count &&
         std::equal(pattern.begin(), pattern.end(), end.parts.begin(),
                    [](const LinkRule::Part& asked, const FabricEnd::Part& is) {
                      return asked.word == is.word && asked.number.value_or(is.number) == is.number;
                    });
}

}  // namespace

FabricEnd::FabricEnd(std::initializer_list<Part> some) : count(some.size()) {
  RINGSIDE_ASSERT(some.size() <= parts.size(), "{} words", some.size());
  std::ranges::copy(some, parts.begin());
}

std::string FabricEnd::text() const {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) {
    all += fmt::format("{}{} {}", i == 0 ? "" : " ", parts[i].word, parts[i].number);
  }
  return all;
}

bool LinkRule::fits(const FabricEnd& a, const FabricEnd& b, int number) const {
  if (link && *link != std::max(number, 0)) return false;
  return (fits_end(from, a) && fits_end(to, b)) ||
         (is_both_ways && fits_end(from, b) && fits_end(to, a));
}

Result<LinkRule> parse_link_rule(std::string_view text) {
  LinkRule rule;
  rule.text = text;
  const auto arrow = text.find("->");
  if (arrow == std::string_view::npos || text.find("->", arrow + 2) != std::string_view::npos) {
    return no_pattern(text, "it is not FROM -> TO");
  }
  rule.is_both_ways = arrow > 0 && text[arrow - 1] == '<';
  RINGSIDE_TRY(rule.from, parse_end(text, text.substr(0, rule.is_both_ways ? arrow - 1 : arrow)));
  RINGSIDE_TRY(rule.to, parse_end(text, text.substr(arrow + 2)));
  if (rule.to.back().word == "link") {
    rule.link = rule.to.back().number;
    rule.to.pop_back();
    if (rule.to.empty()) return no_pattern(text, "one end is missing");
  }
  return rule;
}

}  // namespace ringside
