#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ringside/trace_event.h"
#include "ringside/trace_info.h"
#include "trace/clock_map.h"

namespace ringside {

/// Makes framed blocks, ready for one write() each. Keeps its memory from block to block.
///
/// Threads   one at a time
class BlockEncoder {
 public:
  /// The most events of one block, so that the payload stays below rtrace::kMostPayload.
  static constexpr std::size_t kMostEvents = 16 * 1024;

  BlockEncoder();
  ~BlockEncoder();

  /// The block, valid until the next call. Times are mapped by `clock`; columns with the same value for all
  /// events shrink to one entry.  shape  1 .. kMostEvents events
  std::span<const std::byte> events(std::span<const TraceEvent> events, const ClockMap& clock,
                                    std::uint32_t pid);

  /// The block that introduces a process. Texts are cut off at 4 KiB, values at 64.
  std::span<const std::byte> info(const TraceInfo& info);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
