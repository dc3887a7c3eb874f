#include "diag/logparse/paste.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "diag/logparse/bare_prefix.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/message.h"
#include "diag/logparse/parsers.h"
#include "diag/logparse/torch_prefix.h"
#include "diag/logparse/wrappers.h"

namespace ringside::logs {
namespace {

constexpr std::size_t kLongestJoined = 4'096;
constexpr std::uint32_t kMostJoined = 12;

/// Characters as a terminal counts them.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return find_text(text, word) != std::string_view::npos;
  });
}

/// Without escape sequences of a terminal and carriage returns at its end.
std::string without_colours(std::string_view line) {
  std::string clean;
  clean.reserve(line.size());
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\x1b') {
      clean += line[at];
      continue;
    }
    if (at + 1 >= line.size() || line[at + 1] != '[') continue;
    at += 2;
    while (at < line.size() && !(line[at] >= '@' && line[at] <= '~')) ++at;
  }
  while (!clean.empty() && clean.back() == '\r') clean.pop_back();
  return clean;
}

/// Of `| 12:00:01 | worker-3 | NCCL WARN ... |` the cell that the stack wrote; the line where none is one.
std::string_view cell_of(std::string_view line) {
  std::string_view rest = line.substr(1);
  const std::size_t first = rest.find('|');
  std::int64_t time = 0;
  if (first != std::string_view::npos && read_time(trimmed(rest.substr(0, first)), time) > 0) {
    rest.remove_prefix(first + 1);
    if (rest.starts_with(' ')) rest.remove_prefix(1);  // what is indented stays so
    rest = trimmed_right(rest);
    if (rest.ends_with('|')) rest.remove_suffix(1);
    return trimmed_right(rest);
  }
  while (!rest.empty()) {
    const std::size_t bar = rest.find('|');
    const std::string_view cell = trimmed(rest.substr(0, bar));
    if (is_of_stack(cell)) {
      // A bar in the text itself ends no cell: the last one closes the row.
      std::string_view whole = trimmed_right(rest);
      if (whole.ends_with('|')) whole.remove_suffix(1);
      return trimmed(whole);
    }
    if (bar == std::string_view::npos) break;
    rest.remove_prefix(bar + 1);
  }
  return line;
}

/// A level within a line whose prefix is gone or stands where a prefix does: not what a wrapped line goes on with.
bool has_prefix_at_start(std::string_view text) {
  NcclPrefix prefix;
  if (read_nccl_prefix(text, prefix)) return true;
  // `n01:411:980 [3]` of a line that is cut before its level.
  Cursor cursor(text);
  while (is_host(cursor.peek())) cursor.skip(1);
  std::int32_t number = 0;
  if (cursor.left() < text.size() && cursor.eat(':') && is_digit(cursor.peek()) &&
      cursor.number(number) && cursor.eat(':') && is_digit(cursor.peek()) &&
      cursor.number(number) && cursor.eat(' ')) {
    return true;
  }
  if (!read_bare_prefix(text, prefix)) return false;
  if (prefix.level == Level::None) return true;
  // The words before the level are those of a prefix, or the level is in the middle of a text.
  std::string_view before = text.substr(0, prefix.end);
  before = before.substr(0, before.rfind("CCL ") - 1);
  Cursor words(before);
  std::string_view word;
  for (words.skip_blanks(); words.word(word); words.skip_blanks()) {
    const bool is_mark = word.find_first_of(":[]") != std::string_view::npos ||
                         word.find_first_not_of(".") == std::string_view::npos ||
                         word == "\xe2\x80\xa6" || is_digit(word.back()) ||
                         (word.front() == '(' && word.back() == ')');
    if (!is_mark && words.at() != before.data() + before.size() && word != trimmed(before))
      return false;
    if (!is_mark && word.find_first_of("(,") != std::string_view::npos) return false;
  }
  return true;
}

