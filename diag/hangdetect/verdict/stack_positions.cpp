#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/verdict/positions.h"
#include "diag/hangdetect/verdict/wait_graph.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::hang {
namespace {

using logs::is_digit;
using logs::is_letter;

/// Returns the ranks in `[1,3]` after `at`; empty: none.
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

/// Returns the group in whose call a process is, if it is written next to the stack.
std::vector<int> group_in_notes(const ProcessStack& stack) {
  for (const std::string_view word : {"group", "ranks", "pg"}) {
    const std::size_t at = stack.notes.find(word);
    if (at == std::string::npos) continue;
    if (auto ranks = listed_ranks(stack.notes, at); ranks.size() > 1) return ranks;
  }
  return {};
}

/// Returns names and numbers next to a stack: `expert_idx = 6, layer 11`.
std::map<std::string, std::int64_t> numbers_in(std::string_view text) {
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

/// Returns whether the number counts calls, so that ranks in one call have the same number; false for a loss, an
/// address or a process id.
bool counts_calls(std::string_view name) {
  for (const std::string_view word :
       {"idx", "index", "layer", "expert", "step", "iter", "bucket", "micro", "block", "module",
        "epoch", "chunk", "batch", "stage"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

/// Returns where a process waits: the call, and the first frame of the program itself below it.
std::string place_of(const ProcessStack& one) {
  for (std::size_t i = one.deciding; i < one.frames.size(); ++i) {
    const Frame& frame = one.frames[i];
    const bool is_library = frame.file.find("distributed_c10d.py") != std::string::npos ||
                            frame.file.find("c10d_logger.py") != std::string::npos ||
                            frame.file.find("torch/_ops.py") != std::string::npos ||
                            frame.file.find("deepspeed/comm/") != std::string::npos ||
                            frame.file.find(".so") != std::string::npos;
    if (!is_library) return fmt::format("{} {}:{}", to_string(one.op), frame.function, frame.line);
  }
  return std::string(to_string(one.op));
}

/// The half of a transfer that a process is in, and the pipeline stage at its other end, if a function shows it.
struct StackHalf {
  bool is_known = false;
  bool is_send = false;
  int stage = 0;  ///< 1: the next stage; -1: the previous one; 0: unknown
};

/// source  NVIDIA/Megatron-LM megatron/core/pipeline_parallel/p2p_communication.py; other pipelines took its names
StackHalf half_of_function(std::string_view function) {
  if (function == "send_forward") return {true, true, 1};
  if (function == "recv_forward") return {true, false, -1};
  if (function == "send_backward") return {true, true, -1};
  if (function == "recv_backward") return {true, false, 1};
  // `send_forward_recv_backward` does both at once.
  const bool is_both = function.find("send") != std::string_view::npos &&
                       function.find("recv") != std::string_view::npos;
  const Op op = op_of(function);
  if (is_both || (op != Op::Send && op != Op::Recv)) return {};
  return {true, op == Op::Send, 0};
}

/// A stage's own function is more precise than the call within it.
StackHalf half_of(const ProcessStack& stack) {
  StackHalf half;
  if (stack.activity != Activity::Collective) return half;
  for (const Frame& frame : stack.frames) {
    const StackHalf own = half_of_function(frame.function);
    if (own.is_known && (!half.is_known || own.stage != 0)) half = own;
  }
  return half;
}

/// What each rank waits in, and for which ranks.
struct Waits {
  std::map<int, std::vector<int>> group;  ///< group of the call that a rank is in
  std::map<int, StackHalf> half;
  std::map<int, int> peer;
  std::map<int, int> tag;

  /// A receive matches a send with the same tag.
  [[nodiscard]] bool do_tags_fit(int rank, int other) const {
    return tag.at(rank) < 0 || tag.at(other) < 0 || tag.at(rank) == tag.at(other);
  }
  std::size_t stacks = 0;
  int world = 0;
};

std::optional<Waits> read_waits(const LogFacts& logs) {
  Waits waits;
  for (const ProcessStack& stack : logs.stacks) {
    if (!is_waiting_for_ranks(stack.activity) || static_cast<int>(stack.ranks.size()) < stack.count)
      return std::nullopt;
    for (const int rank : stack.ranks) {
      std::vector<int> group = group_in_notes(stack);
      if (std::ranges::find(group, rank) == group.end()) group.clear();
      waits.world = std::max(waits.world, rank + 1);
      for (const int member : group) waits.world = std::max(waits.world, member + 1);
      waits.group[rank] = std::move(group);
      waits.half[rank] = half_of(stack);
      waits.peer[rank] = stack.peer;
      waits.tag[rank] = stack.tag;
    }
  }
  constexpr int kMost = 4096;  // ranks: the graph of waits has up to the square of edges
  if (waits.half.size() < 2 || waits.world > kMost) return std::nullopt;
  return waits;
}

/// Returns, for each rank, the members of its group that are in a call of another group.
std::vector<std::vector<int>> waits_by_group(const Waits& waits) {
  std::vector<std::vector<int>> graph(static_cast<std::size_t>(waits.world));
  for (const auto& [rank, group] : waits.group) {
    if (group.empty()) return {};
    for (const int other : group) {
      const auto theirs = waits.group.find(other);
      if (other != rank && theirs != waits.group.end() && theirs->second != group)
        graph[static_cast<std::size_t>(rank)].push_back(other);
    }
  }
  return graph;
}

/// Returns, for each rank, the other end of its transfer, unless that rank is in the other half of it.
std::vector<std::vector<int>> waits_by_transfer(const Waits& waits, bool are_all) {
  std::vector<std::vector<int>> graph(static_cast<std::size_t>(waits.world));
  const auto has_peer = [&](const auto& one) {
    return one.second.is_known && waits.peer.at(one.first) >= 0;
  };
  const bool are_transfers_shown =
      std::ranges::all_of(waits.half, [](const auto& one) { return one.second.is_known; });
  // If some ranks are in collectives, the stacks of those in transfers must show their peers.
  const bool are_peers_shown = std::ranges::any_of(waits.half, has_peer) &&
                               std::ranges::all_of(waits.half, [&](const auto& one) {
                                 return !one.second.is_known || has_peer(one);
                               });
  if (!are_transfers_shown && !are_peers_shown) return {};
  const auto first = waits.half.begin();
  const bool are_alike = std::ranges::all_of(waits.half, [&](const auto& one) {
    return one.second.is_send == first->second.is_send && one.second.stage == 0;
  });
  const bool has_peers =
      std::ranges::any_of(waits.peer, [](const auto& one) { return one.second >= 0; });
  for (auto one = waits.half.begin(); one != waits.half.end(); ++one) {
    std::vector<int>& targets = graph[static_cast<std::size_t>(one->first)];
    const int peer = waits.peer.at(one->first);
    if (!one->second.is_known) {
      // A collective ends only after the ranks in transfers have joined it.
      for (const auto& [other, half] : waits.half) {
        if (half.is_known) targets.push_back(other);
      }
      continue;
    }
    if (peer >= 0) {
      const auto other = waits.half.find(peer);
      const bool do_meet = other != waits.half.end() && waits.peer.at(peer) == one->first &&
                           other->second.is_send != one->second.is_send &&
                           waits.do_tags_fit(peer, one->first);
      if (other != waits.half.end() && !do_meet) targets.push_back(peer);
      continue;
    }
    const auto next = one->second.stage > 0                                ? std::next(one)
                      : one->second.stage < 0 && one != waits.half.begin() ? std::prev(one)
                                                                           : waits.half.end();
    if (next != waits.half.end()) {
      const bool do_meet =
          next->second.stage == -one->second.stage && next->second.is_send != one->second.is_send;
      if (!do_meet) targets.push_back(next->first);
      continue;
    }
    // With more than two ranks, one whose stack is missing may be in the other half.
    if (!are_alike || has_peers || !are_all) continue;
    for (const auto& [other, half] : waits.half) {
      if (other != one->first) targets.push_back(other);
    }
  }
  return graph;
}

}  // namespace

Position position_of(const ProcessStack& stack) {
  Position one;
  one.ranks = stack.ranks;
  one.count = stack.count;
  one.process_name = stack.who();
  one.activity = stack.activity;
  one.is_transfer = stack.op == Op::Send || stack.op == Op::Recv || stack.op == Op::Coalesced;
  one.op = to_string(stack.op);
  if (stack.op == Op::Broadcast && stack.peer >= 0) one.root = std::to_string(stack.peer);
  one.peer = stack.peer;
  one.place = place_of(stack);
  one.text = fmt::format("{}: {}", stack.place(), describe(stack.activity));
  one.stack = stack.frames;
  one.evidence = {stack.file, -1, stack.line, stack.text()};
  return one;
}

std::optional<OrderedRank> rank_by_process_order(const LogFacts& logs, const Position& one) {
  const ProcessStack* own = nullptr;
  std::map<std::string, std::vector<std::int64_t>> hosts;
  for (const ProcessStack& stack : logs.stacks) {
    if (static_cast<int>(stack.pids.size()) != stack.count) return std::nullopt;
    auto& pids = hosts[stack.file];
    pids.insert(pids.end(), stack.pids.begin(), stack.pids.end());
    if (stack.file == one.evidence.file && stack.line == one.evidence.line) own = &stack;
  }
  if (own == nullptr || own->pids.size() != 1 || own->count != 1) return std::nullopt;
  const std::size_t size = hosts.begin()->second.size();
  int host = -1;
  int number = 0;
  for (const auto& [file, pids] : hosts) {
    if (pids.size() != size) return std::nullopt;
    if (file == own->file) host = number;
    ++number;
  }
  const bool is_host = size == 2 || size == 4 || size == 8 || size == 16;
  if (!is_host || host < 0) return std::nullopt;
  std::vector<std::int64_t> pids = hosts.at(own->file);
  std::ranges::sort(pids);
  const auto at = std::ranges::lower_bound(pids, own->pids.front()) - pids.begin();
  const int local_rank = static_cast<int>(at);
  return OrderedRank{host * static_cast<int>(size) + local_rank, local_rank};
}

std::optional<Explanation> crossed_positions(const LogFacts& logs, const Positions& waiting) {
  const auto waits = read_waits(logs);
  if (!waits) return std::nullopt;
  const std::size_t ranks = waits->half.size();
  const bool are_all =
      ranks == 2 ? logs.known_world <= 2 : logs.known_world == static_cast<int>(ranks);
  std::vector<WaitCycle> cycles = wait_cycles(waits_by_transfer(*waits, are_all));
  const bool is_of_transfers = !cycles.empty();
  if (cycles.empty()) cycles = wait_cycles(waits_by_group(*waits));
  if (cycles.empty()) return std::nullopt;
  Explanation out;
  out.kind = Kind::DeadlockCycle;
  out.features = {Feature::StacksCross};
  out.culprits = cycles.front().ranks;
  const bool has_peers =
      std::ranges::all_of(out.culprits, [&](int rank) { return waits->peer.at(rank) >= 0; });
  // A send and a receive of two ranks that do not match, or a transfer whose peer is in a collective.
  if (is_of_transfers && out.culprits.size() == 2) {
    const StackHalf& first = waits->half.at(out.culprits.front());
    const StackHalf& second = waits->half.at(out.culprits.back());
    const bool are_halves = first.is_known && second.is_known && first.is_send != second.is_send;
    const bool is_one_half = first.is_known != second.is_known;
    if (is_one_half || (are_halves && has_peers)) out.kind = Kind::P2pUnmatched;
    if (is_one_half) out.culprits = {out.culprits[first.is_known ? 0 : 1]};
  }
  if (is_of_transfers && !are_all && !has_peers) out.add(Feature::Doubtful);
  out.shown = Shown::Stacks;
  for (const Position& one : waiting) {
    if (out.places.size() >= 8) break;
    out.places.push_back({one.ranks, one.process_name, one.text});
    out.evidence.push_back(one.evidence);
  }
  if (!waiting.empty()) out.stack = waiting.front().stack;
  out.missing.push_back({Need::What::Sources});
  return out;
}

std::optional<std::string> differing_number_text(const LogFacts& logs) {
  std::map<std::string, std::set<std::int64_t>> values;
  std::map<std::string, std::size_t> stacks_with;
  for (const ProcessStack& stack : logs.stacks) {
    if (!is_waiting_for_ranks(stack.activity)) return std::nullopt;
    for (const auto& [name, number] : numbers_in(stack.notes)) {
      if (!counts_calls(name)) continue;
      values[name].insert(number);
      ++stacks_with[name];
    }
  }
  for (const auto& [name, numbers] : values) {
    if (numbers.size() < 2 || stacks_with.at(name) < logs.stacks.size()) continue;
    return fmt::format("{} is {} and {}", name, *numbers.begin(), *std::next(numbers.begin()));
  }
  return std::nullopt;
}

}  // namespace ringside::hang
