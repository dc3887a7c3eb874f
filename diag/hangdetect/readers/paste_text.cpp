#include "diag/hangdetect/readers/paste_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "diag/hangdetect/readers/frame_line.h"
#include "diag/logparse/matcher.h"
#include "diag/logparse/nccl_prefix.h"
#include "diag/logparse/parsers.h"
#include "diag/logparse/wrappers.h"

namespace ringside::hang {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// One line of the file, on its way.
struct Part {
  std::int64_t number = 0;
  std::size_t width = 0;  ///< with what stands before it
  std::string stamp;
  std::string label;
  std::string text;
  bool is_gap = false;       ///< empty, a fence, `...`
  bool is_indented = false;  ///< blanks stand before it
};

/// Without colours and other control characters; a progress bar's last state.
std::string clean(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  if (const std::size_t cr = line.rfind('\r'); cr != std::string_view::npos) {
    line.remove_prefix(cr + 1);
  }
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      i += 2;
      while (i < line.size() && !(line[i] >= '@' && line[i] <= '~')) ++i;
    } else if (c == '\t') {
      out += ' ';
    } else if (static_cast<unsigned char>(c) >= ' ' && c != 127) {
      out += c;
    }
  }
  return out;
}

std::string_view without_quotes(std::string_view line) {
  for (std::string_view rest = line;;) {
    const std::size_t first = rest.find_first_not_of(' ');
    if (first == std::string_view::npos || rest[first] != '>') return line;
    rest.remove_prefix(first + 1);
    if (!rest.empty() && rest.front() != ' ' && rest.front() != '>') return line;
    if (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    line = rest;
  }
}

/// What stands for lines that were left out, and what only dresses a paste.
bool is_gap(std::string_view text) {
  static constexpr std::array kGaps = {
      std::string_view{""},      std::string_view{"..."},    std::string_view{"[...]"},
      std::string_view{"(...)"}, std::string_view{"\u2026"}, std::string_view{"<snip>"},
      std::string_view{"....."}, std::string_view{"...."},   std::string_view{"[snip]"}};
  if (std::find(kGaps.begin(), kGaps.end(), text) != kGaps.end()) return true;
  if (text.starts_with("```") || text.starts_with("~~~")) return true;
  return text.starts_with("<details") || text.starts_with("</details") ||
         text.starts_with("<summary") || text.starts_with("<pre") || text.starts_with("</pre") ||
         text.starts_with("<code") || text.starts_with("</code");
}

/// `train-worker-0`, `trainer-7f9c4 |`, `ip-10-0-0-1:`: a name with a hyphen and a digit, as pods and hosts have.
std::size_t label_size(std::string_view text) {
  std::size_t end = 0;
  bool has_hyphen = false;
  bool has_digit = false;
  while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]) || text[end] == '-' ||
                               text[end] == '.' || text[end] == '_' || text[end] == '/')) {
    has_hyphen |= text[end] == '-';
    has_digit |= is_digit(text[end]);
    ++end;
  }
  if (end < 3 || !has_hyphen || !has_digit || !is_letter(text.front())) return 0;
  std::size_t behind = end;
  if (behind < text.size() && text[behind] == ':') ++behind;
  if (behind < text.size() && text[behind] != ' ') return 0;
  while (behind < text.size() && text[behind] == ' ') ++behind;
  if (behind < text.size() && text[behind] == '|') ++behind;
  while (behind < text.size() && text[behind] == ' ') ++behind;
  // `nid0-1:411:980 [3] NCCL INFO` and `n-1: rank 3 died` are a program's own.
  if (end < text.size() && text[end] == ':' && text.substr(behind).starts_with("rank ")) return 0;
  return behind;
}

/// `[70746] `, `  12: `, `12 | `: the number before every line of a viewer; -1: none.
std::int64_t viewer_number(std::string_view text, std::size_t& size) {
  std::size_t at = 0;
  const bool is_open = !text.empty() && text.front() == '[';
  if (is_open) ++at;
  const std::size_t from = at;
  while (at < text.size() && is_digit(text[at]) && at - from < 9) ++at;
  if (at == from) return -1;
  const std::int64_t number = std::stoll(std::string(text.substr(from, at - from)));
  if (is_open && (at >= text.size() || text[at] != ']')) return -1;
  if (is_open) ++at;
  const bool is_closed = is_open || (at < text.size() && (text[at] == ':' || text[at] == '|')) ||
                         text.substr(at).starts_with(" |") || text.substr(at).starts_with("  ");
  if (!is_closed) return -1;
  while (at < text.size() && (text[at] == ' ' || text[at] == ':' || text[at] == '|')) ++at;
  size = at;
  return number;
}

