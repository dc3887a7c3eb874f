#include "diag/hangdetect/readers/stack_heads.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::hang {

std::int64_t leading_number(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  constexpr std::size_t kMostDigits = 12;  // more is a time stamp or an address
  return end == 0 || end > kMostDigits ? -1 : parse_whole(text.substr(0, end)).value_or(-1);
}

std::int64_t number_after(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    std::string_view rest = text.substr(at + key.size());
    const std::size_t skip = std::min(rest.find_first_not_of(" :=#_-"), rest.size());
    if (skip > 3) continue;
    const std::int64_t number = leading_number(rest.substr(skip));
    if (number >= 0) return number;
  }
  return -1;
}

namespace {

using logs::is_digit;
using logs::is_letter;

/// Returns whether a line belongs to a program's log. Such lines name ranks too, and head no stack.
bool is_log_line(std::string_view text) {
  constexpr std::size_t kLongestHead = 160;  // chosen: two lines of a terminal
  // NCCL's own prefix, c10d's and its watchdog's, Slurm's
  constexpr std::array<std::string_view, 6> kMarks{
      "]:[", "NCCL", ".cpp:", "Watchdog", "watchdog", "srun:"};
  return text.size() > kLongestHead || std::ranges::any_of(kMarks, [&](std::string_view mark) {
           return text.find(mark) != std::string_view::npos;
         });
}

/// Replaces the words between listed ranks by a comma: `rank1, rank2 and rank3` becomes `rank1,2,3`.
std::string with_joined_ranks(std::string text) {
  for (const std::string_view between : {", rank", ",rank", " and rank", " & rank", "/rank"}) {
    for (std::size_t at = text.find(between); at != std::string::npos;
         at = text.find(between, at)) {
      const std::size_t number = text.find_first_not_of(" _-", at + between.size());
      const bool is_one =
          number != std::string::npos && is_digit(text[number]) && at > 0 && is_digit(text[at - 1]);
      if (is_one) {
        text.replace(at, number - at, ",");
      } else {
        at += between.size();
      }
    }
  }
  return text;
}

/// Returns a list in the form of parse_rank_list(): `0..2` and `0 - 2` become `0-2`; blanks stay between digits only.
std::string plain_list(std::string_view list) {
  std::string plain;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list.substr(i, 2) == "..") {
      plain += '-';
      ++i;
    } else if (list[i] != ' ' ||
               (i > 0 && is_digit(list[i - 1]) && i + 1 < list.size() && is_digit(list[i + 1]))) {
      plain += list[i];
    }
  }
  return plain;
}

std::vector<int> possible_ranks(std::string_view list) {
  std::vector<int> ranks;
  for (const std::int32_t rank : logs::parse_rank_list(list)) {
    if (rank >= 0 && rank < kMostRanks) ranks.push_back(rank);
  }
  return ranks;
}

/// `ranks 0-2,4`, `Rank 3:`, `=== rank3 (pid 71) on n01 ===`, `[rank 3]`, `GLOBAL_RANK=3`
/// line  in lower case
std::vector<int> ranks_in(const std::string& line) {
  // Ranks within a host are no ranks of the job.
  constexpr std::array<std::string_view, 5> kWithinHost{"local_", "local ", "local-", "node_",
                                                        "node-"};
  const std::string text = with_joined_ranks(line);
  for (std::size_t at = text.find("rank"); at != std::string::npos;
       at = text.find("rank", at + 1)) {
    const std::string_view before = std::string_view(text).substr(0, at);
    const auto ends_before = [&](std::string_view word) { return before.ends_with(word); };
    if (std::ranges::any_of(kWithinHost, ends_before)) continue;
    std::string_view rest = std::string_view(text).substr(at + std::string_view("rank").size());
    if (rest.starts_with('s')) rest.remove_prefix(1);
    rest.remove_prefix(std::min(rest.find_first_not_of(" :=#_-[{("), rest.size()));
    const std::string list =
        plain_list(rest.substr(0, rest.find_first_not_of("0123456789,- .and")));
    if (leading_number(list) < 0) continue;
    std::vector<int> ranks = possible_ranks(list);
    if (!ranks.empty()) return ranks;
  }
  return {};
}

