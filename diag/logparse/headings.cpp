#include "diag/logparse/headings.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "diag/logparse/cursor.h"

namespace ringside::logs {
namespace {

/// The longest heading in characters, and the longest with a path, as `tail` and `<summary>` have. A longer line is a
/// sentence or a log line.
constexpr std::size_t kLongestHeading = 80, kLongestPath = 240;

/// Reads a number of at most six digits.  returns  -1: the text is not such a number
std::int32_t small_number(std::string_view text) {
  constexpr std::size_t kMostDigits = 6;
  if (text.empty() || text.size() > kMostDigits) return -1;
  std::int32_t number = 0;
  for (const char c : text) {
    if (!is_digit(c)) return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

/// Returns whether the word does not help to identify the process.
bool is_filler(std::string_view word) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"log",        "logs",      "output", "out",     "stdout", "stderr", "stack",   "stacks",
       "stacktrace", "trace",     "tail",   "py-spy",  "pyspy",  "gdb",    "dump",    "of",
       "on",         "from",      "at",     "the",     "for",    "file",   "process", "host",
       "node",       "machine",   "server", "console", "full",   "last",   "lines",   "end",
       "global",     "errors",    "error",  "excerpt", "dmesg",  "kernel", "journal", "pod",
       "worker",     "container", "and",    "pid",     "gpu"});
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// Returns the number of `rank3`, `rank_3`, `rank-3` or `rank=3`.  returns  -1: another word
std::int32_t rank_in_word(std::string_view word) {
  if (!word.starts_with("rank")) return -1;
  word.remove_prefix(4);
  if (!word.empty() && contains(std::string_view("_-=#."), word.front())) word.remove_prefix(1);
  return small_number(word);
}

/// Returns `n04` for `dmesg-n04`, `node-2` for `node-2`: the name of a host or pod, which consists of letters and
/// digits.
std::string_view host_in_word(std::string_view word) {
  for (const std::string_view what : {"dmesg", "kern", "journal", "syslog", "log", "nccl", "out"}) {
    if (word.size() <= what.size() + 1 || !word.starts_with(what)) continue;
    const char next = word[what.size()];
    if (next == '-' || next == '_' || next == '.') word.remove_prefix(what.size() + 1);
  }
  const bool is_name = std::all_of(word.begin(), word.end(), is_host) && is_letter(word.front());
  const bool has_digit = std::any_of(word.begin(), word.end(), is_digit);
  // `dgx-a`: a hyphen and a letter replace a number.
  const bool is_lettered = word.size() > 3 && word[word.size() - 2] == '-';
  // `nodeA`.
  bool is_numbered = false;
  for (const std::string_view what : {"node", "host", "server", "machine"})
    is_numbered = is_numbered ||
                  (word.starts_with(what) && word.size() == what.size() + 1 && word.back() != 's');
  return is_name && (has_digit || is_lettered || is_numbered) ? word : std::string_view{};
}

std::string_view without_extension(std::string_view word) {
  for (const std::string_view end : {".log", ".txt", ".out", ".err", ".stdout", ".stderr"}) {
    if (word.size() > end.size() && word.ends_with(end)) word.remove_suffix(end.size());
  }
  return word;
}

std::vector<std::string_view> words_of(std::string_view text) {
  static constexpr std::string_view kBetween = " \t(),:/[]`'\"";
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t first = text.find_first_not_of(kBetween);
    if (first == std::string_view::npos) break;
    text.remove_prefix(first);
    const std::size_t end = std::min(text.find_first_of(kBetween), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

/// Reads the names among the words.  returns  false: there are other words, so the text is a sentence
bool read_names(std::string_view text, Heading& heading) {
  const std::string small = lower_case(text);
  const std::vector<std::string_view> words = words_of(small);
  constexpr std::size_t kMostWords = 8;
  if (words.empty() || words.size() > kMostWords) return false;
  int ranks = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = without_extension(words[i]);
    const bool is_other = i > 0 && (words[i - 1] == "local" || words[i - 1] == "node");
    std::int32_t rank = rank_in_word(word);
    if (rank < 0 && word == "rank" && i + 1 < words.size()) {
      std::string_view next = without_extension(words[i + 1]);
      if (next.starts_with('#')) next.remove_prefix(1);
      rank = small_number(next);
      if (rank >= 0) ++i;
    }
    if (rank >= 0) {
      if (is_other) continue;  // a number of a host, or the host's own number
      heading.rank = rank;
      ++ranks;
      continue;
    }
    // A process's id, a device, a worker's number.
    if (small_number(word) >= 0 && i > 0 && is_filler(words[i - 1])) continue;
    if (is_filler(word)) continue;
    // `host a:`
    const bool is_letter_alone = word.size() == 1 && is_letter(word.front()) && i > 0 &&
                                 (words[i - 1] == "host" || words[i - 1] == "node" ||
                                  words[i - 1] == "machine" || words[i - 1] == "server");
    const std::string_view host = is_letter_alone ? word : host_in_word(word);
    if (host.empty() || !heading.host.empty()) return false;
    heading.host = host;
  }
  if (ranks > 1) heading.rank = -1;
  return true;
}

std::string_view without_marks(std::string_view text, std::string_view marks) {
  const std::size_t first = text.find_first_not_of(marks);
  if (first == std::string_view::npos) return {};
  return trimmed(text.substr(first, text.find_last_not_of(marks) - first + 1));
}

std::string_view without_colon(std::string_view text) {
  if (text.ends_with(':')) text.remove_suffix(1);
  return text;
}

/// Returns whether the text begins with two or more of one sign, as rules across a page do.
bool begins_with_rule(std::string_view text) {
  return text.size() > 2 && text[0] == text[1] &&
         std::string_view("-=*~_+").find(text[0]) != std::string_view::npos;
}

/// Returns whether the name can only be that of a host or pod: `node-2`, `worker_1`, `gpu-b12`.
bool is_name_of_host(std::string_view word) {
  static constexpr auto kWords =
      std::to_array<std::string_view>({"node", "host", "worker", "pod", "trainer", "server", "gpu-",
                                       "dgx", "machine", "head-", "master-"});
  const std::string small = lower_case(word);
  constexpr std::size_t kLongestName = 63;  // source  RFC 1035 2.3.4: a label of a host's name
  return !word.empty() && word.size() <= kLongestName &&
         std::all_of(word.begin(), word.end(), is_host) && !host_in_word(small).empty() &&
         starts_with_any(small, kWords);
}

/// Reads a heading without marks around it: `Output on node-2:`, `[worker rank 3]`, `rank 3`.
std::optional<Heading> heading_without_marks(std::string_view text) {
  const bool may_name =
      text.ends_with(':') || text.find("ank") != text.npos || text.find("ANK") != text.npos;
  // `"rank": 0,` belongs to a report.
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return is_host(c) || contains(std::string_view(" #()[]:/"), c);
  });
  if (!may_name || !is_plain) return std::nullopt;
  // `[rank3]:` is the tag of an empty line.
  const bool is_bracketed = text.starts_with('[');
  const bool is_closed = is_bracketed ? text.ends_with(']') : text.ends_with(':');
  const std::string_view inside = without_marks(text, ":[] ");
  // A host's name alone may be a label before an empty line, so it needs another word.
  const bool may_be_host = words_of(inside).size() > 1 && text.ends_with(':') && !is_bracketed;
  Heading heading;
  if (!read_names(inside, heading)) return std::nullopt;
  if (heading.rank < 0 && (!may_be_host || heading.host.empty())) return std::nullopt;
  // `rank 3` alone in its line.
  const bool is_alone = inside == text && words_of(inside).size() <= 2 && heading.host.empty();
  return is_closed || is_alone ? std::optional(heading) : std::nullopt;
}

}  // namespace

