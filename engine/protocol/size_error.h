#pragma once

#include <cstdint>

#include "ringside/error.h"
#include "ringside/units.h"

namespace ringside {

/// Corrupt: a slot that claims to hold what no slot can.
Error bad_size(std::uint64_t size, Bytes slot_size);

/// InvalidArgument: the two ranks do not mean the same collective.
Error other_size(std::uint64_t sent, std::uint64_t expected);

}  // namespace ringside
