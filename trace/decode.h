#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ringside/trace_block.h"
#include "ringside/trace_info.h"

namespace ringside {

/// The kind of a payload.
enum class BlockContent {
  Events,
  Info,
  Unknown,    ///< well-formed, of a newer kind
  Malformed,  ///< not a FlatBuffer of the schema, or columns of unequal length
};

/// Reads the payload of a block: the counterpart of BlockEncoder.
class BlockDecoder {
 public:
  /// Verifies the payload from end to end; fills `block` for Events, `info` for Info.
  /// shape  payload is a multiple of 8 bytes; it may lie anywhere, but askew it is copied
  static BlockContent decode(std::span<const std::byte> payload, TraceBlock& block,
                             TraceInfo& info);

  /// For a payload in which decode() has found events.
  static TraceBlock events(std::span<const std::byte> payload, std::uint32_t pid);
};

}  // namespace ringside
