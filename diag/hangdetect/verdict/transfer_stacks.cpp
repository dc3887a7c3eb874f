#include "diag/hangdetect/verdict/transfer_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/explain.h"

namespace ringside::hang {
namespace {

/// Which half of a transfer a process stands in, and towards whom, where the function says it.
enum class StackHalf {
  None,
  Send,
  Receive,
  SendForward,      ///< activations, to the next stage
  ReceiveForward,   ///< from the one before
  SendBackward,     ///< gradients, to the one before
  ReceiveBackward,  ///< from the next one
};

/// source  NVIDIA/Megatron-LM megatron/core/pipeline_parallel/p2p_communication.py; other pipelines took its names
StackHalf stack_half(std::string_view function) {
  struct Name {
    std::string_view function;
    StackHalf half;
  };
  static constexpr std::array kNames = {Name{"send_forward", StackHalf::SendForward},
                                        Name{"recv_forward", StackHalf::ReceiveForward},
                                        Name{"send_backward", StackHalf::SendBackward},
                                        Name{"recv_backward", StackHalf::ReceiveBackward}};
  for (const Name& name : kNames) {
    if (function == name.function) return name.half;
  }
  // `send_forward_recv_backward` does both at once.
  const bool is_both = function.find("send") != std::string_view::npos &&
                       function.find("recv") != std::string_view::npos;
  const Op op = op_of(function);
  if (is_both || (op != Op::Send && op != Op::Recv)) return StackHalf::None;
  return op == Op::Send ? StackHalf::Send : StackHalf::Receive;
}

/// The outermost frame that tells: a stage's own function says more than the call within it.
StackHalf stack_half(const ProcessStack& stack) {
  StackHalf half = StackHalf::None;
  if (stack.doing != Doing::Communicates) return half;
  for (const Frame& frame : stack.frames) {
    const StackHalf own = stack_half(frame.function);
    const bool says_more =
        own != StackHalf::None && own != StackHalf::Send && own != StackHalf::Receive;
    if (half == StackHalf::None || says_more) half = own == StackHalf::None ? half : own;
  }
  return half;
}

bool are_crossed(StackHalf first, StackHalf next) {
  return (first == StackHalf::ReceiveBackward && next == StackHalf::ReceiveForward) ||
         (first == StackHalf::SendForward && next == StackHalf::SendBackward);
}

/// Whether one's half of a transfer meets the other's: a send the receive from its sender.
bool do_meet(int rank, const ProcessStack& stack, StackHalf half, const ProcessStack& other,
             StackHalf others) {
  return other.peer == rank && stack.peer >= 0 && half != others;
}

/// Those that wait for each other in a circle: each for a peer that stands in another transfer.
std::set<int> ranks_in_circle(const std::map<int, const ProcessStack*>& stacks,
                              const std::map<int, StackHalf>& halves) {
  for (const auto& [first, stack] : stacks) {
    std::set<int> circle;
    int rank = first;
    while (circle.insert(rank).second) {
      const ProcessStack& own = *stacks.at(rank);
      const auto other = stacks.find(own.peer);
      if (other == stacks.end() ||
          do_meet(rank, own, halves.at(rank), *other->second, halves.at(other->first)))
        break;
      rank = other->first;
      if (rank == first && circle.size() > 1) return circle;
    }
  }
  return {};
}

}  // namespace

std::optional<Explanation> crossed_transfers(const LogFacts& facts) {
  std::map<int, StackHalf> halves;
  std::map<int, const ProcessStack*> stacks;
  for (const ProcessStack& stack : facts.stacks) {
    const StackHalf half = stack_half(stack);
    if (half == StackHalf::None || static_cast<int>(stack.ranks.size()) < stack.count)
      return std::nullopt;
    for (const int rank : stack.ranks) {
      halves[rank] = half;
      stacks[rank] = &stack;
    }
  }
  if (halves.size() < 2) return std::nullopt;
  std::set<int> ranks = ranks_in_circle(stacks, halves);
  const bool are_told = !ranks.empty();
  for (auto one = halves.begin(), next = std::next(one); next != halves.end(); ++one, ++next) {
    if (are_crossed(one->second, next->second) && !are_told)
      ranks.insert({one->first, next->first});
  }
  const StackHalf first = halves.begin()->second;
  const bool are_alike = (first == StackHalf::Send || first == StackHalf::Receive) &&
                         std::all_of(halves.begin(), halves.end(),
                                     [&](const auto& one) { return one.second == first; });
  // Of more than two, one whose stack is not here may hold the other half.
  const bool are_all = halves.size() == 2 ? facts.known_world <= 2
                                          : facts.known_world == static_cast<int>(halves.size());
  if (ranks.empty() && are_alike && are_all) {
    for (const auto& [rank, half] : halves) ranks.insert(rank);
  }
  if (ranks.empty()) return std::nullopt;
  Explanation out;
  out.kind = Kind::DeadlockCycle;
  out.culprits = {ranks.begin(), ranks.end()};
  out.confidence =
      are_all || are_told ? confidence::kTransfersCrossed : confidence::kTransfersCrossedSome;
  out.why = fmt::format(
      "{} wait for each other: {}", ranks_text(out.culprits),
      are_told     ? "by the peers that their stacks show, each is in the same half of one transfer"
      : !are_alike ? "each stands in a half of a transfer that the other begins only behind its own"
      : first == StackHalf::Send
          ? "each is in a send, which ends once the other receives, and none does"
          : "each is in a receive, and none has begun the send for it");
  for (const ProcessStack& stack : facts.stacks) {
    out.details.push_back(stack.text());
    out.evidence.push_back({stack.file, -1, stack.line, stack.text()});
  }
  out.stack = facts.stacks.front().frames;
  out.missing.push_back(
      "what each sends to whom: let one of the two receive first, or begin both halves at once "
      "(batch_isend_irecv)");
  return out;
}

std::optional<Explanation> roots_apart(const LogFacts& facts) {
  std::map<int, std::vector<int>> by_root;
  std::size_t all = 0;
  for (const ProcessStack& stack : facts.stacks) {
    if (stack.op != Op::Broadcast || stack.peer < 0 || stack.ranks.empty()) continue;
    auto& ranks = by_root[stack.peer];
    ranks.insert(ranks.end(), stack.ranks.begin(), stack.ranks.end());
    all += stack.ranks.size();
  }
  if (by_root.size() < 2) return std::nullopt;
  const auto most = std::max_element(
      by_root.begin(), by_root.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  Explanation out;
  out.kind = Kind::RootMismatch;
  const bool is_majority = most->second.size() * 2 > all;
  out.confidence = is_majority ? confidence::kTransfersCrossed : confidence::kStacksParted;
  for (const auto& [root, ranks] : by_root) {
    if (!is_majority || root != most->first)
      out.culprits.insert(out.culprits.end(), ranks.begin(), ranks.end());
    out.details.push_back(
        fmt::format("{} in a broadcast from {}", ranks_that(ranks, "stands", "stand"), root));
  }
  std::sort(out.culprits.begin(), out.culprits.end());
  out.why = fmt::format(
      "{} broadcast from another root than the others, by the arguments in their stacks",
      ranks_text(out.culprits));
  for (const ProcessStack& stack : facts.stacks) {
    if (out.evidence.size() < 6) out.evidence.push_back({stack.file, -1, stack.line, stack.text()});
  }
  return out;
}

}  // namespace ringside::hang
