#include "diag/logparse/undress.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "diag/logparse/cursor.h"
#include "diag/logparse/frame_line.h"
#include "diag/logparse/headings.h"
#include "diag/logparse/labels.h"
#include "diag/logparse/nccl_prefix.h"
#include "diag/logparse/paste.h"
#include "diag/logparse/rank_tables.h"
#include "diag/logparse/source_text.h"
#include "diag/logparse/wrappers.h"

namespace ringside::logs {
namespace {

/// Characters that word processors, chats and web pages substitute, and the originals.
struct Typeset {
  std::string_view is, was;
};
constexpr std::array kTypeset = {
    Typeset{"\u2502", "|"},  Typeset{"\u00a0", " "},  Typeset{"\u2007", " "},
    Typeset{"\u202f", " "},  Typeset{"\u200b", ""},   Typeset{"\u200c", ""},
    Typeset{"\u200d", ""},   Typeset{"\u2060", ""},   Typeset{"\ufeff", ""},
    Typeset{"\u2018", "'"},  Typeset{"\u2019", "'"},  Typeset{"\u201c", "\""},
    Typeset{"\u201d", "\""}, Typeset{"&lt;", "<"},    Typeset{"&gt;", ">"},
    Typeset{"&amp;", "&"},   Typeset{"&quot;", "\""}, Typeset{"&#39;", "'"},
    Typeset{"&nbsp;", " "}};

const Typeset* typeset_at(std::string_view text) {
  const auto row = std::find_if(kTypeset.begin(), kTypeset.end(),
                                [&](const Typeset& one) { return text.starts_with(one.is); });
  return row == kTypeset.end() ? nullptr : &*row;
}

/// Removes escape sequences of a terminal, other control characters, and typesetting.
std::string without_colours(std::string_view line) {
  const bool is_clean = std::none_of(line.begin(), line.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < ' ' || byte >= 127 || c == '&';
  });
  if (is_clean) return std::string(line);
  std::string clean;
  clean.reserve(line.size());
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    const bool may_be_typeset = c == '\xc2' || c == '\xe2' || c == '\xef' || c == '&';
    if (const Typeset* set = may_be_typeset ? typeset_at(line.substr(at)) : nullptr) {
      clean += set->was;
      at += set->is.size() - 1;
      continue;
    }
    if (c == '\x1b') {
      if (at + 1 >= line.size() || line[at + 1] != '[') continue;
      at += 2;
      while (at < line.size() && !(line[at] >= '@' && line[at] <= '~')) ++at;
    } else if (static_cast<unsigned char>(c) >= ' ' || c == '\t') {
      if (c != 127) clean += c;
    }
  }
  return clean;
}

