#include "diag/logparse/labels.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "diag/logparse/cursor.h"

namespace ringside::logs {
namespace {

/// A label that precedes a program's text, in the form of names of pods and hosts: `train-worker-0 `, `trainer_1  | `,
/// `ip-10-0-0-1: `.
struct Label {
  std::size_t size = 0;   ///< 0: there is no label
  std::string_view host;  ///< if the label is a name with a colon
  bool has_bar = false;
};

/// Returns whether the text continues like the rest of NCCL's own prefix: `node-2 [3] NCCL INFO`, `n01:411:980 [3]
/// NCCL INFO`.
bool goes_on_as_prefix(std::string_view rest) {
  if (rest.starts_with("NCCL ")) return false;
  constexpr std::size_t kNear = 100;
  // A device, and no time of day.
  const std::size_t end = rest.find_first_not_of("0123456789", 1);
  return rest.size() > 1 && rest.front() == '[' && end > 1 && end < rest.size() &&
         rest[end] == ']' && contains(rest.substr(0, kNear), "NCCL ");
}

Label label_of(std::string_view text) {
  Label label;
  std::size_t end = 0;
  bool has_hyphen = false;
  bool has_digit = false;
  bool has_underscore = false;
  while (end < text.size() && (is_host(text[end]) || text[end] == '/')) {
    has_hyphen |= text[end] == '-';
    has_underscore |= text[end] == '_';
    has_digit |= is_digit(text[end]);
    ++end;
  }
  if (end < 2 || !is_letter(text.front())) return label;
  std::size_t behind = end;
  if (behind < text.size() && text[behind] == ':') ++behind;
  const bool has_colon = behind > end;
  if (behind < text.size() && text[behind] != ' ') return label;
  const std::size_t next = text.find_first_not_of(' ', behind);
  // A single word heads the row of a table. stern and similar tools print pod and container before the bar.
  std::size_t bar = next;
  if (next != std::string_view::npos && next > end && text[next] != '|') {
    const std::size_t word = text.find(' ', next);
    bar = word == std::string_view::npos ? word : text.find_first_not_of(' ', word);
  }
  if (bar != std::string_view::npos && bar < text.size() && text[bar] == '|' && bar > end &&
      (has_hyphen || has_underscore || has_digit)) {
    label.size = bar + 1 < text.size() && text[bar + 1] == ' ' ? bar + 2 : bar + 1;
    label.has_bar = true;
    return label;
  }
  if (end < 3 || !has_hyphen || !has_digit) return label;
  const std::string_view rest =
      next == std::string_view::npos ? std::string_view{} : text.substr(next);
  // A pod with its number of ready containers is also a row: `trainer-3   0/1   OOMKilled`.
  const bool is_pod =
      rest.size() > 3 && is_digit(rest[0]) && rest[1] == '/' && is_digit(rest[2]) && rest[3] == ' ';
  // Rows such as `trainer-2   Evicted`; text that is indented after a label stays indented.
  static constexpr auto kStates = std::to_array<std::string_view>(
      {"Running", "Evicted", "Completed", "Error", "Pending", "OOMKilled", "Failed", "CrashLoop"});
  const bool is_state = next > behind + 1 && starts_with_any(rest, kStates);
  if (is_pod || is_state) return label;
  // `n-1: rank 3 died` was written by a program.
  if ((has_colon && rest.starts_with("rank ")) || goes_on_as_prefix(rest)) return label;
  // `n-1: Test CUDA failure` was written by nccl-tests.
  if (has_colon && rest.starts_with("Test ")) return label;
  label.size = std::min(behind + 1, text.size());
  if (has_colon) label.host = text.substr(0, end);
  return label;
}

/// Names that differ in their numbers are of one shape; before a bar, all are.
std::string shape_of(std::string_view text, const Label& label) {
  if (label.has_bar) return "|";
  std::string shape;
  for (const char c : trimmed(text.substr(0, label.size))) {
    if (!is_digit(c)) {
      shape += c;
    } else if (shape.empty() || shape.back() != '#') {
      shape += '#';
    }
  }
  return shape;
}

/// Returns the first word of a line if it has the form of a container's name and is not the first word of a program's
/// text.
std::string_view container_of(std::string_view text) {
  const std::size_t end = text.find(' ');
  if (end == std::string_view::npos || end < 2 || !is_letter(text.front())) return {};
  const std::string_view word = text.substr(0, end);
  const bool is_name = std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-';
  });
  for (const std::string_view own :
       {"step", "iter", "iteration", "epoch", "rank", "loss", "batch"}) {
    if (word == own) return {};
  }
  return is_name ? word : std::string_view();
}

/// Returns the rank that a line begins with: `[rank 1/4] step 5300`, `[rank1] x`, `rank 1: x`.  returns  -1: none
std::int32_t own_rank(std::string_view text) {
  Cursor line(text);
  const bool is_open = line.eat('[');
  if (!line.eat("rank") && !line.eat("Rank")) return -1;
  if (line.peek() == ' ' || line.peek() == '=') line.skip(1);
  std::int32_t rank = -1;
  if (!is_digit(line.peek()) || !line.number(rank)) return -1;
  const bool is_closed = is_open ? line.peek() == ']' || line.peek() == '/' : line.peek() == ':';
  return is_closed ? rank : -1;
}

