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
  return end == 0 || end > 12 ? -1 : parse_whole(text.substr(0, end)).value_or(-1);
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

/// Log lines name ranks too, and are not heads of stacks.
bool is_log_line(std::string_view text) {
  return text.size() > 160 || text.find("]:[") != std::string_view::npos ||
         text.find("NCCL") != std::string_view::npos ||
         text.find(".cpp:") != std::string_view::npos ||
         text.find("atchdog") != std::string_view::npos ||
         text.find("srun:") != std::string_view::npos;
}

/// `ranks 0-2,4`, `Rank 3:`, `=== rank3 (pid 71) on n01 ===`, `[rank 3]`, `GLOBAL_RANK=3`
std::vector<int> ranks_in(std::string text) {
  // `rank1, rank2 and rank3` are `rank1,2,3`.
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
  for (std::size_t at = text.find("rank"); at != std::string::npos;
       at = text.find("rank", at + 1)) {
    const std::string_view before = std::string_view(text).substr(0, at);
    if (before.ends_with("local_") || before.ends_with("local ") || before.ends_with("node_") ||
        before.ends_with("local-") || before.ends_with("node-")) {
      continue;
    }
    std::string_view rest = std::string_view(text).substr(at + 4);
    if (rest.starts_with('s')) rest.remove_prefix(1);
    const std::size_t skip = std::min(rest.find_first_not_of(" :=#_-[{("), rest.size());
    rest.remove_prefix(skip);
    const std::size_t end = std::min(rest.find_first_not_of("0123456789,- .and"), rest.size());
    std::string_view list = rest.substr(0, end);
    // `0..2` and `0 - 2` are `0-2`.
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
    if (leading_number(plain) < 0) continue;
    std::vector<int> ranks;
    for (const std::int32_t rank : logs::parse_rank_list(plain)) {
      if (rank >= 0 && rank < kMostRanks) ranks.push_back(rank);
    }
    if (!ranks.empty()) return ranks;
  }
  return {};
}

/// ` gpus:`, ` gpus are in`: the counted processes follow below. `4 GPUs, DDP, PyTorch 2.3` counts the job's GPUs.
bool counts_processes(std::string_view rest, std::string_view word) {
  if (!rest.starts_with(word)) return false;
  rest.remove_prefix(word.size());
  return rest.empty() || rest.front() == ':' || rest.front() == ' ';
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
  std::vector<int> ranks;
  if (!is_list) return ranks;
  for (const std::int32_t rank : logs::parse_rank_list(list)) {
    if (rank >= 0 && rank < kMostRanks) ranks.push_back(rank);
  }
  return ranks;
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
  if (head.pid < 0 && text.starts_with("process ")) {
    const std::int64_t number = leading_number(std::string_view(text).substr(8));
    // A person counts the processes of an MPI job so: ids of processes are larger.
    constexpr std::int64_t kLeastPid = 300;
    if (head.ranks.empty() && line.starts_with('p') && number >= 0 && number < kLeastPid) {
      head.ranks = {static_cast<int>(number)};
    } else {
      head.pid = number;
    }
  }
  // `4 in:`, `6 processes are in:`, `7 ranks:`, `3x`
  const std::int64_t count = leading_number(text);
  if (count > 0 && count <= kMostRanks) {
    const std::size_t end = text.find_first_not_of("0123456789");
    const std::string_view rest =
        end == std::string::npos ? std::string_view{} : std::string_view(text).substr(end);
    const bool is_count = rest.starts_with(" in:") || rest.starts_with(" process") ||
                          (rest.starts_with(" ranks") && !rest.starts_with(" ranks in total")) ||
                          rest.starts_with(" rank ") || rest == "x" || rest.starts_with("x ") ||
                          counts_processes(rest, " gpus") || rest.starts_with(" workers") ||
                          rest.starts_with(" others") || rest.starts_with(" threads are") ||
                          rest.starts_with(" are in");
    if (is_count) head.count = static_cast<int>(count);
  }
  for (const std::string_view key :
       {"host ", "host: ", "host=", "node ", "node: ", "on ", "nodename: "}) {
    const std::size_t at = text.find(key);
    if (at == std::string::npos || (at > 0 && is_letter(text[at - 1]))) continue;
    const std::string_view rest = std::string_view(text).substr(at + key.size());
    const std::size_t end = std::min(rest.find_first_of(" ,:;)=]"), rest.size());
    const std::string_view name = rest.substr(0, end);
    const bool has_digit = name.find_first_of("0123456789") != std::string_view::npos;
    if (has_digit && is_letter(name.front())) {
      head.host = std::string(name);
      break;
    }
  }
  return head;
}

}  // namespace ringside::hang
