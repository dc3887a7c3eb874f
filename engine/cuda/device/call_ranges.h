#pragma once

#include <cstddef>
#include <vector>

#include "engine/runtime/calls/call.h"

namespace ringside {

/// A range of the caller's memory, in bytes.
struct MemoryRange {
  const std::byte* begin = nullptr;
  std::size_t size = 0;
};

/// The memory that a call reads and writes on one rank.
struct CallRanges {
  std::vector<MemoryRange> reads, writes;
};

/// Returns the memory that this rank's part of a call reads and writes.
CallRanges ranges_of(const CollectiveCall& call, Rank me, int nranks);

/// Returns whether one of two calls must end before the other begins, because it writes what the other reads or writes.
bool depend(const CallRanges& a, const CallRanges& b);

}  // namespace ringside