/// How lines of other programs begin that stand beside the stack's.
bool begins_like_others(std::string_view text) {
  static constexpr std::array<std::string_view, 45> kStarts = {"Traceback",
                                                               "File \"",
                                                               "srun:",
                                                               "slurmstepd",
                                                               "mpirun",
                                                               "prterun",
                                                               "$ ",
                                                               "#",
                                                               "frame #",
                                                               "NVRM:",
                                                               "libibverbs:",
                                                               "Root Cause",
                                                               "ERROR ",
                                                               "WARNING ",
                                                               "INFO ",
                                                               "DEBUG ",
                                                               "what()",
                                                               "terminate called",
                                                               "Exit code",
                                                               "Failed, NCCL",
                                                               "Test NCCL",
                                                               "time  ",
                                                               "host  ",
                                                               "rank  ",
                                                               "exitcode ",
                                                               "...",
                                                               "- ",
                                                               "* ",
                                                               "+ ",
                                                               "{",
                                                               "}",
                                                               "| ",
                                                               "export ",
                                                               "WorkNCCL(",
                                                               "[Rank",
                                                               "[rank",
                                                               "==",
                                                               "\"",
                                                               "]",
                                                               "--",
                                                               "Signal:",
                                                               "Aborted",
                                                               "NCCL version",
                                                               "Caught signal",
                                                               "Loading "};
  if (std::any_of(kStarts.begin(), kStarts.end(),
                  [&](std::string_view start) { return text.starts_with(start); })) {
    // The work that a watchdog names goes on with what the line before began.
    return !text.starts_with("WorkNCCL(");
  }
  // `RuntimeError: `, `torch.distributed.DistBackendError: `; `Error: ` alone ends a sentence of a plugin's.
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos || colon > 80) return false;
  const std::string_view word = text.substr(0, colon);
  if (word.find(' ') != std::string_view::npos || word.size() <= 5) return false;
  return word.ends_with("Error") || word.ends_with("Exception") || word.ends_with("Warning");
}

bool begins_line(std::string_view line) {
  const std::string_view text = trimmed_left(line);
  if (text.empty()) return true;
  if (has_prefix_at_start(text) || begins_like_others(text)) return true;
  if (strip_wrappers(text, false).size > 0) return true;
  // `node2: `, as pdsh and DeepSpeed have it, where what follows begins a line.
  const std::size_t colon = text.find(": ");
  const bool has_label =
      colon != std::string_view::npos && std::all_of(text.begin(), text.begin() + colon, is_host);
  if (has_label && begins_like_others(trimmed_left(text.substr(colon + 2)))) return true;
  TorchPrefix torch;
  return read_torch_prefix(text, torch) > 0;
}

/// A line of a library, as far as its words tell, and not one that only mentions a rank.
Parsed parse_joined(std::string_view line, Record& record) {
  const Wrapping wrapping = strip_wrappers(line, false);
  std::string_view text = trimmed_left(line.substr(wrapping.size));
  TorchPrefix torch;
  text = text.substr(read_torch_prefix(text, torch));
  NcclPrefix prefix;
  record.kind = RecordKind::Unknown;
  record.line = line;
  if (find_nccl_prefix(text, 0, prefix) || read_bare_prefix(text, prefix)) {
    text = text.substr(prefix.end);
    record.level = prefix.level;
    record.text_at = static_cast<std::uint32_t>(text.data() - line.data());
    return parse_nccl_text(text, prefix.level, record);
  }
  record.level = Level::None;
  record.text_at = static_cast<std::uint32_t>(text.data() - line.data());
  return parse_plain_text(text, record);
}

bool is_known(std::string_view line) {
  Record record;
  const Parsed parsed = parse_joined(line, record);
  return parsed == Parsed::Whole || parsed == Parsed::Open;
}

/// Joined, the line says what it does not say alone.
bool becomes_known(std::string_view alone, std::string_view joined) {
  Record record;
  const Parsed before = parse_joined(alone, record);
  const bool is_known_before = before == Parsed::Whole || before == Parsed::Open;
  const bool is_message_before = is_known_before && record.kind == RecordKind::Message;
  const std::size_t fields = is_message_before ? record.as<Message>().fields : 0;
  Record after;
  const Parsed parsed = parse_joined(joined, after);
  if (parsed != Parsed::Whole && parsed != Parsed::Open) return false;
  if (!is_known_before) return true;
  return is_message_before && after.kind == RecordKind::Message &&
         after.as<Message>().fields > fields;
}