/// Removes `> ` of quotations, which may be nested. A shell's `>`, and `>` within a text, has no blank after it.
std::string_view without_quotes(std::string_view line, std::uint32_t* quotes = nullptr) {
  for (std::string_view rest = line;;) {
    const std::size_t first = rest.find_first_not_of(' ');
    if (first == std::string_view::npos || rest[first] != '>') return line;
    rest.remove_prefix(first + 1);
    if (!rest.empty() && rest.front() != ' ' && rest.front() != '>') return line;
    if (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    line = rest;
    if (quotes != nullptr) ++*quotes;
  }
}

/// `12:00:01`, `12:00:01.123`: a clock without a day.
bool is_clock(std::string_view text) {
  constexpr std::size_t kClock = 8;
  if (text.size() < kClock || text[2] != ':' || text[5] != ':') return false;
  return text.find_first_not_of("0123456789:.,") == std::string_view::npos;
}

/// Returns the cell that the stack wrote in `| 12:00:01 | worker-3 | NCCL WARN ... |`; the whole line if there is
/// none.
std::string_view cell_of(std::string_view line, std::string& stamp) {
  std::string_view rest = line.substr(1);
  const std::size_t first = rest.find('|');
  const std::string_view head = trimmed(rest.substr(0, first));
  std::int64_t time = 0;
  const bool is_time = !head.empty() && (read_time(head, time) == head.size() || is_clock(head));
  if (first != std::string_view::npos && is_time) {
    if (time != 0) stamp = head;
    rest.remove_prefix(first + 1);
    if (rest.starts_with(' ')) rest.remove_prefix(1);  // indented text stays indented
    rest = trimmed_right(rest);
    if (rest.ends_with('|')) rest.remove_suffix(1);
    return trimmed_right(rest);
  }
  while (!rest.empty()) {
    const std::size_t bar = rest.find('|');
    const std::string_view cell = trimmed(rest.substr(0, bar));
    if (is_of_stack(cell)) {
      // A bar in the text itself does not end a cell: the last bar ends the row.
      std::string_view whole = trimmed_right(rest);
      if (whole.ends_with('|')) whole.remove_suffix(1);
      return trimmed(whole);
    }
    if (bar == std::string_view::npos) break;
    rest.remove_prefix(bar + 1);
  }
  return line;
}

/// Removes Markdown around a line.
std::string_view without_markup(std::string_view line, std::string& stamp) {
  const std::string_view text = trimmed(line);
  if (text.starts_with("```") || text.starts_with("~~~")) return {};
  if (text.starts_with('|')) {
    const std::string_view cell = cell_of(text, stamp);
    if (cell != text) return cell;
  }
  const bool is_item = text.starts_with("- ") || text.starts_with("* ");
  const std::string_view item = is_item ? trimmed_left(text.substr(2)) : text;
  // Code markup is removed if it encloses the whole line, and always in a list item.
  const bool is_code = item.size() > 2 && item.starts_with('`') &&
                       (is_item ? item.find('`', 1) == item.size() - 1 : is_of_stack(item));
  if (is_code) {
    std::string_view inside = item.substr(1);
    if (inside.ends_with('`')) inside.remove_suffix(1);
    return inside;
  }
  return is_item && is_of_stack(text) ? item : line;
}

UndressedLine undressed(std::string_view raw) {
  UndressedLine line;
  while (!raw.empty() && raw.back() == '\r') raw.remove_suffix(1);
  // A progress bar redraws itself within a line, which its parser splits. Binary text stays unchanged.
  if (raw.find_first_of(std::string_view("\r\0", 2)) != std::string_view::npos) {
    line.text = raw;
    line.columns = columns_of(raw);
    return line;
  }
  const std::string clean = without_colours(raw);
  std::string_view inside = trimmed_right(without_quotes(clean, &line.quotes));
  for (const std::string_view end : {"<br>", "<br/>", "<br />"}) {
    if (inside.ends_with(end)) inside = trimmed_right(inside.substr(0, inside.size() - end.size()));
  }
  line.columns = columns_of(inside);
  line.is_indented = inside.starts_with(' ');
  line.text = without_markup(inside, line.stamp);
  const bool is_fence = line.text.empty();
  line.is_gap = is_fence || is_gap(trimmed(line.text));
  return line;
}

/// Returns whether the text is a time, or a number of seconds or milliseconds since 1970.
bool is_time_column(std::string_view text) {
  std::int64_t time = 0;
  const std::size_t size = read_time(text, time);
  if (size > 0 && size == text.size()) return true;
  constexpr std::size_t kSeconds = 10, kNanoseconds = 19;
  return text.size() >= kSeconds && text.size() <= kNanoseconds &&
         std::all_of(text.begin(), text.end(), is_digit);
}

/// Returns the size of the columns before the text: up to the last of the first `most` tabs, as in
/// `TIME<TAB>STREAM<TAB>` of `aws logs tail` and of spreadsheets.
/// returns  0: there are none, or the first column is not a time; the size of the line if it ends before its text
std::size_t tab_columns(std::string_view text, std::size_t most) {
  std::size_t end = text.find('\t');
  if (end == std::string_view::npos || !is_time_column(trimmed(text.substr(0, end)))) return 0;
  std::size_t taken = end + 1;
  for (std::size_t i = 1; i < most; ++i) {
    end = text.find('\t', taken);
    if (end == std::string_view::npos) return text.size();
    taken = end + 1;
  }
  return taken;
}

/// Returns the size of `1739848302006,"` of a CSV export, whose lines end with a quotation mark.  returns  0: none
std::size_t csv_columns(std::string_view text) {
  const std::size_t quote = text.find(",\"");
  constexpr std::size_t kLongest = 160;
  if (quote == std::string_view::npos || quote > kLongest || !text.ends_with('"')) return 0;
  const std::string_view first = text.substr(0, std::min(text.find(','), quote));
  return is_time_column(trimmed(first)) ? quote + 2 : 0;
}

/// Extracts the lines from a notebook's file, where they are a list of strings: `    "a line\n",`.
void take_strings(std::vector<UndressedLine>& lines) {
  const auto end_of = [](std::string_view text) {
    for (const std::string_view end : {"\\n\",", "\\n\""}) {
      if (text.starts_with('"') && text.size() > end.size() && text.ends_with(end))
        return text.size() - end.size();
    }
    return std::size_t{0};
  };
  std::size_t all = 0;
  std::size_t strings = 0;
  for (const UndressedLine& line : lines) {
    if (line.is_gap) continue;
    ++all;
    strings += end_of(trimmed(line.text)) > 0 ? 1U : 0U;
  }
  if (strings * 2 <= all) return;
  for (UndressedLine& line : lines) {
    const std::string_view text = trimmed(line.text);
    const std::size_t end = end_of(text);
    if (end == 0) continue;
    std::string plain;
    for (std::size_t at = 1; at < end; ++at) {
      const bool is_escaped = text[at] == '\\' && at + 1 < end;
      if (is_escaped && text[at + 1] == 't') {
        plain += '\t';
        ++at;
      } else {
        if (is_escaped) ++at;
        plain += text[at];
      }
    }
    line.text = std::move(plain);
    line.is_gap = is_gap(trimmed(line.text));
  }
}

/// Removes columns that a collector or a spreadsheet puts before each line.
void take_columns(std::vector<UndressedLine>& lines) {
  constexpr std::size_t kMostColumns = 3;
  std::size_t all = 0;
  std::size_t tabbed = 0;
  std::size_t quoted = 0;
  std::array<std::size_t, kMostColumns + 1> with{};  // [number of tabs]: lines with that many
  for (const UndressedLine& line : lines) {
    if (line.is_gap) continue;
    ++all;
    if (tab_columns(line.text, 1) > 0) {
      ++tabbed;
      const auto tabs = std::count(line.text.begin(), line.text.end(), '\t');
      ++with[std::min(kMostColumns, static_cast<std::size_t>(tabs))];
    }
    quoted += csv_columns(line.text) > 0 ? 1U : 0U;
  }
  const bool are_tabbed = tabbed * 2 > all;
  const bool are_quoted = quoted > 0 && quoted * 2 >= all;  // in addition to a header
  if (!are_tabbed && !are_quoted) return;
  // A line's own text may contain tabs, and an empty line has lost its last one; so the number of columns is what many
  // lines have.
  std::size_t columns = 1;
  while (columns < kMostColumns && with[columns] * 2 < tabbed) ++columns;
  for (UndressedLine& line : lines) {
    const std::size_t size = are_tabbed ? tab_columns(line.text, columns) : csv_columns(line.text);
    if (size == 0) continue;
    std::int64_t time = 0;
    line.stamp = line.text.substr(0, read_time(line.text, time));
    line.text.erase(0, size);
    if (are_quoted) {
      line.text.pop_back();
      for (std::size_t at = 0; (at = line.text.find("\"\"", at)) != std::string::npos; ++at)
        line.text.erase(at, 1);
    }
    line.is_gap = is_gap(trimmed(line.text));
  }
}

/// Removes a collector's time before most lines, and a container runtime's stream name after it.
void take_stamps(std::vector<UndressedLine>& lines) {
  std::vector<std::size_t> sizes(lines.size());
  std::size_t all = 0;
  std::size_t timed = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].is_gap) continue;
    ++all;
    const std::string_view text = trimmed_left(lines[i].text);
    std::int64_t time = 0;
    const std::size_t size = read_time(text, time);
    if (size == 0 || (size < text.size() && text[size] != ' ')) continue;
    sizes[i] = size;
    ++timed;
  }
  if (timed * 2 < all) return;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (sizes[i] == 0) continue;
    UndressedLine& line = lines[i];
    std::string_view rest = trimmed_left(line.text);
    if (line.stamp.empty()) line.stamp = rest.substr(0, sizes[i]);
    rest.remove_prefix(sizes[i]);
    if (rest.starts_with(' ')) rest.remove_prefix(1);
    for (const std::string_view stream : {"stdout F", "stderr F", "stdout P", "stderr P"}) {
      if (!rest.starts_with(stream)) continue;
      line.stamp += " " + std::string(stream);
      rest.remove_prefix(stream.size());
      if (rest.starts_with(' ')) rest.remove_prefix(1);
    }
    line.text = std::string(rest);
    line.is_gap = is_gap(trimmed(line.text));
  }
}

