#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ringside/trace_event.h"
#include "ringside/trace_info.h"
#include "trace/clock_map.h"
#include "trace/dump_part.h"

namespace ringside {

/// Encodes framed blocks, each for a single write(). It reuses its memory from block to block.
///
/// Threads   one at a time
class BlockEncoder {
 public:
  /// Maximum number of events per block: keeps the payload below rtrace::kMostPayload.
  static constexpr std::size_t kMostEvents = 16 * 1024;

  BlockEncoder();
  ~BlockEncoder();

  /// Returns the block of these events, valid until the next call. `clock` maps their times; a
  /// column with equal values is stored as one entry.  shape  1 .. kMostEvents events
  std::span<const std::byte> events(std::span<const TraceEvent> events, const ClockMap& clock,
                                    std::uint32_t pid);

  /// Maximum bytes of a dump per block, likewise.
  static constexpr std::size_t kMostDumpBytes = 512 * 1024;

  /// Returns the block of a part of a dump.  shape  1 .. kMostDumpBytes bytes
  std::span<const std::byte> dump(const TraceDumpPart& part, std::uint32_t pid);

  /// Returns the block that introduces a process. Texts are cut at 4 KiB, and only 64 values are
  /// stored.
  std::span<const std::byte> info(const TraceInfo& info);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
