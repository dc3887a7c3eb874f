#include "diag/logparse/row_matcher.h"

#include <algorithm>

#include "base/assert.h"
#include "diag/logparse/cursor.h"

namespace ringside::logs {
namespace {

char small_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool is_of_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }

std::size_t end_of_run(std::string_view text, std::size_t at, bool (*belongs)(char)) {
  while (at < text.size() && belongs(text[at])) ++at;
  return at;
}

bool is_of_name(char c) { return is_host(c); }
bool is_of_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_of_real(char c) { return is_digit(c) || c == '.' || c == 'e' || c == '-' || c == '+'; }
bool is_of_blank_free(char c) { return c != ' ' && c != '\t'; }

}  // namespace

const RowMatcher& RowMatcher::of_catalogue() {
  static const RowMatcher kMatcher(catalogue_rows());
  return kMatcher;
}

bool RowMatcher::parse(std::string_view text, Pattern& pattern) {
  pattern.is_open = text.starts_with("{}");
  if (pattern.is_open) text.remove_prefix(2);
  for (bool is_end = false; !is_end;) {
    Element element;
    const std::size_t open = text.find('{');
    is_end = open == std::string_view::npos;
    for (const char c : text.substr(0, open)) element.literal += small_letter(c);
    if (!is_end) {
      const std::size_t close = text.find('}', open);
      if (close == std::string_view::npos) return false;
      const std::string_view inside = text.substr(open + 1, close - open - 1);
      const std::size_t colon = inside.find(':');
      element.name = inside.substr(0, colon);
      element.hole = Hole::Text;
      if (colon != std::string_view::npos) {
        switch (inside.back()) {
          case 'd':
            element.hole = Hole::Number;
            break;
          case 'w':
            element.hole = Hole::Word;
            break;
          case 'h':
            element.hole = Hole::Name;
            break;
          case 'x':
            element.hole = Hole::Hex;
            break;
          case 'f':
            element.hole = Hole::Real;
            break;
          case '$':
            element.hole = Hole::End;
            break;
          default:
            return false;
        }
      }
      text = text.substr(close + 1);
    }
    pattern.elements.push_back(std::move(element));
  }
  return true;
}

std::string RowMatcher::problem_of(std::string_view text) {
  Pattern pattern;
  if (!parse(text, pattern)) return "a brace is not closed, or a field's type is unknown";
  if (pattern.elements.front().literal.empty())
    return "it begins with a field: no text says where to look";
  const bool has_piece =
      std::any_of(pattern.elements.begin(), pattern.elements.end(),
                  [](const Element& one) { return one.literal.size() >= PieceIndex::kShortest; });
  return has_piece ? "" : "no text in it has seven characters";
}

RowMatcher::RowMatcher(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    RINGSIDE_ASSERT(problem_of(row.pattern).empty(), "'{}': {}", row.pattern,
                    problem_of(row.pattern));
    Pattern pattern;
    parse(row.pattern, pattern);
    pattern.id = row.id;
    // A text in parentheses or a number continues a line.
    pattern.begins_lines =
        !row.is_general && row.program != "person" && is_letter(pattern.elements[0].literal[0]);
    const auto longest = std::max_element(
        pattern.elements.begin(), pattern.elements.end(),
        [](const Element& a, const Element& b) { return a.literal.size() < b.literal.size(); });
    pieces_.add(PieceIndex::rarest_piece(longest->literal),
                static_cast<std::uint16_t>(patterns_.size()));
    patterns_.push_back(std::move(pattern));
  }
  pieces_.finish();
}

