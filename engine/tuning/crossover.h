#pragma once

#include <vector>

#include "engine/tuning/select.h"

namespace ringside {

/// A range of sizes with the same fastest combination. It ends where the next Stretch begins.
struct Stretch {
  Bytes from;
  Candidate fastest;  ///< the fastest combination, with its prediction at `from`
};

/// Finds the fastest combination for all sizes from `from` to `to`, with the exact sizes in bytes at which it changes.
/// call     the call; its size is ignored
/// shape    from <= to
/// returns  ascending ranges, the first at `from`; empty if no combination is available
std::vector<Stretch> stretches(const Tuner& tuner, TuningCall call, Bytes from, Bytes to);

}  // namespace ringside
