#pragma once

#include <type_traits>

#include "base/words.h"

namespace ringside {

/// Calls visit(constant) with the collective whose kernel runs the given one: run_device_block<constant()>.
template <typename Visit>
auto with_kernel_collective(Collective collective, Visit&& visit) {
  switch (collective) {
    case Collective::AllReduce:
      return visit(std::integral_constant<Collective, Collective::AllReduce>{});
    case Collective::AllGather:
    case Collective::AllGatherV:
      return visit(std::integral_constant<Collective, Collective::AllGather>{});
    case Collective::ReduceScatter:
      return visit(std::integral_constant<Collective, Collective::ReduceScatter>{});
    case Collective::Broadcast:
      return visit(std::integral_constant<Collective, Collective::Broadcast>{});
    case Collective::Reduce:
      return visit(std::integral_constant<Collective, Collective::Reduce>{});
    default:
      return visit(std::integral_constant<Collective, Collective::SendRecv>{});
  }
}

/// One of each kernel's.
inline constexpr Collective kKernelCollectives[] = {
    Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter,
    Collective::Broadcast, Collective::Reduce,    Collective::SendRecv};

/// Returns the collective whose kernel runs it.
inline Collective kernel_collective(Collective collective) {
  return with_kernel_collective(collective, [](auto constant) { return constant(); });
}

}  // namespace ringside
