#include "diag/logparse/line_begins.h"

#include <algorithm>
#include <array>
#include <span>

#include "diag/logparse/bare_prefix.h"
#include "diag/logparse/broken_stacks.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/frame_line.h"
#include "diag/logparse/message.h"
#include "diag/logparse/parsers.h"
#include "diag/logparse/paste.h"
#include "diag/logparse/torch_prefix.h"
#include "diag/logparse/wrappers.h"

namespace ringside::logs {
namespace {

/// Returns whether a line begins with a prefix, or with a level whose prefix is lost; the continuation of a wrapped
/// line does not.
bool has_prefix_at_start(std::string_view text) {
  NcclPrefix prefix;
  if (read_nccl_prefix(text, prefix)) return true;
  // `n01:411:980 [3]` of a line that is cut before its level.
  Cursor cursor(text);
  while (is_host(cursor.peek())) cursor.skip(1);
  std::int32_t number = 0;
  if (cursor.left() < text.size() && cursor.eat(':') && is_digit(cursor.peek()) &&
      cursor.number(number)) {
    if (cursor.rest().starts_with(" NCCL DIAG ")) return true;  // without a thread
    if (cursor.eat(':') && is_digit(cursor.peek()) && cursor.number(number) && cursor.eat(' '))
      return true;
  }
  if (!read_bare_prefix(text, prefix)) return false;
  if (prefix.level == Level::None) return true;
  // The words before the level must belong to a prefix; otherwise the level is in the middle of a text.
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

/// Returns whether the text begins as lines of other programs do that appear between the stack's lines.
bool begins_like_others(std::string_view text) {
  static constexpr std::array<std::string_view, 46> kStarts = {"Traceback",
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
                                                               ".. ",
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
  if (starts_with_any(text, kStarts)) {
    // The work that a watchdog names is on a continuation line.
    return !text.starts_with("WorkNCCL(");
  }
  // `RuntimeError: `, `torch.distributed.DistBackendError: `; `Error: ` alone ends a sentence of a plugin's.
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos || colon > 80) return false;
  const std::string_view word = text.substr(0, colon);
  if (contains(word, ' ') || word.size() <= 5) return false;
  return word.ends_with("Error") || word.ends_with("Exception") || word.ends_with("Warning");
}

/// `[Tue Mar  4 10:11:12 2025] `, `[ 4021.771203] `: dmesg, with and without -T.
bool begins_like_kernel(std::string_view text) {
  if (!text.starts_with('[')) return false;
  const std::size_t end = text.find("] ");
  constexpr std::size_t kLongest = 32;
  if (end == std::string_view::npos || end > kLongest) return false;
  const std::string_view stamp = trimmed(text.substr(1, end - 1));
  const std::size_t dot = stamp.find('.');
  if (dot != std::string_view::npos && dot > 0)
    return stamp.size() == dot + 7 &&
           stamp.find_first_not_of("0123456789.") == std::string_view::npos;
  constexpr std::size_t kWithYear = 24;
  return stamp.size() == kWithYear && stamp[3] == ' ' && stamp[13] == ':' && stamp[16] == ':' &&
         is_digit(stamp[20]) && is_digit(stamp[23]);
}

/// `55304 Tl   1-03:22:10 do_signal_stop ...`: a row of ps, which begins with a process id and its state.
bool begins_like_ps(std::string_view text) {
  Cursor row(text);
  std::int64_t pid = 0;
  if (!is_digit(row.peek()) || !row.number(pid) || !row.eat(' ')) return false;
  const std::string_view rest = trimmed_left(row.rest());
  return is_ps_state(rest.substr(0, rest.find(' ')));
}

/// `sft-worker-2   0/1     Evicted   0   9h`: a row of `kubectl get pods`.
bool begins_like_pod(std::string_view text) {
  const std::size_t name = text.find(' ');
  if (name == std::string_view::npos || text.substr(0, name).find('-') == std::string_view::npos)
    return false;
  Cursor row(trimmed_left(text.substr(name)));
  std::int32_t ready = 0, all = 0;
  const bool is_ready = is_digit(row.peek()) && row.number(ready) && row.eat('/') &&
                        is_digit(row.peek()) && row.number(all) && row.eat(' ');
  if (!is_ready) return false;
  const std::string_view status = trimmed_left(row.rest());
  return !status.empty() && is_letter(status.front());
}
}  // namespace

std::size_t clock_before_label(std::string_view text) {
  constexpr std::string_view kClock = "00:00:00";
  if (text.size() <= kClock.size()) return 0;
  for (std::size_t i = 0; i < kClock.size(); ++i) {
    if (kClock[i] == ':' ? text[i] != ':' : !is_digit(text[i])) return 0;
  }
  std::size_t end = kClock.size();
  if (text[end] == '.' || text[end] == ',') end = text.find_first_not_of("0123456789", end + 1);
  return end < text.size() && text.substr(end).starts_with(" [") ? end + 1 : 0;
}

bool is_ps_state(std::string_view word) {
  constexpr std::string_view kStates = "RSDTtZI";
  constexpr std::string_view kMore = "<NLsl+";
  constexpr std::size_t kLongest = 5;
  if (word.empty() || word.size() > kLongest) return false;
  return kStates.find(word.front()) != kStates.npos &&
         word.find_first_not_of(kMore, 1) == std::string_view::npos;
}

bool begins_line(std::string_view line) {
  const std::string_view text = trimmed_left(line);
  if (text.empty()) return true;
  if (begins_like_ps(text) || begins_like_pod(text) || clock_before_label(text) > 0) return true;
  if (has_prefix_at_start(text) || begins_like_others(text) || begins_like_kernel(text))
    return true;
  if (strip_wrappers(text, false).size > 0) return true;
  // `rank 6: WorkNCCL(`, `[r2] send`, and a whole stack in one line.
  Cursor label(text);
  std::int32_t rank = 0;
  const bool is_open = label.eat('[') || label.eat('(');
  const bool has_word = label.eat("rank") || label.eat("Rank") || label.eat("worker") ||
                        (is_open && (label.eat("proc") || label.eat('r')));
  const bool has_between = label.eat(' ') || label.eat('=');
  const bool has_rank = has_word && (has_between || is_digit(label.peek())) && label.number(rank);
  const char end = label.peek();
  if (has_rank && (is_open ? end == ']' || end == ')' : end == ':' || end == '>')) return true;
  if (is_stack_in_line(text)) return true;
  // `node2: `, as pdsh and DeepSpeed have it, where what follows begins a line.
  const std::size_t colon = text.find(": ");
  const bool has_label =
      colon != std::string_view::npos && std::all_of(text.begin(), text.begin() + colon, is_host);
  if (has_label && begins_like_others(trimmed_left(text.substr(colon + 2)))) return true;
  TorchPrefix torch;
  return read_torch_prefix(text, torch) > 0;
}

namespace {

/// Returns whether the line belongs to the report of PyTorch's analyser or ncclras: such lines are short and never
/// continue.
bool is_report_line(std::string_view text) {
  static constexpr auto kKeys = std::to_array<std::string_view>(
      {"sequence number:", "internal record id:", "group info:", "missing ranks:", "input sizes:",
       "output sizes:", "world size:", "expected ranks:", "collective state:",
       "collective stack trace:", "error msg:", "collective: nccl:", "collective: gloo:",
       "found ranks:"});
  if (starts_with_any(text, kKeys)) return true;
  return (text.starts_with("Process ") && text.size() > 8 && is_digit(text[8])) ||
         (text.starts_with("Rank ") && text.find(" -- GPU ") < 64) ||
         (text.starts_with("Rank ") && text.find(" has ") < 12);
}

/// A row of a table: of nccl-tests, `nvidia-smi`, `nvidia-smi topo -m`.
bool is_row(std::string_view text) {
  Record record;
  record.line = text;
  record.text_at = 0;
  if (parse_benchmark(text, record) != Parsed::No) return true;
  const bool is_device = text.starts_with("GPU") || text.starts_with("NIC");
  return (is_device && text.size() > 3 && is_digit(text[3])) || text.starts_with('|') ||
         text.starts_with("+-") || begins_like_pod(text);
}
}  // namespace

bool begins_on_full_page(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"[default",   "[E",          "[W",         "[I",         "[PG ",       "[c10d]",
       "Thread ",    "Current thr", "(Worker",    "Python v",   "terminate ", "what():",
       "---",        "***",         "WARNING",    "INFO",       "ERROR",      "Exception ra",
       "RuntimeErr", "torch.",      "Root Cause", "Missing ",   "Group ",     "Errors",
       "Warnings",   "Not all ",    "Channel ",   "Connected ", "Fatal ",     "Collective se",
       "Detected ",  "sending "});
  if (text.empty() || starts_with_any(text, kWords)) return true;
  if (is_frame_line(text) || is_report_line(text) || is_row(text)) return true;
  Record record;
  record.line = text;
  return parse_ras(text, record) != Parsed::No || begins_as_message(text);
}

bool ends_line(std::string_view text) {
  const bool is_rule = text.find_first_not_of("-=*#_+ ") == std::string_view::npos;
  return is_rule || is_frame_line(text) || text.ends_with("before timing out.") ||
         text.ends_with("(most recent call first):") || text.ends_with("(most recent call last):");
}

bool announces(std::string_view text) {
  if (!text.ends_with(']')) return text.ends_with("exception:");
  const std::size_t at = text.rfind("[Rank ");
  const bool ends_in_rank = at != std::string_view::npos && text.find(']', at) + 1 == text.size();
  return ends_in_rank && trimmed(text.substr(0, at)).ends_with("exception:");
}

}  // namespace ringside::logs
