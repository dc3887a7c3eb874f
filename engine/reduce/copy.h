#pragma once

#include <cstddef>

namespace ringside {

/// memcpy around the caches: the destination's lines are neither read nor kept. Pays for what is larger
/// than the last-level cache and not read soon; costs where the copy is read next.
/// shape   any alignment; the two do not overlap. The bytes are visible to every thread that sees a later release
///         store of the calling thread.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace ringside
