#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "ringside/trace_block.h"
#include "ringside/trace_info.h"
#include "trace/dump_part.h"

namespace ringside {

/// The type of a payload.
enum class BlockContent {
  Events,
  Info,
  Dump,       ///< a part of a rank's dump
  Unknown,    ///< well-formed, of a type that only a newer ringside knows
  Malformed,  ///< not a FlatBuffer of the schema, or columns of unequal length
};

/// Reads the payload of a block: the counterpart of BlockEncoder.
class BlockDecoder {
 public:
  /// Verifies the whole payload; fills `block` for Events, `info` for Info.
  /// shape  the size is a multiple of 8 bytes; an unaligned payload is copied
  static BlockContent decode(std::span<const std::byte> payload, TraceBlock& block,
                             TraceInfo& info);

  /// Returns the part of a dump in a payload for which decode() returned Dump. The size of its bytes may be 0, its rank
  /// negative.
  /// copy  holds the bytes of an unaligned payload, to which the part then points
  static TraceDumpPart dump(std::span<const std::byte> payload,
                            std::unique_ptr<std::uint64_t[]>& copy);

  /// Returns the events of a payload for which decode() returned Events.
  static TraceBlock events(std::span<const std::byte> payload, std::uint32_t pid);
};

}  // namespace ringside