/// Converts rows of tables to lines of ranks, after the texts before each line were removed.
void take_rows(std::vector<UndressedLine>& lines) {
  std::vector<std::string_view> texts;
  texts.reserve(lines.size());
  for (const UndressedLine& line : lines) texts.push_back(line.text);
  std::vector<std::string> rows = rank_rows(texts);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!rows[i].empty()) lines[i].text = std::move(rows[i]);
  }
}

/// Removes blanks at the start that all lines have in common.
void take_indent(std::vector<UndressedLine>& lines) {
  std::size_t least = std::string::npos;
  for (const UndressedLine& line : lines) {
    const std::size_t blanks = line.text.find_first_not_of(' ');
    if (blanks != std::string::npos) least = std::min(least, blanks);
  }
  if (least == std::string::npos || least == 0) return;
  for (UndressedLine& line : lines) line.text.erase(0, std::min(least, line.text.size()));
}

/// Returns a host's own name from NCCL's prefix, if people named the host differently in a heading.
std::string own_host(const std::vector<UndressedLine>& lines, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    NcclPrefix prefix;
    if (read_nccl_prefix(lines[i].text, prefix)) return std::string(prefix.host);
  }
  return {};
}

/// Returns whether the name also labels other lines; then it labels an empty line here.
bool is_label_elsewhere(const std::vector<UndressedLine>& lines, std::string_view name) {
  return std::any_of(lines.begin(), lines.end(), [&](const UndressedLine& line) {
    const std::string_view text = trimmed_left(line.text);
    return line.host == name || (text.starts_with(name) && text.size() > name.size() + 1 &&
                                 (text[name.size()] == ' ' || text[name.size()] == ':'));
  });
}

