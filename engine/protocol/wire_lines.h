#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/vocabulary.h"
#include "ringside/units.h"

/// Encodes a step of any protocol for a byte stream: the plain data for Simple, whole lines with their flags, as in a
/// slot, for LL and LL128. The stream delivers in order, so the flags do not signal arrival there; they are checked,
/// and reveal lost, duplicated or reordered data.
/// source  NCCL's network proxies send an LL or LL128 slot unchanged, once all its flags are those of the step
namespace ringside {

/// Returns the bytes on the wire of a step with `size` bytes of data.
Bytes wire_size(Protocol protocol, Bytes size);

/// Encodes a step into `wire`.
/// shape   wire: wire_size(protocol, data.size()) bytes, aligned to 8; data: at least 1 byte
void pack_wire(Protocol protocol, std::span<std::byte> wire, std::span<const std::byte> data,
               std::uint64_t step);

/// Decodes a step.
/// returns  the data: a part of `wire` for Simple, else of `room`
/// shape    wire: aligned to 8 bytes, only read; room: slot_size bytes
/// errors   Corrupt: a flag is not that of the step (the error has both), or the size does not fit the wire or the slot
Result<std::span<const std::byte>> unpack_wire(Protocol protocol, std::span<std::byte> wire,
                                               std::uint64_t step, std::span<std::byte> room);

}  // namespace ringside