/// `the other three (1, 2, 3) look like`
std::vector<int> others_in(std::string_view text) {
  const std::size_t other = text.find("other");
  const std::size_t open = other == std::string_view::npos ? other : text.find('(', other);
  const std::size_t close = open == std::string_view::npos ? open : text.find(')', open);
  if (close == std::string_view::npos) return {};
  const std::string_view list = text.substr(open + 1, close - open - 1);
  const bool is_list = list.find(',') != std::string_view::npos &&
                       list.find_first_not_of("0123456789, ") == std::string_view::npos;
  return is_list ? possible_ranks(list) : std::vector<int>();
}

/// `task 3`, Slurm's name for a rank of a step, in a line with little other text.
std::vector<int> task_in(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  const std::size_t at = text.find("task ");
  const bool is_word = at != std::string_view::npos && (at == 0 || !is_letter(text[at - 1]));
  if (!is_word || text.size() > kLongest) return {};
  const std::int64_t number = leading_number(text.substr(at + 5));
  return number >= 0 && number < kMostRanks ? std::vector<int>{static_cast<int>(number)}
                                            : std::vector<int>{};
}

/// Below it, the number after `process` is the one that a person gives to a process of an MPI job, counted from 0.
/// source  Linux, kernel/pid.c, RESERVED_PIDS: ids below are not used again
constexpr std::int64_t kLeastPid = 300;

/// `4 in:`, `6 processes are in:`, `7 ranks:`, `3x`
/// returns  0: the text does not start with a number of processes
int count_in(std::string_view text) {
  // What may follow the number, at the end of the text or before anything else.
  constexpr std::array<std::string_view, 8> kStarts{
      " in:", " process", " ranks", " rank ", " workers", " others", " threads are", " are in"};
  // These are followed by the stack. `4 GPUs, DDP` counts the GPUs of the job, `3xA100` those of a host.
  constexpr std::array<std::string_view, 2> kWords{" gpus", "x"};
  const std::int64_t count = leading_number(text);
  if (count <= 0 || count > kMostRanks) return 0;
  const std::string_view rest =
      text.substr(std::min(text.find_first_not_of("0123456789"), text.size()));
  const bool is_count =
      std::ranges::any_of(kStarts, [&](std::string_view word) { return rest.starts_with(word); }) ||
      std::ranges::any_of(kWords, [&](std::string_view word) {
        return rest.starts_with(word) &&
               (rest.size() == word.size() || rest[word.size()] == ':' || rest[word.size()] == ' ');
      });
  return is_count && !rest.starts_with(" ranks in total") ? static_cast<int>(count) : 0;
}

/// `on gpu-07`, `host: n01`: a name with a digit, since "on the next node" names none.
std::string host_in(std::string_view text) {
  for (const std::string_view key :
       {"host ", "host: ", "host=", "node ", "node: ", "on ", "nodename: "}) {
    const std::size_t at = text.find(key);
    if (at == std::string_view::npos || (at > 0 && is_letter(text[at - 1]))) continue;
    const std::string_view rest = text.substr(at + key.size());
    const std::string_view name = rest.substr(0, rest.find_first_of(" ,:;)=]"));
    const bool has_digit = name.find_first_of("0123456789") != std::string_view::npos;
    if (has_digit && is_letter(name.front())) return std::string(name);
  }
  return {};
}

}  // namespace

StackHead head_of(std::string_view line) {
  StackHead head;
  if (is_log_line(line)) return head;
  const std::string text = lower_case(line);
  head.ranks = ranks_in(text);
  if (head.ranks.empty()) head.ranks = task_in(text);
  if (head.ranks.empty()) head.ranks = others_in(text);
  for (const std::string_view key : {"local_rank", "local rank", "local-rank"}) {
    if (head.local_rank < 0) head.local_rank = static_cast<int>(number_after(text, key));
  }
  head.pid = number_after(text, "pid");
  if (constexpr std::string_view kProcess = "process ";
      head.pid < 0 && text.starts_with(kProcess)) {
    const std::int64_t number = leading_number(std::string_view(text).substr(kProcess.size()));
    // py-spy prints ids, as `Process 71:` with a capital.
    if (head.ranks.empty() && line.starts_with('p') && number >= 0 && number < kLeastPid) {
      head.ranks = {static_cast<int>(number)};
    } else {
      head.pid = number;
    }
  }
  head.count = count_in(text);
  head.host = host_in(text);
  return head;
}

}  // namespace ringside::hang