void take_headings(std::vector<UndressedLine>& lines) {
  std::optional<Heading> open;
  std::size_t begin = 0;
  const auto close = [&](std::size_t end) {
    if (!open || !open->names_somebody()) return;
    const std::string own = open->host.empty() ? "" : own_host(lines, begin, end);
    for (std::size_t i = begin; i < end; ++i) {
      lines[i].rank = open->rank;
      if (lines[i].host.empty()) lines[i].host = own.empty() ? open->host : own;
    }
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_text = !lines[i].is_gap || lines[i].text.starts_with('<');
    if (!is_text || contains(lines[i].text, '\r')) continue;
    std::optional<Heading> found = heading_of(lines[i].text);
    if (!found || (found->is_bare && is_label_elsewhere(lines, found->host))) continue;
    const bool ends = found->names_somebody() || (open && open->style == found->style);
    if (!ends) continue;
    close(i);
    lines[i].is_heading = found->names_somebody();
    open = std::move(found);
    begin = i + 1;
  }
  close(lines.size());
}

/// Returns whether a stack in one line was broken before an arrow, which looks like a quotation.
bool goes_on_with_arrow(std::string_view before, std::string_view line) {
  line = trimmed_left(line);
  if (!line.starts_with("> ") || trimmed_left(before).starts_with('>')) return false;
  const std::string_view own = line.substr(2);
  return contains(before, " > ") && is_stack_in_line(trimmed(before)) &&
         is_frame_line(trimmed(own.substr(0, own.find(" > "))));
}

