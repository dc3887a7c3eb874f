#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/result.h"
#include "base/vocabulary.h"
#include "ringside/units.h"

namespace ringside {

/// What both ends of a connection have to agree on.
struct ConnectionShape {
  Protocol protocol = Protocol::Simple;
  Bytes slot_size;  ///< data of one slot
};

/// What one end sends to the other, in front of everything else:
///
///     0  4  "RSPR"
///     4  1  protocol, as Protocol counts
///     5  3  zero
///     8  8  slot size, little-endian
inline constexpr std::size_t kPreamble = 16;

std::array<std::byte, kPreamble> preamble_of(ConnectionShape shape);

/// Whether the peer's preamble says the same as ours would.
/// errors  Corrupt: it is none.  InvalidArgument: another protocol or slot size; both are named.
Status check_preamble(std::span<const std::byte, kPreamble> theirs, ConnectionShape mine);

}  // namespace ringside
