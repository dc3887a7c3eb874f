#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/vocabulary.h"
#include "ringside/units.h"

/// A step of any protocol as it lies on a byte stream: Simple is the data themselves, LL and LL128 are
/// whole lines with their flags, as they lie in a slot. The stream delivers in order, so the flags do not signal
/// arrival there; they are checked, and show what was lost, doubled or mixed up on the way.
/// source  NCCL's network proxies send an LL or LL128 slot as it is, once the flags in it are right
namespace ringside {

/// Bytes on the wire of a step with `size` bytes of data.
Bytes wire_size(Protocol protocol, Bytes size);

/// shape   wire: wire_size(protocol, data.size()) bytes, aligned to 8; data: at least 1 byte
void pack_wire(Protocol protocol, std::span<std::byte> wire, std::span<const std::byte> data,
               std::uint64_t step);

/// returns the data: within `wire` for Simple, in `room` else
/// shape   wire: aligned to 8 bytes, only read; room: slot_size bytes
/// errors  Corrupt: a flag is not the step's (both are named), or the size does not fit the wire or
///         the slot
Result<std::span<const std::byte>> unpack_wire(Protocol protocol, std::span<std::byte> wire,
                                               std::uint64_t step, std::span<std::byte> room);

}  // namespace ringside