/// The width at which a text is wrapped, where its longest lines say so.
struct Width {
  std::size_t columns = 0;              ///< of the longest line
  std::size_t lines = 0;                ///< that long
  std::size_t parted = 0;               ///< of them, before what begins no line of its own
  std::vector<std::size_t> sizes = {};  ///< of all lines, sorted

  /// Nearly all lines are no wider: an editor leaves a long word as it is.
  [[nodiscard]] bool is_within(std::size_t edge) const {
    const auto wider = sizes.end() - std::upper_bound(sizes.begin(), sizes.end(), edge);
    return 8 * static_cast<std::size_t>(wider) <= sizes.size();
  }
};

Width width_of(const std::vector<MendedLine>& lines, const std::vector<std::size_t>& raw) {
  Width width;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    width.sizes.push_back(columns(lines[i].text));
    if (raw[i] > width.columns) width.columns = raw[i], width.lines = width.parted = 0;
    if (raw[i] != width.columns) continue;
    ++width.lines;
    if (i + 1 < lines.size() && !begins_line(lines[i + 1].text)) ++width.parted;
  }
  std::sort(width.sizes.begin(), width.sizes.end());
  return width;
}

/// What a joined line says is no less than what its beginning says alone.
bool stays_known(std::string_view alone, std::string_view joined) {
  Record record;
  if (parse_joined(alone, record) != Parsed::Whole) return true;
  return parse_joined(joined, record) == Parsed::Whole;
}

/// Of the stack, or of a launcher, a kernel or a program that says what went wrong: people wrap those too.
bool may_go_on(std::string_view text) {
  return is_of_stack(text) ||
         has_any(text, {"rror: ", "illed ", " failed", "srun: ", "slurmstepd"});
}

/// How the line `next` follows the piece `last` of what is joined so far; `text` joined is the result.
/// raw  columns of `last` with what stood around it
bool joins(const std::string& text, std::string_view last, std::size_t raw, std::string_view next,
           const Width& width, std::string& joined) {
  constexpr std::size_t kNarrowest = 60, kWidest = 200;
  const std::size_t size = columns(last);
  const std::string_view go_on = trimmed_left(next);
  const bool is_indented = go_on.size() < next.size();
  // A terminal's edge: the line is as wide as the widest, to the column, and that is no chance.
  constexpr std::array<std::size_t, 5> kUsual = {80, 100, 120, 132, 160};
  const bool is_usual = std::find(kUsual.begin(), kUsual.end(), raw) != kUsual.end() ||
                        std::find(kUsual.begin(), kUsual.end(), size) != kUsual.end();
  const bool is_edge = 2 * width.parted > width.lines && (width.lines > 1 || is_usual);
  if (raw == width.columns && is_edge && raw >= kNarrowest && raw <= kWidest) {
    const std::string tight = text + std::string(next);
    const std::string loose = text + " " + std::string(go_on);
    // A blank at the edge may have been lost.
    joined = becomes_known(tight, loose) ? loose : tight;
    return stays_known(text, joined);
  }
  joined = text + " " + std::string(go_on);
  // Wrapped between words: the next word did not fit any more.
  const std::size_t word = std::min(go_on.find(' '), go_on.size());
  for (const std::size_t edge : kUsual) {
    if (!width.is_within(edge) || width.sizes.back() + 24 < edge) continue;
    if (size + 1 + word > edge && size <= edge && size + 24 >= edge)
      return stays_known(text, joined);
  }
  // By hand, or by an editor: only of what tells of trouble, which is what people keep.
  if (!is_trouble_of_stack(text)) return becomes_known(text, joined);
  const char first = go_on.front();
  const char end = trimmed_right(last).empty() ? ' ' : trimmed_right(last).back();
  const bool is_parted = end == ',' || end == ':' || end == '(' || end == ';' || first == ')';
  // In the middle of a sentence; what is understood without it goes on with a field, if at all.
  const bool is_middle = (first >= 'a' && first <= 'z') || is_digit(first);
  const bool has_field = go_on.find_first_of(":=,") != std::string_view::npos;
  return is_indented || is_parted || (is_middle && (has_field || !is_known(text))) ||
         becomes_known(text, joined);
}

