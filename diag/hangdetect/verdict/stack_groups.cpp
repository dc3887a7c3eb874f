#include "diag/hangdetect/verdict/stack_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/wait_graph.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::hang {
namespace {

using logs::is_digit;
using logs::is_letter;

/// The ranks in `[1,3]` behind `at`; empty: none stand there.
std::vector<int> listed_ranks(std::string_view text, std::size_t at) {
  constexpr std::size_t kNear = 24;
  const std::size_t open = text.find('[', at);
  if (open == std::string_view::npos || open > at + kNear) return {};
  const std::size_t close = text.find(']', open);
  if (close == std::string_view::npos) return {};
  const std::string_view list = text.substr(open + 1, close - open - 1);
  if (list.empty() || list.find_first_not_of("0123456789, -") != std::string_view::npos) return {};
  return logs::parse_rank_list(list);
}

/// Of the group in whose call a process stands, as it is written beside its stack.
std::vector<int> group_beside(const ProcessStack& stack) {
  for (const std::string_view word : {"group", "ranks", "pg"}) {
    const std::size_t at = stack.beside.find(word);
    if (at == std::string::npos) continue;
    if (auto ranks = listed_ranks(stack.beside, at); ranks.size() > 1) return ranks;
  }
  return {};
}

/// The same by the name of a function: `reduce_norm_tp` is of the group `tp` that the rank is in.
std::vector<int> group_by_name(const ProcessStack& stack, int rank,
                               const std::map<std::string, std::vector<std::vector<int>>>& groups) {
  for (const Frame& frame : stack.frames) {
    const std::string text = frame.function + " " + frame.file;
    for (const auto& [name, lists] : groups) {
      const std::size_t at = text.find(name);
      if (at == std::string::npos) continue;
      const bool begins = at == 0 || !is_letter(text[at - 1]);
      const bool ends = at + name.size() >= text.size() || !is_letter(text[at + name.size()]);
      if (!begins || !ends) continue;
      for (const auto& ranks : lists) {
        if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) return ranks;
      }
    }
  }
  return {};
}

/// Names and numbers beside a stack: `expert_idx = 6, layer 11`.
std::map<std::string, std::int64_t> numbers_beside(std::string_view text) {
  std::map<std::string, std::int64_t> numbers;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_letter(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && (is_letter(text[at]) || text[at] == '_' || is_digit(text[at]))) ++at;
    const std::string name(text.substr(begin, at - begin));
    std::size_t number = at;
    while (number < text.size() &&
           std::string_view(" =:").find(text[number]) != std::string_view::npos)
      ++number;
    std::size_t end = number;
    while (end < text.size() && is_digit(text[end]) && end - number < 9) ++end;
    const bool is_whole = end > number && number > at && number - at < 4 &&
                          (end == text.size() || (text[end] != '.' && !is_letter(text[end])));
    if (is_whole)
      numbers.try_emplace(name, std::stoll(std::string(text.substr(number, end - number))));
  }
  return numbers;
}

/// What a program counts, so that ranks in one call have the same: not a loss, an address or an id of a process.
bool counts_calls(std::string_view name) {
  for (const std::string_view word :
       {"idx", "index", "layer", "expert", "step", "iter", "bucket", "micro", "block", "module",
        "epoch", "chunk", "batch", "stage"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

void add_stacks(const LogFacts& facts, Explanation& out) {
  constexpr std::size_t kShown = 8;
  for (const ProcessStack& stack : facts.stacks) {
    if (out.details.size() >= kShown) break;
    out.details.push_back(stack.text());
    out.evidence.push_back({stack.file, -1, stack.line, stack.text()});
  }
  if (!facts.stacks.empty()) out.stack = facts.stacks.front().frames;
}

}  // namespace

std::optional<Explanation> circle_of_groups(const LogFacts& facts) {
  std::map<int, std::vector<int>> group_of;
  std::map<int, std::string> place_of;
  int world = 0;
  for (const ProcessStack& stack : facts.stacks) {
    if (!is_waiting(stack.doing) || static_cast<int>(stack.ranks.size()) < stack.count)
      return std::nullopt;
    for (const int rank : stack.ranks) {
      std::vector<int> group = group_beside(stack);
      if (group.empty()) group = group_by_name(stack, rank, facts.groups);
      if (std::find(group.begin(), group.end(), rank) == group.end()) return std::nullopt;
      world = std::max({world, rank + 1, *std::max_element(group.begin(), group.end()) + 1});
      group_of[rank] = std::move(group);
    }
  }
  constexpr int kMost = 4096;
  if (group_of.size() < 2 || world > kMost) return std::nullopt;
  // A rank waits for those of its group that stand in a call of another one.
  std::vector<std::vector<int>> waits(static_cast<std::size_t>(world));
  for (const auto& [rank, group] : group_of) {
    for (const int other : group) {
      const auto theirs = group_of.find(other);
      if (other != rank && theirs != group_of.end() && theirs->second != group)
        waits[static_cast<std::size_t>(rank)].push_back(other);
    }
  }
  const std::vector<WaitCycle> cycles = wait_cycles(waits);
  if (cycles.empty()) return std::nullopt;
  Explanation out;
  out.kind = Kind::DeadlockCycle;
  out.culprits = cycles.front().shortest;
  std::sort(out.culprits.begin(), out.culprits.end());
  out.confidence = confidence::kTransfersCrossed;
  out.why = fmt::format(
      "{} wait for each other in a circle: each stands in a call of one group for a rank that "
      "stands "
      "in a call of another",
      ranks_text(out.culprits));
  add_stacks(facts, out);
  out.missing.push_back(
      "the source around these calls: ranks call their groups in different orders");
  return out;
}

std::optional<Explanation> apart_in_a_number(const LogFacts& facts) {
  std::map<std::string, std::set<std::int64_t>> values;
  std::map<std::string, std::size_t> stacks_with;
  for (const ProcessStack& stack : facts.stacks) {
    if (!is_waiting(stack.doing)) return std::nullopt;
    for (const auto& [name, number] : numbers_beside(stack.beside)) {
      if (!counts_calls(name)) continue;
      values[name].insert(number);
      ++stacks_with[name];
    }
  }
  for (const auto& [name, numbers] : values) {
    if (numbers.size() < 2 || stacks_with.at(name) < facts.stacks.size()) continue;
    Explanation out;
    out.kind = Kind::DivergedControlFlow;
    out.confidence = confidence::kStacksParted;
    out.why = fmt::format(
        "the processes wait at one place, and {} differs there ({} and {}): these are different "
        "calls, which do not meet",
        name, *numbers.begin(), *std::next(numbers.begin()));
    add_stacks(facts, out);
    out.missing.push_back(
        "the stacks of all ranks with the same number beside them (py-spy dump --locals)");
    return out;
  }
  return std::nullopt;
}

}  // namespace ringside::hang
