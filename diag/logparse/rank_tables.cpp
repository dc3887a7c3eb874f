#include "diag/logparse/rank_tables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "diag/logparse/cursor.h"

namespace ringside::logs {
namespace {

using Cells = std::vector<std::string_view>;

constexpr std::size_t kMostCells = 16;

std::string_view without_code(std::string_view cell) {
  cell = trimmed(cell);
  while (!cell.empty() && (cell.front() == '`' || cell.front() == '*')) cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == '`' || cell.back() == '*')) cell.remove_suffix(1);
  return trimmed(cell);
}

/// Splits `| a | b |`, or `a | b` as databases print it, into cells.  returns  empty: not a row
Cells barred_cells(std::string_view line) {
  Cells cells;
  std::string_view text = trimmed(line);
  if (text.size() < 3 || !contains(text, '|')) return cells;
  if (text.front() == '|') text.remove_prefix(1);
  if (text.ends_with('|')) text.remove_suffix(1);
  while (cells.size() < kMostCells) {
    const std::size_t bar = text.find('|');
    cells.push_back(without_code(text.substr(0, bar)));
    if (bar == std::string_view::npos) break;
    text.remove_prefix(bar + 1);
  }
  return cells;
}

/// Splits `a   b c   d` into cells, which are separated by at least two blanks; the first cell by any number.
Cells blank_cells(std::string_view line, std::size_t columns) {
  Cells cells;
  std::string_view text = trimmed(line);
  while (!text.empty() && cells.size() < kMostCells) {
    const bool is_last = cells.size() + 1 >= columns;
    const std::size_t end = is_last         ? std::string_view::npos
                            : cells.empty() ? text.find_first_of(" \t")
                                            : std::min(text.find("  "), text.find('\t'));
    cells.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text = trimmed_left(text.substr(end));
  }
  return cells;
}

bool is_rule(std::string_view line) {
  line = trimmed(line);
  return line.size() > 2 && contains(line, '-') &&
         line.find_first_not_of("|-:+= ") == std::string_view::npos;
}

bool is_rank_word(std::string_view cell) {
  const std::string small = lower_case(cell);
  return small == "rank" || small == "ranks" || small == "global rank" || small == "rank(s)";
}

/// Returns whether people use the name for ranks or for other numbers.
bool may_be_rank_word(std::string_view cell) {
  static constexpr std::array kNames = {
      std::string_view{"process"},    std::string_view{"proc"},      std::string_view{"worker"},
      std::string_view{"process id"}, std::string_view{"worker id"}, std::string_view{"process #"},
      std::string_view{"worker #"},   std::string_view{"proc id"}};
  return std::find(kNames.begin(), kNames.end(), lower_case(cell)) != kNames.end();
}

std::string_view without_rank_word(std::string_view cell) {
  for (const std::string_view word : {"ranks", "rank"}) {
    if (lower_case(cell.substr(0, word.size())) != word) continue;
    cell.remove_prefix(word.size());
    break;
  }
  return trimmed(cell);
}

/// `3`, `0-6`, `0, 1, 2`, `rank 3`, `Ranks 0-3`
bool is_rank_cell(std::string_view cell) {
  cell = without_rank_word(cell);
  return !cell.empty() && is_digit(cell.front()) &&
         cell.find_first_not_of("0123456789-, .") == std::string_view::npos;
}

