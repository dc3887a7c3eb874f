#include "diag/logparse/paste.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "diag/logparse/bare_prefix.h"
#include "diag/logparse/broken_stacks.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/frame_line.h"
#include "diag/logparse/line_begins.h"
#include "diag/logparse/matcher.h"
#include "diag/logparse/message.h"
#include "diag/logparse/nccl_prefix.h"
#include "diag/logparse/parsers.h"
#include "diag/logparse/row_matcher.h"
#include "diag/logparse/torch_prefix.h"
#include "diag/logparse/undress.h"
#include "diag/logparse/wrappers.h"

namespace ringside::logs {

/// Returns whether a message begins here. A pattern that may start with any text is no evidence, unless it matched
/// with no text there; a number or a word is evidence.
bool begins_as_message(std::string_view text) {
  Message message;
  if (!Matcher::of_catalogue().match(text, message)) return false;
  std::string_view pattern = message_patterns()[message.pattern].pattern;
  if (!pattern.starts_with('{')) return true;
  const std::string_view hole = pattern.substr(0, pattern.find('}'));
  if (hole.ends_with(":d") || hole.ends_with(":w")) return true;
  pattern.remove_prefix(std::min(hole.size() + 1, pattern.size()));
  const std::string_view literal = pattern.substr(0, pattern.find('{'));
  return !literal.empty() && text.starts_with(literal);
}

namespace {

/// Matches `host:pid:tid [3] ` without a level: what a collector put before the rest of a line that it had cut.
/// returns  its size; 0: no match
std::size_t prefix_without_level(std::string_view text) {
  Cursor cursor(text);
  while (is_host(cursor.peek())) cursor.skip(1);
  std::int32_t number = 0;
  const bool is_prefix = cursor.left() < text.size() && cursor.eat(':') && cursor.number(number) &&
                         cursor.eat(':') && cursor.number(number) && cursor.eat(" [") &&
                         cursor.number(number) && cursor.eat("] ");
  if (!is_prefix) return 0;
  for (const std::string_view level : {"CCL INFO", "CCL WARN", "CCL TRACE"}) {
    if (contains(cursor.rest(), level)) return 0;
  }
  return text.size() - cursor.left();
}

/// Matches the tag that a launcher or a collector put before both pieces of a line: `[1,3]<stderr>:`, `3: `, `(pid=77)
/// `.
/// returns  its size; 0: no match
std::size_t common_tag(std::string_view line, std::string_view next) {
  std::size_t size = strip_wrappers(next, false).size;
  if (size == 0) size = prefix_without_level(next);
  return size > 0 && line.starts_with(next.substr(0, size)) ? size : 0;
}

constexpr std::size_t kLongestJoined = 4'096;
constexpr std::uint32_t kMostJoined = 64;

/// Parses a line that its words show to be of a library, but not a line that only mentions a rank.
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

/// Returns whether the joined line is recognised, while the first piece alone is not.
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
  // A row that matches every line of a plugin does not count.
  const bool is_more = is_message_before && after.kind == RecordKind::Message &&
                       facts_of(record.as<Message>().id).weight == 'I' &&
                       facts_of(after.as<Message>().id).weight != 'I';
  if (is_more) return true;
  return is_message_before && after.kind == RecordKind::Message &&
         after.as<Message>().fields > fields;
}

/// Returns whether the joined line has the same meaning as its beginning.
bool stays_known(std::string_view alone, std::string_view joined) {
  Record record;
  if (parse_joined(alone, record) != Parsed::Whole) return true;
  return parse_joined(joined, record) == Parsed::Whole;
}

/// Returns whether the line is from the stack, a launcher, the kernel or a program that reports an error, because
/// people wrap such lines too.
bool may_go_on(std::string_view text) {
  return is_of_stack(text) ||
         contains_any(text, {"rror: ", "illed ", " failed", "srun: ", "slurmstepd"});
}

/// The classification of a paste's lines, each computed at most once.
class Lines {
 public:
  explicit Lines(const std::vector<UndressedLine>& lines) : lines_(lines), known_(lines.size()) {}

  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  [[nodiscard]] const UndressedLine& operator[](std::size_t at) const { return lines_[at]; }
  [[nodiscard]] bool begins(std::size_t at) {
    return ask(at, kAsked, kBegins, [](std::string_view text) { return begins_line(text); });
  }
  [[nodiscard]] bool begins_on_page(std::size_t at) {
    return begins(at) || ask(at, kAskedOnPage, kBeginsOnPage, [](std::string_view text) {
             return begins_on_full_page(trimmed(text));
           });
  }
  [[nodiscard]] bool begins_row(std::size_t at) {
    return ask(at, kAskedRow, kBeginsRow, [](std::string_view text) {
      return RowMatcher::of_catalogue().begins(trimmed(text));
    });
  }

