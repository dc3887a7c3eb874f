#include "diag/hangdetect/readers/last_lines.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "diag/logparse/cursor.h"

namespace ringside::hang {
namespace {

using logs::is_digit;
using logs::is_letter;

/// A line's words with `#` for each number, and the numbers.
struct Masked {
  std::string words;
  std::vector<std::string> numbers;
};

Masked masked(std::string_view text) {
  Masked out;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at])) {
      out.words += text[at++];
      continue;
    }
    std::size_t end = at;
    while (end < text.size() &&
           (is_digit(text[end]) ||
            (text[end] == '.' && end + 1 < text.size() && is_digit(text[end + 1]))))
      ++end;
    out.words += '#';
    out.numbers.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

/// Returns the word before the n-th number: `src` of `broadcast(src=#)`.
std::string field_of(const std::string& words, std::size_t number) {
  std::size_t at = 0;
  for (std::size_t i = 0;; ++i) {
    at = words.find('#', at);
    if (at == std::string::npos || i == number) break;
    ++at;
  }
  if (at == std::string::npos) return {};
  std::size_t end = at;
  while (end > 0 && !is_letter(words[end - 1]) && words[end - 1] != '#') --end;
  std::size_t begin = end;
  while (begin > 0 && (is_letter(words[begin - 1]) || words[begin - 1] == '_')) --begin;
  return lower_case(std::string_view(words).substr(begin, end - begin));
}

/// Few compared with the rest: a quarter, or one of three.
bool are_few(std::size_t some, std::size_t all) {
  return some * 4 <= all || (some == 1 && all >= 3);
}

/// Returns the few whose value differs from that of most.
template <typename Value>
OddLine split(const std::map<Value, std::vector<int>>& sides, std::size_t all) {
  if (sides.size() < 2) return {};
  const auto most = std::max_element(sides.begin(), sides.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
  OddLine out;
  for (const auto& [value, ranks] : sides) {
    auto& side = value == most->first ? out.rest : out.odd;
    side.insert(side.end(), ranks.begin(), ranks.end());
  }
  if (out.rest.size() < 2 || !are_few(out.odd.size(), all)) return {};
  std::sort(out.odd.begin(), out.odd.end());
  std::sort(out.rest.begin(), out.rest.end());
  return out;
}

/// Returns whether the text before `rank 3` makes it the object of a sentence: `waiting for rank 3 to arrive`. `hello from
/// rank 3` and `running on rank 3` name the writer.
bool is_object(std::string_view before) {
  static constexpr std::array kRelations = {std::string_view{"for"},   std::string_view{"to"},
                                            std::string_view{"with"},  std::string_view{"by"},
                                            std::string_view{"after"}, std::string_view{"before"},
                                            std::string_view{"than"}};
  if (!before.ends_with(' ')) return false;
  before = logs::trimmed(before);
  std::size_t begin = before.size();
  while (begin > 0 && is_letter(before[begin - 1])) --begin;
  const std::string word = lower_case(before.substr(begin));
  return std::find(kRelations.begin(), kRelations.end(), word) != kRelations.end();
}

}  // namespace

RankedLine read_ranked_line(std::string_view line) {
  constexpr std::size_t kNear = 40;  // characters. Chosen: a time and a tag may be before the rank
  const std::string_view head = line.substr(0, kNear);
  RankedLine out;
  bool is_writer = false;
  std::size_t behind = 0;
  for (const std::string_view word : {"rank", "Rank", "RANK"}) {
    for (std::size_t at = head.find(word); at != std::string_view::npos;
         at = head.find(word, at + 1)) {
      // `local_rank`, `ranks` and `the rank` are other words, or a person's prose.
      const bool is_word = at == 0 || (!is_letter(head[at - 1]) && head[at - 1] != '_');
      std::size_t end = at + word.size();
      while (end < head.size() && (head[end] == ' ' || head[end] == '=' || head[end] == ':')) ++end;
      const std::size_t digits = end;
      int rank = 0;
      constexpr int kMost = 1 << 20;
      while (end < line.size() && is_digit(line[end]) && rank < kMost)
        rank = rank * 10 + (line[end++] - '0');
      if (!is_word || end == digits || rank >= kMost) continue;
      // With two names, `rank0.log:  [rank 0]`, both belong to the line if they agree.
      if (out.rank >= 0 && out.rank != rank) return {};
      out.rank = rank;
      is_writer |= !is_object(head.substr(0, at));
      behind = std::max(behind, end);
    }
  }
  if (!is_writer) return {};
  const std::size_t begin = line.find_first_not_of("])>:|, \t-", behind);
  if (begin != std::string_view::npos) out.text = line.substr(begin);
  return out;
}

OddLine odd_line_out(const std::map<int, LastLine>& lines) {
  constexpr std::size_t kFewest = 3;  // of two ranks, either may be the odd one
  if (lines.size() < kFewest) return {};
  std::map<int, Masked> by_rank;
  std::map<std::string, std::vector<int>> words;
  for (const auto& [rank, line] : lines) {
    Masked one = masked(line.text);
    words[one.words].push_back(rank);
    by_rank.emplace(rank, std::move(one));
  }
  if (words.size() > 1) return split(words, lines.size());
  const Masked& first = by_rank.begin()->second;
  for (std::size_t number = 0; number < first.numbers.size(); ++number) {
    std::map<std::string, std::vector<int>> values;
    for (const auto& [rank, one] : by_rank) values[one.numbers[number]].push_back(rank);
    OddLine out = split(values, lines.size());
    if (out.odd.empty()) continue;
    out.field = field_of(first.words, number);
    // A rank in an earlier call than the others has not arrived; a rank in a later call shows nothing.
    if (out.field.starts_with("seq")) {
      const std::string& few = by_rank.at(out.odd.front()).numbers[number];
      const std::string& most = by_rank.at(out.rest.front()).numbers[number];
      if (std::pair(few.size(), few) < std::pair(most.size(), most)) return out;
    }
    constexpr std::array kArguments = {"src", "root", "dst", "shape", "numel", "size", "count"};
    // Progress is judged elsewhere, and a loss or a time may have any value.
    if (std::find(kArguments.begin(), kArguments.end(), out.field) != kArguments.end()) return out;
  }
  return {};
}

}  // namespace ringside::hang