/// Lines numbered one after the other: the numbers are a viewer's.
void drop_viewer_numbers(std::vector<Part>& parts) {
  std::size_t lines = 0;
  std::size_t in_order = 0;
  std::int64_t last = -2;
  for (const Part& part : parts) {
    if (part.is_gap) continue;
    ++lines;
    std::size_t size = 0;
    const std::int64_t number = viewer_number(part.text, size);
    if (number >= 0 && (number == last + 1 || (last < 0 && lines == 1))) ++in_order;
    last = number;
  }
  if (lines < 3 || in_order * 10 < lines * 8) return;
  for (Part& part : parts) {
    std::size_t size = 0;
    if (viewer_number(part.text, size) >= 0) part.text.erase(0, size);
  }
}

std::string shape_of(std::string_view label) {
  std::string shape;
  for (const char c : trimmed(label)) {
    if (!is_digit(c)) {
      shape += c;
    } else if (shape.empty() || shape.back() != '#') {
      shape += '#';
    }
  }
  return shape;
}

/// A time before most lines is a collector's, and so is a name behind it.
void drop_labels(std::vector<Part>& parts) {
  std::size_t lines = 0;
  std::size_t timed = 0;
  for (Part& part : parts) {
    if (part.is_gap) continue;
    ++lines;
    std::int64_t time_us = 0;
    std::string_view text = part.text;
    if (text.starts_with("| ")) text.remove_prefix(2);
    const std::uint32_t size = logs::read_time(text, time_us);
    if (size == 0 || (size < text.size() && text[size] != ' ' && text[size] != '|')) continue;
    ++timed;
    part.stamp = std::string(text.substr(0, size));
    part.label = text.substr(size);  // for a moment: what is behind
  }
  const bool are_timed = lines > 0 && timed * 2 >= lines;
  std::map<std::string, std::size_t> shapes;
  for (Part& part : parts) {
    if (part.is_gap) continue;
    if (are_timed && !part.stamp.empty()) {
      std::string_view rest = part.label;
      const std::size_t first = rest.find_first_not_of(" |");
      part.text = std::string(first == std::string_view::npos ? "" : rest.substr(first));
      // A table of a console: the columns end with a bar too.
      if (rest.starts_with(" |") && part.text.ends_with('|')) part.text.pop_back();
      // What a container's runtime says of the line.
      for (const std::string_view stream : {"stdout F ", "stderr F ", "stdout P ", "stderr P "}) {
        if (part.text.starts_with(stream)) part.text.erase(0, stream.size());
      }
    } else {
      part.stamp.clear();
    }
    const std::size_t size = label_size(part.text);
    part.label = part.text.substr(0, size);
    if (size > 0) ++shapes[shape_of(part.label)];
  }
  for (Part& part : parts) {
    const bool is_label = !part.label.empty() && shapes[shape_of(part.label)] * 10 >= lines * 6;
    if (is_label) part.text.erase(0, part.label.size());
    part.is_gap = part.is_gap || is_gap(part.text);
  }
}

bool starts_with_any(std::string_view text, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.starts_with(word); });
}

/// A line of the report that PyTorch's analyser prints, or of ncclras: short, and nothing goes on in the next one.
bool is_report_line(std::string_view text) {
  static constexpr std::array kKeys = {
      std::string_view{"sequence number:"},  std::string_view{"internal record id:"},
      std::string_view{"group info:"},       std::string_view{"missing ranks:"},
      std::string_view{"input sizes:"},      std::string_view{"output sizes:"},
      std::string_view{"world size:"},       std::string_view{"expected ranks:"},
      std::string_view{"collective state:"}, std::string_view{"collective stack trace:"},
      std::string_view{"error msg:"},        std::string_view{"collective: nccl:"},
      std::string_view{"collective: gloo:"}, std::string_view{"found ranks:"}};
  if (starts_with_any(text, kKeys)) return true;
  const bool is_numbered = (text.starts_with("Process ") && text.size() > 8 && is_digit(text[8])) ||
                           (text.starts_with("Rank ") && text.find(" -- GPU ") < 64) ||
                           (text.starts_with("Rank ") && text.find(" has ") < 12);
  return is_numbered;
}