 private:
  enum : std::uint8_t {
    kAsked = 1,
    kBegins = 2,
    kAskedOnPage = 4,
    kBeginsOnPage = 8,
    kAskedRow = 16,
    kBeginsRow = 32
  };
  template <typename Question>
  bool ask(std::size_t at, std::uint8_t asked, std::uint8_t yes, Question question) {
    if ((known_[at] & asked) == 0) {
      const bool is_so = question(lines_[at].text);
      known_[at] = static_cast<std::uint8_t>(known_[at] | asked | (is_so ? yes : 0));
    }
    return (known_[at] & yes) != 0;
  }

  const std::vector<UndressedLine>& lines_;
  std::vector<std::uint8_t> known_;
};

/// The width at which a text was wrapped: few lines are wider, and several are nearly as wide.
struct Page {
  std::size_t width = 0;  ///< 0: it was not wrapped
  bool is_alone = false;  ///< only one line has that width, which may be chance
};

Page page_of(const std::vector<UndressedLine>& lines) {
  std::vector<std::size_t> widths;
  for (const UndressedLine& line : lines) {
    if (!line.is_gap) widths.push_back(line.columns);
  }
  if (widths.size() < 2) return {};
  std::sort(widths.begin(), widths.end());
  constexpr std::size_t kLeast = 60;
  constexpr std::size_t kMost = 240;
  // Words that are wider than the page exceed it; that is at most one line in eight.
  std::size_t last = widths.size() - 1;
  const std::size_t lowest = widths.size() - 1 - widths.size() / 8;
  while (last > lowest && widths[last] > widths[last - 1] + 8) --last;
  // A single wide line is just a long line, unless its width is that of a page.
  constexpr std::size_t kPage = 160;
  const bool is_alone = last == 0 || widths[last - 1] + 16 < widths[last];
  const std::size_t width = widths[last] > (is_alone ? kPage : kMost) ? 0 : widths[last];
  return {width < kLeast ? 0 : width, is_alone};
}

/// Returns the length of a line's first word: an editor would have put it on the previous line if it fitted.
std::size_t first_word(std::string_view text) { return std::min(text.find(' '), text.size()); }

/// Returns whether a line is incomplete: a prefix without its text, or words that announce more text.
bool ends_open(std::string_view text) {
  return text.ends_with(':') || text.ends_with("NCCL WARN") || text.ends_with("NCCL INFO");
}

/// Returns whether a line was split manually or by an editor. Only messages about trouble count, because those are the
/// lines that people keep.
bool continues_manually(std::string_view text, std::string_view last, std::string_view next,
                        const std::string& joined) {
  if (contains_any(next, {"CCL INFO ", "CCL WARN ", "NCCL DIAG ", "NCCL version "}))
    return false;  // a label before it
  const std::string_view go_on = trimmed_left(next);
  // A separate message, which is complete without the previous line.
  const bool is_own = go_on.size() == next.size() &&
                      (begins_as_message(go_on) || RowMatcher::of_catalogue().begins(go_on));
  if (is_own && !ends_open(trimmed_right(text))) return false;
  if (!is_trouble_of_stack(text)) return becomes_known(text, joined);
  // A tag of an unknown program, or a stack frame: messages do not continue like that.
  if (go_on.starts_with('[') || is_frame_line(trimmed(go_on))) return false;
  const bool is_indented = go_on.size() < next.size();
  const char first = go_on.front();
  const char end = trimmed_right(last).empty() ? ' ' : trimmed_right(last).back();
  const bool is_parted = end == ',' || end == ':' || end == '(' || end == ';' || first == ')';
  // In the middle of a sentence. A text that is understood without it can at most continue with a field.
  const bool is_middle = (first >= 'a' && first <= 'z') || is_digit(first);
  const bool has_field = go_on.find_first_of(":=,") != std::string_view::npos;
  return is_indented || is_parted || (is_middle && (has_field || !is_known(text))) ||
         becomes_known(text, joined);
}

/// Returns whether the first part has no meaning of its own, and ends in the middle of a word.
bool is_cut_within_word(std::string_view text, std::string_view rest) {
  return is_letter(text.back()) && is_letter(rest.front()) && !is_known(text);
}

/// Returns whether all text after the prefixes is a piece of one word.
bool ends_in_first_word(std::string_view line) {
  const Wrapping wrapping = strip_wrappers(line, false);
  const std::string_view own = line.substr(wrapping.size);
  return wrapping.size > 0 && !own.empty() && is_letter(own.back()) && !contains(own, ' ');
}

/// Joins the lines of a page that was wrapped by a terminal, which fills its lines, or by an editor, which breaks
/// before a word.
class Joiner {
 public:
  Joiner(Lines& lines, const Page& page, bool is_terminal)
      : lines_(lines), page_(page), is_terminal_(is_terminal) {}