/// A collector's columns before a line: a time, and the pod or host whose line it is.
/// returns  bytes taken; 0: there is no such time
std::size_t collector_columns(std::string_view line, std::size_t& time_end) {
  std::int64_t time = 0;
  Cursor cursor(line);
  time_end = read_time(line, time);
  if (time_end == 0) return 0;
  cursor.skip(time_end);
  // The runtime of a container writes more behind the time, which has a reader of its own.
  if (!cursor.eat(' ') || cursor.rest().starts_with("std")) return 0;
  time_end += 1;
  const Cursor before = cursor;
  std::string_view word;
  const bool is_pod = cursor.word(word) && cursor.eat(' ') && word.size() > 3 &&
                      is_letter(word.front()) && word.find('-') != std::string_view::npos &&
                      std::all_of(word.begin(), word.end(), is_host);
  if (!is_pod) cursor = before;
  return line.size() - cursor.left();
}

/// Takes a collector's columns off where all lines have them. The time stays before what begins a line.
void strip_collector(std::vector<MendedLine>& lines) {
  std::size_t time_end = 0;
  const bool have_all = std::all_of(lines.begin(), lines.end(), [&](const MendedLine& line) {
    return trimmed(line.text).empty() || collector_columns(line.text, time_end) > 0 ||
           collector_columns(line.text + " ", time_end) > 0;
  });
  if (!have_all) return;
  for (MendedLine& line : lines) {
    const std::size_t end = collector_columns(line.text, time_end);
    if (end == 0) continue;
    const std::string rest = line.text.substr(end);
    line.text = begins_line(rest) ? line.text.substr(0, time_end) + rest : rest;
  }
}

/// `trainer-7f9c4 | `, `web_1  | `: whose line it is, as collectors of containers' output write it.
/// returns  bytes taken; 0: there is none
std::size_t bar_label(std::string_view line) {
  std::size_t end = 0;
  const auto is_of_name = [](char c) { return is_host(c) || c == '/'; };
  while (end < line.size() && is_of_name(line[end])) ++end;
  // A word alone heads the row of a table.
  const bool is_numbered =
      line.substr(0, end).find_first_of("-_0123456789") != std::string_view::npos;
  if (end < 2 || !is_letter(line.front()) || !is_numbered) return 0;
  const std::size_t bar = line.find_first_not_of(' ', end);
  if (bar == end || bar == std::string_view::npos || line[bar] != '|') return 0;
  return bar + 1 < line.size() && line[bar + 1] == ' ' ? bar + 2 : bar + 1;
}

/// Takes such labels off where all lines have one.
void strip_labels(std::vector<MendedLine>& lines) {
  const bool have_all = std::all_of(lines.begin(), lines.end(), [](const MendedLine& line) {
    return trimmed(line.text).empty() || bar_label(line.text) > 0;
  });
  if (!have_all) return;
  for (MendedLine& line : lines) line.text.erase(0, bar_label(line.text));
}

/// Blanks that all lines begin with.
std::size_t common_indent(const std::vector<MendedLine>& lines) {
  std::size_t least = std::string::npos;
  for (const MendedLine& line : lines) {
    const std::size_t blanks = line.text.find_first_not_of(' ');
    if (blanks != std::string::npos) least = std::min(least, blanks);
  }
  return least == std::string::npos ? 0 : least;
}

}  // namespace

bool is_of_stack(std::string_view text) {
  return has_any(text, {"NCCL ",         "NCCL:",        "NCCL_",    "RCCL ",    "nccl",
                        "rccl",          "NET/",         "ibv_",     "ibverbs",  "Gloo",
                        "gloo/",         "ProcessGroup", "Watchdog", "watchdog", "WorkNCCL",
                        "libfabric",     "GIN/",         "c10d",     "TCPStore", "Cuda failure",
                        "HIP failure",   "hipIpc",       "cudaIpc",  "NVLS",     "Got completion",
                        "[rank",         "[Rank",        "NVRM",     "Xid",      "undefined symbol",
                        "out of memory", "Out of memory"});
}

