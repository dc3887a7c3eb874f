#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/result.h"
#include "base/vocabulary.h"
#include "ringside/units.h"

namespace ringside {

/// The properties on which both ends of a connection must agree.
struct ConnectionShape {
  Protocol protocol = Protocol::Simple;
  Bytes slot_size;  ///< bytes of data of one slot
};

/// The first bytes that each end sends to the other:
///
///     0  4  "RSPR"
///     4  1  protocol, as Protocol counts
///     5  3  zero
///     8  8  slot size, little-endian
inline constexpr std::size_t kPreamble = 16;

std::array<std::byte, kPreamble> preamble_of(ConnectionShape shape);

/// Checks that the peer's preamble describes the same shape.
/// errors  Corrupt: not a preamble.  InvalidArgument: another protocol or slot size; the error names both.
Status check_preamble(std::span<const std::byte, kPreamble> theirs, ConnectionShape mine);

}  // namespace ringside