  std::vector<RestoredLine> join() {
    std::vector<RestoredLine> restored;
    std::string joined;
    for (std::size_t at = 0; at < lines_.size(); ++at) {
      RestoredLine line{lines_[at].text,
                        static_cast<std::uint32_t>(at),
                        1,
                        lines_[at].stamp,
                        lines_[at].host,
                        lines_[at].rank,
                        lines_[at].is_gap};
      while (goes_on(line, at, joined)) {
        line.text = joined;
        ++line.lines;
        ++at;
      }
      restored.push_back(std::move(line));
    }
    return restored;
  }

 private:
  /// Returns whether the line after `at` continues `line`; then `joined` is both lines.
  bool goes_on(const RestoredLine& line, std::size_t at, std::string& joined) {
    if (line.lines >= kMostJoined || at + 1 >= lines_.size()) return false;
    const UndressedLine& next = lines_[at + 1];
    if (line.is_gap || next.is_gap || line.text.size() + next.text.size() >= kLongestJoined)
      return false;
    if (lines_[at].is_heading || next.is_heading) return false;
    // Text after a quotation is by another author, unless a terminal has wrapped the quotation itself.
    if (lines_[at].quotes != next.quotes) {
      constexpr std::size_t kMark = 2;  // `> `
      const std::size_t columns = lines_[at].columns + kMark * lines_[at].quotes;
      const bool is_full = page_.width > 0 && columns + 1 >= page_.width;
      if (!is_full || lines_[at].quotes < next.quotes || lines_.begins(at + 1)) return false;
      joined = line.text + " " + next.text;
      if (becomes_known(line.text, joined)) return true;
      joined = line.text + next.text;
      return becomes_known(line.text, joined) ||
             (is_cut_within_word(line.text, next.text) && may_go_on(line.text));
    }
    if (goes_on_behind_tag(line, at, joined)) return true;
    const std::size_t needed =
        lines_[at].columns + 1 + (is_terminal_ ? 0 : first_word(trimmed_left(next.text)));
    const bool is_full =
        page_.width != 0 && (is_terminal_ ? needed >= page_.width : needed > page_.width);
    if (auto stack = joined_stack(line.text, next.text, is_full, is_terminal_)) {
      joined = *std::move(stack);
      return true;
    }
    if (is_terminal_ && is_full && next.stamp.empty() && ends_in_first_word(line.text)) {
      joined = line.text + std::string(trimmed_left(next.text));
      return true;
    }
    const bool is_announced = announces(line.text);
    if (lines_.begins(at + 1) && !is_announced) return false;
    if (fills_page(line, at, is_announced, joined)) return true;
    if (lines_.begins(at + 1) || !may_go_on(line.text)) return false;
    joined = line.text + " " + std::string(trimmed_left(next.text));
    return continues_manually(line.text, lines_[at].text, next.text, joined);
  }

  /// Returns whether the line was cut before it was collected: both lines have the same tag or a time, and the first
  /// is as wide as the page.
  bool goes_on_behind_tag(const RestoredLine& line, std::size_t at, std::string& joined) {
    const UndressedLine& before = lines_[at];
    const UndressedLine& next = lines_[at + 1];
    const std::size_t tag = common_tag(line.text, next.text);
    if (tag == 0 && (next.stamp.empty() || before.stamp.empty())) return false;
    const bool is_wide = page_.width > 0 && before.columns + 1 >= page_.width;
    const bool lacks_level = tag > 0 && prefix_without_level(next.text) == tag;
    if ((!is_wide && !lacks_level) || !may_go_on(line.text)) return false;
    const std::string_view rest = std::string_view(next.text).substr(tag);
    const std::string_view own = trimmed(rest);
    if (own.empty() || begins_line(rest) || begins_on_full_page(own)) return false;
    if (ends_line(trimmed(line.text))) return false;
    const bool has_blank = before.columns < page_.width || rest.starts_with(' ');
    joined = line.text + (has_blank ? " " : "") + std::string(own);
    if (!becomes_known(line.text, joined)) {
      const std::string other = line.text + (has_blank ? "" : " ") + std::string(own);
      if (becomes_known(line.text, other)) joined = other;
    }
    // A single wide line may not have been wrapped.
    if (page_.is_alone && !is_cut_within_word(line.text, rest) && !lacks_level &&
        !becomes_known(line.text, joined))
      return false;
    return stays_known(line.text, joined);
  }

