#pragma once

#include <cstdint>

#include "ringside/error.h"
#include "ringside/units.h"

namespace ringside {

/// Returns a Corrupt error: a slot announces an impossible size.
Error bad_size(std::uint64_t size, Bytes slot_size);

/// Returns an InvalidArgument error: the message's size differs from the expected one, so the ranks run different
/// collectives.
Error other_size(std::uint64_t sent, std::uint64_t expected);

}  // namespace ringside