/// Returns whether the pattern matches if its first text is at `at`.
bool RowMatcher::fits_at(const Pattern& pattern, std::string_view small, std::string_view line,
                         std::size_t at, std::vector<Captured>& fields) {
  fields.clear();
  const std::vector<Element>& elements = pattern.elements;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    if (small.substr(at, element.literal.size()) != element.literal) return false;
    at += element.literal.size();
    if (element.hole == Hole::None) {
      const bool is_within_word = !element.literal.empty() && is_of_word(element.literal.back()) &&
                                  at < small.size() && is_of_word(small[at]);
      return !is_within_word;
    }
    if (element.hole == Hole::End) return small.find_first_not_of(" \t\r", at) == small.npos;
    std::size_t end = at;
    switch (element.hole) {
      case Hole::Number: {
        const bool is_negative = end < small.size() && small[end] == '-';
        end = end_of_run(small, end + (is_negative ? 1 : 0), is_digit);
        if (end == at || (is_negative && end == at + 1)) return false;
        break;
      }
      case Hole::Name:
        end = end_of_run(small, at, is_of_name);
        // A name ends before the period of its sentence.
        while (end > at && (small[end - 1] == '.' || small[end - 1] == '-')) --end;
        break;
      case Hole::Hex:
        end = end_of_run(small, at, is_of_hex);
        break;
      case Hole::Real:
        end = end_of_run(small, at, is_of_real);
        break;
      default: {
        const std::string_view next = elements[i + 1].literal;
        if (next.empty()) {
          const bool is_last = elements[i + 1].hole == Hole::None;
          end = element.hole == Hole::Word ? end_of_run(small, at, is_of_blank_free)
                : is_last                  ? small.size()
                                           : at;
        } else {
          end = small.find(next, at);
        }
        if (end == std::string_view::npos) return false;
        if (element.hole == Hole::Word && contains(small.substr(at, end - at), ' ')) return false;
      }
    }
    if (end == at && element.hole != Hole::Text) return false;
    if (!element.name.empty()) fields.push_back({element.name, trimmed(line.substr(at, end - at))});
    at = end;
  }
  return false;
}

bool RowMatcher::find(const Pattern& pattern, std::string_view small, std::string_view line,
                      std::vector<Captured>& fields) {
  const std::string_view first = pattern.elements.front().literal;
  for (std::size_t at = small.find(first); at != std::string_view::npos;
       at = small.find(first, at + 1)) {
    const bool is_within_word =
        !pattern.is_open && at > 0 && is_of_word(first.front()) && is_of_word(small[at - 1]);
    if (!is_within_word && fits_at(pattern, small, line, at, fields)) return true;
  }
  return false;
}

namespace {

constexpr std::size_t kLongest = 8'192;  // longer lines are data

/// Returns the line in small letters, until the next call of this thread.
std::string_view in_small_letters(std::string_view line) {
  thread_local std::string small;
  small.resize(line.size());
  std::transform(line.begin(), line.end(), small.begin(), small_letter);
  return small;
}

}  // namespace

/// Returns the rows that may occur in a line, without duplicates.
const std::vector<std::uint16_t>& RowMatcher::candidates_of(std::string_view small) const {
  thread_local std::vector<std::uint16_t> candidates;
  candidates.clear();
  pieces_.search(small, candidates);
  PieceIndex::sort_unique(candidates);
  return candidates;
}

bool RowMatcher::begins(std::string_view line) const {
  line = line.substr(0, kLongest);
  const std::string_view small = in_small_letters(line);
  std::vector<Captured> fields;
  const auto& candidates = candidates_of(small);
  return std::any_of(candidates.begin(), candidates.end(), [&](std::uint16_t candidate) {
    return patterns_[candidate].begins_lines &&
           fits_at(patterns_[candidate], small, line, 0, fields);
  });
}

void RowMatcher::match(std::string_view line, std::vector<RowMatch>& matches) const {
  matches.clear();
  line = line.substr(0, kLongest);
  const std::string_view small = in_small_letters(line);
  const auto& candidates = candidates_of(small);
  RowMatch found;
  for (const std::uint16_t candidate : candidates) {
    const bool is_known = std::any_of(matches.begin(), matches.end(), [&](const RowMatch& match) {
      return patterns_[match.row].id == patterns_[candidate].id;
    });
    if (is_known || !find(patterns_[candidate], small, line, found.fields)) continue;
    found.row = candidate;
    matches.push_back(found);
  }
}

}  // namespace ringside::logs