  bool fills_page(const RestoredLine& line, std::size_t at, bool is_announced,
                  std::string& joined) {
    const UndressedLine& before = lines_[at];
    const UndressedLine& next = lines_[at + 1];
    const std::string_view own = trimmed(next.text);
    // A collector's time precedes a new line of a program.
    if (page_.width == 0 || !next.stamp.empty() || begin_alike(line.text, own)) return false;
    const bool is_wide = is_terminal_ ? before.columns + 1 >= page_.width
                                      : before.columns + 1 + first_word(own) > page_.width;
    if (!is_wide || ends_line(trimmed(line.text))) return false;
    if (page_.is_alone && !may_go_on(line.text)) return false;
    if (!is_announced && lines_.begins_on_page(at + 1)) return false;
    if (!ends_open(trimmed_right(line.text)) && lines_.begins_row(at + 1)) return false;
    const bool has_blank = !is_terminal_ || before.columns < page_.width || next.is_indented;
    joined = line.text + (has_blank ? " " : "");
    joined += own;
    return stays_known(line.text, joined);
  }

  Lines& lines_;
  Page page_;
  bool is_terminal_;
};

/// Counts known phrases in the lines that are long enough to be wrapped often.
std::size_t sense_of(const std::vector<RestoredLine>& lines) {
  static constexpr auto kPhrases = std::to_array<std::string_view>(
      {"Watchdog caught collective operation timeout: WorkNCCL(SeqNum=",
       "milliseconds before timing out.",
       "is running collective: CollectiveFingerPrint(",
       "watchdog thread terminated with exception: ",
       "failure detected by watchdog at work sequence id: ",
       "PG status: last enqueued work: ",
       "last completed work: ",
       "last enqueued NCCL work: ",
       "last completed NCCL work: ",
       " local_rank: ",
       " of binary: ",
       " error: ",
       " failed ",
       " on node ",
       " exited on signal ",
       " but ",
       " and ",
       " the ",
       " of ",
       " to "});
  std::size_t found = 0;
  for (const RestoredLine& line : lines) {
    if (line.lines == 1) continue;  // the same in all readings, or part of another line
    if (is_known(line.text)) ++found;
    for (const std::string_view phrase : kPhrases) {
      for (std::size_t at = line.text.find(phrase); at != std::string::npos;
           at = line.text.find(phrase, at + 1)) {
        ++found;
      }
    }
  }
  return found;
}

/// Returns whether lines that continue in the next one are as wide as a terminal.
bool are_full(Lines& lines, std::size_t width) {
  std::size_t full = 0;
  std::size_t broken = 0;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const bool is_near = !lines[i].is_gap && lines[i].columns + 16 >= width;
    if (!is_near || lines[i + 1].is_gap || lines.begins_on_page(i + 1)) continue;
    ++broken;
    full += lines[i].columns + 1 >= width ? 1U : 0U;  // the blank at the cut was removed
  }
  // A single break does not show who made it: terminals have some typical widths, editors have any.
  static constexpr std::array kTerminals = {
      std::size_t{72},  std::size_t{78},  std::size_t{80},  std::size_t{90},  std::size_t{100},
      std::size_t{110}, std::size_t{118}, std::size_t{120}, std::size_t{128}, std::size_t{132},
      std::size_t{140}, std::size_t{150}, std::size_t{160}, std::size_t{180}, std::size_t{200}};
  const bool is_usual = std::find(kTerminals.begin(), kTerminals.end(), width) != kTerminals.end();
  return full * 10 >= broken * 8 && (broken > 2 || is_usual);
}

}  // namespace

bool is_as_written(std::string_view text) {
  // A process prints most of its lines from few threads, so their prefixes are byte-identical.
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
      if (contains(line, "&lt;")) return false;  // copied from the source of a web page
      known[next++ % known.size()] = line.substr(0, prefix.end);
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return true;
}

std::string RestoredLine::stamped() const { return stamp.empty() ? text : stamp + " " + text; }

std::vector<RestoredLine> restore_paste(std::string_view text) {
  const std::vector<UndressedLine> undressed = undress(text);
  Lines lines(undressed);
  const Page page = page_of(undressed);
  std::vector<RestoredLine> by_editor = Joiner(lines, page, false).join();
  if (by_editor.size() == undressed.size() || page.width == 0) return by_editor;
  // The variant with more known phrases wins. In a tie, a terminal is assumed if the width is typical for one and the
  // lines are full.
  std::vector<RestoredLine> by_terminal = Joiner(lines, page, true).join();
  const std::size_t sense = sense_of(by_terminal);
  const std::size_t other = sense_of(by_editor);
  if (sense != other) return sense > other ? by_terminal : by_editor;
  return are_full(lines, page.width) ? by_terminal : by_editor;
}

}  // namespace ringside::logs
