#include "harness/hangs/calls.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ringside::hangs {
namespace {

constexpr std::array kCalls{std::pair{Op::AllReduce, Collective::AllReduce},
                            std::pair{Op::AllGather, Collective::AllGather},
                            std::pair{Op::ReduceScatter, Collective::ReduceScatter},
                            std::pair{Op::Broadcast, Collective::Broadcast},
                            std::pair{Op::Reduce, Collective::Reduce},
                            std::pair{Op::AllToAll, Collective::AllToAll},
                            std::pair{Op::Send, Collective::Send},
                            std::pair{Op::Recv, Collective::Recv}};

}  // namespace

Collective collective_of(Op op) {
  const auto found = std::ranges::find(kCalls, op, &std::pair<Op, Collective>::first);
  return found == kCalls.end() ? Collective::AllReduce : found->second;
}

Op op_of(Collective collective, Op other) {
  // A barrier stays a barrier.
  if (collective_of(other) == collective) return other;
  const auto found = std::ranges::find(kCalls, collective, &std::pair<Op, Collective>::second);
  return found == kCalls.end() ? other : found->first;
}

}  // namespace ringside::hangs