bool is_trouble_of_stack(std::string_view text) {
  if (find_text(text, "CCL INFO ") != std::string_view::npos) return false;
  if (has_any(text, {"CCL WARN", "atchdog caught", "Got completion", "WorkNCCL("})) return true;
  constexpr std::size_t kHead =
      200;  // further on, it is a value among those of a program's settings
  return is_of_stack(text.substr(0, kHead)) &&
         has_any(text,
                 {" error",  "Error",   "ERROR",    "fail",    "Fail",     "FAIL",     "annot ",
                  "can't",   "Can't",   "ould not", "ouldn't", "nable to", "imed out", "timeout",
                  "Timeout", "refused", "reset by", "ismatch", "nvalid ",  "nexpected"});
}

std::string undecorated(std::string_view raw) {
  const std::string clean = without_colours(raw);
  std::string_view line = clean;
  // Quotations may be nested; a shell's `>` of its own is followed by no blank.
  for (std::string_view text = trimmed_left(line); text.starts_with("> ") || text == ">";
       text = trimmed_left(line)) {
    line = text.substr(std::min<std::size_t>(2, text.size()));
  }
  const std::string_view text = trimmed(line);
  if (text.starts_with("```") || text.starts_with("~~~")) return {};
  if (text.starts_with('|')) {
    const std::string_view cell = cell_of(text);
    if (cell != text) return std::string(cell);
  }
  if (text.starts_with('`') && text.size() > 1 && is_of_stack(text)) {
    std::string_view inside = text.substr(1);
    if (inside.ends_with('`')) inside.remove_suffix(1);
    return std::string(inside);
  }
  if ((text.starts_with("- ") || text.starts_with("* ")) && is_of_stack(text))
    return std::string(trimmed_left(text.substr(2)));
  return std::string(line);
}

bool is_as_written(std::string_view text) {
  // A process says most of its lines from few threads, and their prefixes are alike to the byte.
  std::array<std::string_view, 8> known;
  std::size_t next = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const bool is_known = std::any_of(known.begin(), known.end(), [&](std::string_view one) {
      return !one.empty() && line.starts_with(one);
    });
    NcclPrefix prefix;
    if (!line.empty() && !is_known) {
      if (!read_nccl_prefix(line, prefix)) return false;
      known[next++ % known.size()] = line.substr(0, prefix.end);
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return true;
}

std::vector<MendedLine> mend_paste(std::string_view text) {
  std::vector<MendedLine> plain;
  std::vector<std::size_t> raw;  // columns as they stand in the paste
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    // A progress bar redraws itself within a line: who parses it parts it.
    const bool is_bar = line.find('\r') != std::string_view::npos && !line.ends_with('\r');
    const bool is_binary = line.find('\0') != std::string_view::npos;
    raw.push_back(columns(line.find('\x1b') == std::string_view::npos ? std::string(line)
                                                                      : without_colours(line)));
    plain.push_back({is_bar || is_binary ? std::string(line) : undecorated(line), number++});
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  const std::size_t indent = common_indent(plain);
  for (MendedLine& line : plain) line.text.erase(0, std::min(indent, line.text.size()));

  strip_collector(plain);
  strip_labels(plain);

  const Width width = width_of(plain, raw);
  std::vector<MendedLine> mended;
  std::string joined;
  for (std::size_t at = 0; at < plain.size(); ++at) {
    MendedLine line = plain[at];
    while (line.lines < kMostJoined && at + 1 < plain.size() &&
           line.text.size() + plain[at + 1].text.size() < kLongestJoined &&
           !begins_line(plain[at + 1].text) && may_go_on(line.text) &&
           joins(line.text, plain[at].text, raw[at], plain[at + 1].text, width, joined)) {
      line.text = joined;
      ++line.lines;
      ++at;
    }
    mended.push_back(std::move(line));
  }
  return mended;
}

}  // namespace ringside::logs