bool is_number(std::string_view cell) {
  return !cell.empty() && cell.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns whether the cell has no meaning without its column's name: a number, or a word such as `tp0`.
bool needs_name(std::string_view header, std::string_view cell) {
  static constexpr std::array kNames = {
      std::string_view{"group"},         std::string_view{"pg"},
      std::string_view{"process group"}, std::string_view{"comm"},
      std::string_view{"communicator"},  std::string_view{"dtype"},
      std::string_view{"mesh"},          std::string_view{"axis"}};
  const bool is_value = !cell.empty() && is_digit(cell.front()) && is_digit(cell.back()) &&
                        cell.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_value || std::find(kNames.begin(), kNames.end(), lower_case(header)) != kNames.end();
}

/// Splits `a,b,c` into cells.  returns  empty: not a row
Cells comma_cells(std::string_view line) {
  Cells cells;
  std::string_view text = trimmed(line);
  if (text.find(',') == std::string_view::npos) return cells;
  while (cells.size() < kMostCells) {
    const std::size_t comma = text.find_first_of(",;");
    cells.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return cells;
}

/// Returns `pending` for a `no` below `returned?`, `done` for a `yes`, and other cells unchanged.
std::string_view state_of(std::string_view header, std::string_view cell) {
  static constexpr std::array kEnds = {std::string_view{"returned"}, std::string_view{"done"},
                                       std::string_view{"finished"}, std::string_view{"completed"},
                                       std::string_view{"ended"},    std::string_view{"came back"}};
  std::string name = lower_case(trimmed(header));
  while (name.ends_with('?')) name.pop_back();
  if (std::find(kEnds.begin(), kEnds.end(), std::string_view(name)) == kEnds.end()) return cell;
  const std::string value = lower_case(cell);
  if (value == "no" || value == "n" || value == "false") return "pending";
  return value == "yes" || value == "y" || value == "true" ? "done" : cell;
}

/// `rank 3: seq 811, read (socket.py:705)`
std::string row_text(const Cells& header, std::size_t rank_column, const Cells& cells) {
  const std::string_view rank = without_rank_word(cells[rank_column]);
  const bool are_many = rank.find_first_of("-,.") != std::string_view::npos;
  std::string text = std::string(are_many ? "ranks " : "rank ") + std::string(rank);
  const auto pid = std::find_if(header.begin(), header.end(),
                                [](std::string_view cell) { return lower_case(cell) == "pid"; });
  const auto pid_column = static_cast<std::size_t>(pid - header.begin());
  const bool has_pid = pid_column < cells.size() && is_number(cells[pid_column]);
  if (has_pid) text += " (pid " + std::string(cells[pid_column]) + ")";
  text += ":";
  bool is_first = true;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_empty = cells[i].empty() || cells[i] == "-";
    if (i == rank_column || is_empty || (has_pid && i == pid_column)) continue;
    text += is_first ? " " : ", ";
    if (i < header.size() && needs_name(header[i], cells[i])) text += lower_case(header[i]) + " ";
    text += i < header.size() ? state_of(header[i], cells[i]) : cells[i];
    is_first = false;
  }
  return is_first ? std::string{} : text;
}

std::size_t rank_column_of(const Cells& header) {
  const auto found = std::find_if(header.begin(), header.end(), is_rank_word);
  const auto other =
      found != header.end() ? found : std::find_if(header.begin(), header.end(), may_be_rank_word);
  return static_cast<std::size_t>(other - header.begin());
}

/// How a table separates its cells.
enum class Layout : std::uint8_t { Bars, Commas, Blanks };

/// The heading of a table.
struct Header {
  Layout layout = Layout::Blanks;
  Cells names;
  std::size_t rank_column = 0;
};

/// Splits a line into cells.  columns  of the table; with blanks, the last one takes the rest of the line
Cells cells_of(std::string_view line, Layout layout, std::size_t columns) {
  if (layout == Layout::Bars) return barred_cells(line);
  return layout == Layout::Commas ? comma_cells(line) : blank_cells(line, columns);
}

/// Returns the layout of a table that begins with this line.  next  the two lines after it
Layout layout_of(std::string_view line, std::string_view next, std::string_view next_but_one) {
  if (trimmed(line).starts_with('|') || (contains(line, '|') && is_rule(next))) return Layout::Bars;
  // A sentence may also contain commas, and the word `rank`: three lines in a row have equally many only in a table.
  const std::size_t fields = comma_cells(line).size();
  const bool is_list = fields > 2 && comma_cells(next).size() == fields &&
                       comma_cells(next_but_one).size() == fields;
  return is_list ? Layout::Commas : Layout::Blanks;
}

/// Returns whether the cells name columns. `rank 0 is stuck` heads no table; `p2p_seq_id` and `(default_pg, 2 nodes)`
/// name columns.
/// next  the line after the heading
bool are_names(const Header& header, std::string_view line, std::string_view next) {
  switch (header.layout) {
    case Layout::Bars:
      return std::none_of(header.names.begin(), header.names.end(), is_rank_cell) && is_rule(next);
    case Layout::Commas:
      return std::none_of(header.names.begin(), header.names.end(), is_number);
    default:
      break;
  }
  const std::string_view text = trimmed(line);
  return line.find_first_of("0123456789") == std::string_view::npos &&
         (text.find_first_of("\t|") != std::string_view::npos || contains(text, "  ") ||
          is_rule(next));
}

/// Reads the heading of a table of ranks.  returns  nothing: the line is not a heading
std::optional<Header> header_at(const std::vector<std::string_view>& lines, std::size_t at) {
  Header header;
  header.layout = layout_of(lines[at], lines[at + 1], lines[at + 2]);
  header.names = cells_of(lines[at], header.layout, kMostCells);
  header.rank_column = rank_column_of(header.names);
  if (header.rank_column == header.names.size() || header.names.size() < 2) return std::nullopt;
  // With blanks, columns are known by position only, so the ranks must be in the first.
  if (header.layout == Layout::Blanks && header.rank_column != 0) return std::nullopt;
  return are_names(header, lines[at], lines[at + 1]) ? std::optional(header) : std::nullopt;
}

/// Returns the rows of lines that were not wrapped.
std::vector<std::string> rows_of_lines(const std::vector<std::string_view>& lines) {
  std::vector<std::string> rows(lines.size());
  for (std::size_t at = 0; at + 2 < lines.size(); ++at) {
    const std::optional<Header> header = header_at(lines, at);
    if (!header) continue;
    const std::size_t column = header->rank_column;
    const std::size_t first = at + (is_rule(lines[at + 1]) ? 2 : 1);
    std::size_t row = first;
    std::set<std::int64_t> ranks;
    for (; row < lines.size(); ++row) {
      const Cells cells = cells_of(lines[row], header->layout, header->names.size());
      if (cells.size() <= std::max<std::size_t>(column, 1) || !is_rank_cell(cells[column])) break;
      rows[row] = row_text(header->names, column, cells);
      std::int64_t rank = -1;
      const std::string_view cell = cells[column];
      const auto end = std::from_chars(cell.data(), cell.data() + cell.size(), rank);
      if (end.ec == std::errc() && end.ptr == cell.data() + cell.size()) ranks.insert(rank);
    }
    constexpr std::size_t kFewest = 2;
    // A column of processes contains ranks if it counts from 0, with one process in each row.
    const bool are_ranks = is_rank_word(header->names[column]) ||
                           (!ranks.empty() && ranks.size() == row - first && *ranks.begin() == 0 &&
                            *ranks.rbegin() + 1 == static_cast<std::int64_t>(ranks.size()));
    if (row < first + kFewest || !are_ranks)
      std::fill(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(), "");
    at = row - 1;
  }
  return rows;
}

}  // namespace

std::vector<std::string> rank_rows(const std::vector<std::string_view>& lines) {
  std::vector<std::string_view> own;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = trimmed(lines[i]);
    if (!text.empty() && text.find_first_not_of('.') == std::string_view::npos) continue;
    own.push_back(lines[i]);
    places.push_back(i);
  }
  std::vector<std::string> rows(lines.size());
  std::vector<std::string> found = rows_of_lines(own);
  for (std::size_t i = 0; i < found.size(); ++i) rows[places[i]] = std::move(found[i]);
  return rows;
}

}  // namespace ringside::logs