/// Whether a line can be the first of what a program said: a header, a tag, a label, a frame, words that begin
/// messages.
bool begins(std::string_view text) {
  static constexpr std::array kWords = {
      std::string_view{"[rank"},      std::string_view{"[default"},
      std::string_view{"[E"},         std::string_view{"[W"},
      std::string_view{"[I"},         std::string_view{"[PG "},
      std::string_view{"[Rank "},     std::string_view{"[c10d]"},
      std::string_view{"Thread "},    std::string_view{"Current thr"},
      std::string_view{"(Worker"},    std::string_view{"Python v"},
      std::string_view{"Traceback "}, std::string_view{"File \""},
      std::string_view{"frame #"},    std::string_view{"#"},
      std::string_view{"srun: "},     std::string_view{"slurmstepd"},
      std::string_view{"terminate "}, std::string_view{"what():"},
      std::string_view{"- "},         std::string_view{"+ "},
      std::string_view{"== "},        std::string_view{"---"},
      std::string_view{"==="},        std::string_view{"***"},
      std::string_view{"WARNING"},    std::string_view{"INFO"},
      std::string_view{"ERROR"},      std::string_view{"Exception ra"},
      std::string_view{"RuntimeErr"}, std::string_view{"torch."},
      std::string_view{"Root Cause"}, std::string_view{"Missing "},
      std::string_view{"Group "},     std::string_view{"Errors"},
      std::string_view{"Warnings"},   std::string_view{"Not all "},
      std::string_view{"NCCL ver"},   std::string_view{"Channel "},
      std::string_view{"Connected "}, std::string_view{"Fatal "},
      std::string_view{"==>"},        std::string_view{"Collective se"},
      std::string_view{"Detected "},  std::string_view{"sending "}};
  if (text.empty() || starts_with_any(text, kWords)) return true;
  if (is_frame_line(text)) return true;
  logs::NcclPrefix prefix;
  if (logs::read_nccl_prefix(text, prefix)) return true;
  if (logs::strip_wrappers(text, false).size > 0) return true;
  if (is_report_line(text)) return true;
  logs::Record record;
  if (logs::parse_ras(text, record) != logs::Parsed::No) return true;
  logs::Message message;
  if (!logs::Matcher::of_catalogue().match(text, message)) return false;
  // A pattern that may start with anything says nothing of where a line begins, unless it started with nothing; a
  // number or a word does.
  std::string_view pattern = logs::message_patterns()[message.pattern].pattern;
  if (!pattern.starts_with('{')) return true;
  const std::string_view hole = pattern.substr(0, pattern.find('}'));
  if (hole.ends_with(":d") || hole.ends_with(":w")) return true;
  pattern.remove_prefix(std::min(hole.size() + 1, pattern.size()));
  const std::string_view literal = pattern.substr(0, pattern.find('{'));
  return !literal.empty() && text.starts_with(literal);
}

/// Whether nothing can follow: a rule across the page, a frame of a stack, the last words of a known message.
bool ends(std::string_view text) {
  const bool is_rule = text.find_first_not_of("-=*#_+ ") == std::string_view::npos;
  return is_rule || is_frame_line(text) || text.ends_with("before timing out.") ||
         text.ends_with("(most recent call first):") || text.ends_with("(most recent call last):");
}

/// Whether something must follow: `terminated with exception: [Rank 1]` announces what a watchdog caught.
bool announces(std::string_view text) {
  const std::size_t at = text.rfind("[Rank ");
  const bool ends_in_rank =
      at != std::string_view::npos && text.ends_with(']') && text.find(']', at) + 1 == text.size();
  return text.ends_with("exception:") ||
         (ends_in_rank && trimmed(text.substr(0, at)).ends_with("exception:"));
}

/// The width at which the text was broken: few lines are wider, and several are nearly as wide.
/// returns  0: it was not
std::size_t width_of(const std::vector<Part>& parts) {
  std::vector<std::size_t> widths;
  for (const Part& part : parts) {
    if (!part.is_gap) widths.push_back(part.width);
  }
  if (widths.size() < 2) return 0;
  std::sort(widths.begin(), widths.end());
  constexpr std::size_t kLeast = 60;
  constexpr std::size_t kMost = 240;
  // Words that are wider than a page stand out of it: at most one line in eight.
  std::size_t last = widths.size() - 1;
  const std::size_t lowest = widths.size() - 1 - widths.size() / 8;
  while (last > lowest && widths[last] > widths[last - 1] + 8) --last;
  // One wide line alone is a long line, unless it is as wide as pages are.
  constexpr std::size_t kPage = 160;
  const bool is_alone = last == 0 || widths[last - 1] + 16 < widths[last];
  const std::size_t width = widths[last] > (is_alone ? kPage : kMost) ? 0 : widths[last];
  return width < kLeast ? 0 : width;
}

/// How much of a line stands before its first blank: an editor would have put it on the line before if it fitted.
std::size_t first_word(std::string_view text) { return std::min(text.find(' '), text.size()); }