/// Returns the lines made from rows of ranks; empty for all other lines.
std::vector<std::string> rows_of(const std::vector<std::string_view>& raw) {
  const bool may_hold_one = std::any_of(raw.begin(), raw.end(), [](std::string_view line) {
    constexpr std::size_t kLongest = 240;
    return line.size() < kLongest &&
           (line.find("ank") != line.npos || line.find("ANK") != line.npos);
  });
  if (!may_hold_one) return std::vector<std::string>(raw.size());
  std::vector<std::string> clean;
  clean.reserve(raw.size());
  for (const std::string_view line : raw) clean.push_back(without_colours(line));
  std::vector<std::string_view> plain;
  plain.reserve(raw.size());
  for (const std::string& line : clean) plain.push_back(trimmed_right(without_quotes(line)));
  return rank_rows(plain);
}

/// Marks source that a person pasted together with its output.
void take_sources(std::vector<UndressedLine>& lines, std::string_view paste) {
  std::vector<std::string> plain;
  std::vector<std::string> dressed;
  for (const UndressedLine& line : lines) {
    const std::size_t end = std::min(paste.find('\n'), paste.size());
    plain.push_back(line.text);
    dressed.emplace_back(trimmed_right(without_quotes(without_colours(paste.substr(0, end)))));
    paste.remove_prefix(std::min(end + 1, paste.size()));
  }
  const std::vector<bool> are_source = source_lines(plain, dressed);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!are_source[i]) continue;
    lines[i].text.clear();
    lines[i].is_gap = true;
  }
}

}  // namespace

bool is_gap(std::string_view text) {
  static constexpr auto kGaps = std::to_array<std::string_view>(
      {"", "...", "[...]", "(...)", "\u2026", "<snip>", ".....", "....", "[snip]"});
  if (std::find(kGaps.begin(), kGaps.end(), text) != kGaps.end()) return true;
  if (text.starts_with("```") || text.starts_with("~~~")) return true;
  return text.starts_with("<details") || text.starts_with("</details") ||
         text.starts_with("<summary") || text.starts_with("<pre") || text.starts_with("</pre") ||
         text.starts_with("<code") || text.starts_with("</code");
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string undecorated(std::string_view line) { return undressed(line).text; }

std::vector<UndressedLine> undress(std::string_view paste) {
  const std::string_view whole = paste;
  std::vector<std::string_view> raw;
  while (!paste.empty()) {
    const std::size_t end = std::min(paste.find('\n'), paste.size());
    raw.push_back(paste.substr(0, end));
    paste.remove_prefix(std::min(end + 1, paste.size()));
  }
  const std::vector<std::string> rows = rows_of(raw);
  std::vector<UndressedLine> lines;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const std::string_view line = rows[i].empty() ? raw[i] : std::string_view(rows[i]);
    const bool is_arrow = i > 0 && goes_on_with_arrow(raw[i - 1], line);
    lines.push_back(undressed(is_arrow ? trimmed_left(line).substr(2) : line));
    if (is_arrow) lines.back().text.insert(0, "> ");
  }
  take_strings(lines);
  take_indent(lines);
  take_columns(lines);
  take_stamps(lines);
  // A pod's name and a collector's label come first; the line's own time may follow both.
  if (take_labels(lines)) take_labels(lines);
  take_stamps(lines);
  take_viewer_numbers(lines);
  take_rows(lines);
  take_sources(lines, whole);
  take_headings(lines);
  return lines;
}

}  // namespace ringside::logs
