#pragma once

#include <cstddef>

namespace ringside {

/// Copies without using the caches: the destination's lines are neither read nor cached. Faster for data larger than
/// the last-level cache that is not read soon; slower if the copy is read next.
/// shape   any alignment; the two do not overlap. The bytes are visible to every thread that sees a later release
///         store of the calling thread.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace ringside