/// The lines, those that were broken put together again.
std::vector<PasteLine> joined(const std::vector<Part>& parts, std::size_t width, bool is_terminal) {
  std::vector<PasteLine> lines;
  const Part* before = nullptr;
  bool follows_blank = false;
  for (const Part& part : parts) {
    if (part.is_gap) {
      before = nullptr;
      follows_blank |= !part.text.starts_with(".");
      continue;
    }
    const std::string_view own = trimmed(part.text);
    bool is_part = before != nullptr && width > 0 && !lines.empty() && part.stamp.empty();
    if (is_part) {
      const bool is_wide =
          is_terminal ? before->width + 1 >= width : before->width + 1 + first_word(own) > width;
      const bool is_new = begins(own) && !announces(lines.back().text);
      is_part = is_wide && !is_new && !ends(lines.back().text);
    }
    if (is_part) {
      const bool has_blank = !is_terminal || before->width < width || part.is_indented;
      lines.back().text += has_blank ? " " : "";
      lines.back().text += own;
    } else {
      lines.push_back({part.number, follows_blank, part.stamp, std::string(own)});
    }
    follows_blank = false;
    before = &part;
  }
  return lines;
}

/// How often phrases stand in the lines that are long enough to be broken often.
std::size_t sense_of(const std::vector<PasteLine>& lines) {
  static constexpr std::array kPhrases = {
      std::string_view{"Watchdog caught collective operation timeout: WorkNCCL(SeqNum="},
      std::string_view{"milliseconds before timing out."},
      std::string_view{"is running collective: CollectiveFingerPrint("},
      std::string_view{"watchdog thread terminated with exception: "},
      std::string_view{"failure detected by watchdog at work sequence id: "},
      std::string_view{"PG status: last enqueued work: "},
      std::string_view{"last completed work: "},
      std::string_view{"last enqueued NCCL work: "},
      std::string_view{"last completed NCCL work: "},
      std::string_view{" local_rank: "},
      std::string_view{" of binary: "},
      std::string_view{" error: "},
      std::string_view{" failed "},
      std::string_view{" on node "},
      std::string_view{" exited on signal "},
      std::string_view{" but "},
      std::string_view{" and "},
      std::string_view{" the "},
      std::string_view{" of "},
      std::string_view{" to "}};
  std::size_t found = 0;
  for (const PasteLine& line : lines) {
    for (const std::string_view phrase : kPhrases) {
      for (std::size_t at = line.text.find(phrase); at != std::string::npos;
           at = line.text.find(phrase, at + 1)) {
        ++found;
      }
    }
  }
  return found;
}

/// Whether lines that go on in the next one are as wide as a terminal.
bool are_full(const std::vector<Part>& parts, std::size_t width) {
  std::size_t full = 0;
  std::size_t broken = 0;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i].is_gap || parts[i].width + 16 < width || begins(parts[i + 1].text)) continue;
    ++broken;
    full += parts[i].width + 1 >= width ? 1U : 0U;  // a blank at the cut is gone
  }
  // One break alone does not tell which of them it was: terminals have some widths, editors any.
  static constexpr std::array kTerminals = {
      std::size_t{72},  std::size_t{80},  std::size_t{90},  std::size_t{100}, std::size_t{110},
      std::size_t{120}, std::size_t{128}, std::size_t{132}, std::size_t{140}, std::size_t{150},
      std::size_t{160}, std::size_t{180}, std::size_t{200}};
  const bool is_usual = std::find(kTerminals.begin(), kTerminals.end(), width) != kTerminals.end();
  return full * 10 >= broken * 8 && (broken > 2 || is_usual);
}

}  // namespace

std::vector<PasteLine> read_paste(std::string_view text) {
  std::vector<Part> parts;
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Part part;
    part.number = ++number;
    const std::string line = clean(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view inside = without_quotes(line);
    part.width = inside.size();
    part.text = std::string(trimmed(inside));
    part.is_gap = is_gap(part.text);
    part.is_indented = inside.starts_with(' ');
    parts.push_back(std::move(part));
  }
  drop_labels(parts);
  drop_viewer_numbers(parts);
  const std::size_t width = width_of(parts);
  std::vector<PasteLine> by_editor = joined(parts, width, false);
  if (by_editor.size() == parts.size()) return by_editor;
  // A terminal fills its lines, an editor leaves off before a word. What makes more sense is what it was; where both
  // make as much, terminals have some widths, and their lines are full.
  std::vector<PasteLine> by_terminal = joined(parts, width, true);
  const std::size_t sense = sense_of(by_terminal);
  const std::size_t other = sense_of(by_editor);
  if (sense != other) return sense > other ? by_terminal : by_editor;
  return are_full(parts, width) ? by_terminal : by_editor;
}

}  // namespace ringside::hang
