#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ringside/trace_block.h"
#include "ringside/trace_info.h"

namespace ringside {

/// What a payload holds.
enum class BlockContent {
  Events,
  Info,
  Unknown,    ///< well-formed, and of a kind that only a newer ringside knows
  Malformed,  ///< not a FlatBuffer of the schema, or columns of unequal length
};

/// Reads the payload of a block: the other side of BlockEncoder.
class BlockDecoder {
 public:
  /// Verifies the payload from end to end; fills `block` for Events, `info` for Info.
  /// shape  payload is a multiple of 8 bytes; it may lie anywhere, but askew it is copied
  static BlockContent decode(std::span<const std::byte> payload, TraceBlock& block,
                             TraceInfo& info);

  /// Of a payload that decode() has found to hold events.
  static TraceBlock events(std::span<const std::byte> payload, std::uint32_t pid);
};

}  // namespace ringside