/// Returns `3` for `r3` and `rank3`, with which people label lines of ranks.  returns  -1: another name
std::int32_t rank_of_label(std::string_view name) {
  const std::size_t digits = name.find_first_of("0123456789");
  const std::string_view word = name.substr(0, digits);
  if (digits == std::string_view::npos || (word != "r" && word != "R" && word != "rank")) return -1;
  Cursor cursor(name.substr(digits));
  std::int32_t rank = -1;
  return cursor.number(rank) && cursor.is_done() ? rank : -1;
}

/// If some lines show which rank each of several containers belongs to, the container's other lines belong to that
/// rank too.
void give_ranks(std::vector<UndressedLine>& lines, const std::vector<std::string>& names) {
  std::map<std::string, std::int32_t> rank_of;  // -1: of several
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::int32_t rank = names[i].empty() ? -1 : own_rank(trimmed_left(lines[i].text));
    if (rank < 0) rank = rank_of_label(names[i]);
    if (rank < 0) continue;
    const auto [known, is_new] = rank_of.try_emplace(names[i], rank);
    if (!is_new && known->second != rank) known->second = -1;
  }
  std::map<std::int32_t, int> names_of;
  for (const auto& [name, rank] : rank_of) ++names_of[rank];
  if (rank_of.size() < 2) return;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto known = rank_of.find(names[i]);
    if (known != rank_of.end() && known->second >= 0 && names_of[known->second] == 1)
      lines[i].rank = known->second;
  }
}

/// Removes container names, which follow the pod's name and are the same in nearly all lines.
void take_containers(std::vector<UndressedLine>& lines, const std::vector<bool>& labelled) {
  constexpr std::size_t kFewest = 4;
  std::map<std::string, std::size_t, std::less<>> counts;
  std::size_t all = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!labelled[i] || lines[i].is_gap) continue;
    ++all;
    if (const std::string_view word = container_of(lines[i].text); !word.empty())
      ++counts[std::string(word)];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (all < kFewest || most == counts.end() || most->second * 10 < all * 9) return;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!labelled[i] || container_of(lines[i].text) != most->first) continue;
    lines[i].text.erase(0, most->first.size() + 1);
    lines[i].is_gap = is_gap(trimmed(lines[i].text));
  }
}

}  // namespace

bool take_labels(std::vector<UndressedLine>& lines) {
  std::map<std::string, std::size_t> shapes;
  std::size_t all = 0;
  for (const UndressedLine& line : lines) {
    if (line.is_gap) continue;
    ++all;
    const Label label = label_of(line.text);
    if (label.size > 0) ++shapes[shape_of(line.text, label)];
  }
  constexpr std::size_t kMostOf = 6, kTen = 10;
  std::erase_if(shapes, [&](const auto& shape) { return shape.second * kTen < all * kMostOf; });
  if (shapes.empty()) return false;
  std::vector<bool> labelled(lines.size());
  std::vector<std::string> names(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    UndressedLine& line = lines[i];
    if (line.is_gap) continue;
    Label label = label_of(line.text);
    if (label.has_bar && shapes.count(shape_of(line.text, label)) == 0) {
      // The bar belongs to the line, and a row begins with it.
      label.size = std::min(line.text.find(' ') + 1, label.size);
      label.has_bar = false;
    }
    if (label.size == 0 || shapes.count(shape_of(line.text, label)) == 0) continue;
    if (!label.host.empty()) line.host = label.host;
    names[i] = trimmed(line.text.substr(0, line.text.find_first_of(" :|")));
    line.text.erase(0, label.size);
    line.is_gap = is_gap(trimmed(line.text));
    labelled[i] = !label.has_bar && label.host.empty();
  }
  take_containers(lines, labelled);
  give_ranks(lines, names);
  return true;
}

namespace {

/// Returns the number that a viewer prints before every line: `[70746] `, `  12: `, `12 | `.  returns  -1: none
std::int64_t viewer_number(std::string_view line, std::size_t& size) {
  const std::string_view text = trimmed_left(line);
  Cursor cursor(text);
  std::int64_t number = -1;
  const bool is_open = cursor.eat('[');
  constexpr std::int64_t kMost = 999'999'999;
  if (!is_digit(cursor.peek()) || !cursor.number(number) || number > kMost) return -1;
  if (is_open && !cursor.eat(']')) return -1;
  const std::string_view rest = cursor.rest();
  const bool is_closed = is_open || rest.starts_with(':') || rest.starts_with('|') ||
                         rest.starts_with(" |") || rest.starts_with("  ");
  // In `[3] NCCL INFO` the number is a device.
  if (!is_closed || goes_on_as_prefix(text)) return -1;
  const std::size_t end = rest.find_first_not_of(" :|");
  size = line.size() - (end == std::string_view::npos ? 0 : rest.size() - end);
  return number;
}

}  // namespace

void take_viewer_numbers(std::vector<UndressedLine>& lines) {
  std::size_t all = 0;
  std::size_t in_order = 0;
  std::int64_t last = -2;
  for (const UndressedLine& line : lines) {
    if (line.is_gap) continue;
    ++all;
    std::size_t size = 0;
    const std::int64_t number = viewer_number(line.text, size);
    if (all == 1 && number == 0) return;
    if (number >= 0 && (number == last + 1 || all == 1)) ++in_order;
    last = number;
  }
  if (all < 3 || in_order * 10 < all * 8) return;
  for (UndressedLine& line : lines) {
    std::size_t size = 0;
    if (viewer_number(line.text, size) >= 0) line.text.erase(0, size);
  }
}

}  // namespace ringside::logs