std::optional<Heading> heading_of(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.size() < 3 || text.size() > kLongestPath) return std::nullopt;
  Heading heading;
  std::string_view inside;
  constexpr std::string_view kTailBegin = "==> ", kTailEnd = " <==", kSummary = "<summary>";
  if (text.starts_with(kTailBegin) && text.ends_with(kTailEnd)) {
    heading.style = Heading::Style::Tail;
    inside = text.substr(kTailBegin.size(), text.size() - kTailBegin.size() - kTailEnd.size());
    const std::size_t slash = inside.rfind('/');
    if (slash != std::string_view::npos) inside.remove_prefix(slash + 1);
  } else if (const std::size_t summary = text.find(kSummary); summary != text.npos) {
    heading.style = Heading::Style::Summary;
    inside = text.substr(summary + kSummary.size());
    inside = trimmed(inside.substr(0, inside.find('<')));
  } else if (text.size() > kLongestHeading) {
    return std::nullopt;
  } else if (text.starts_with('#')) {
    heading.style = Heading::Style::Hashes;
    inside = without_marks(text, "# :");
    // A comment of a script or a benchmark counts as a heading too if it is a sentence.
    if (!text.starts_with("##") && text[1] != ' ') return std::nullopt;
  } else if (text.starts_with("**") && text.find("**", 2) != std::string_view::npos) {
    heading.style = Heading::Style::Bold;
    inside = without_marks(text, "*: ");
  } else if (begins_with_rule(text)) {
    heading.style = Heading::Style::Rule;
    inside = without_marks(text, "-=*~_+: ");
  } else if (const std::string_view name = without_colon(text); is_name_of_host(name)) {
    heading.host = name;
    heading.is_bare = true;
    return heading;
  } else {
    return heading_without_marks(text);
  }
  if (inside.empty()) return std::nullopt;
  if (!read_names(inside, heading)) {
    heading.rank = -1;
    heading.host.clear();
  }
  return heading;
}

}  // namespace ringside::logs
