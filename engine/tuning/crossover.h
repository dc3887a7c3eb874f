#pragma once

#include <vector>

#include "engine/tuning/select.h"

namespace ringside {

/// A range of sizes with the same fastest combination. It ends where the next Stretch begins.
struct Stretch {
  Bytes from;
  Candidate fastest;  ///< the fastest combination, with its prediction at `from`
};

/// Finds the fastest combination for all sizes from `from` to `to`, and the sizes at which it changes. A size at which
/// it changes is exact, except where two predictions differ by less than single precision holds: there, either choice
/// is right.
/// call     the call; its size is ignored
/// shape    from <= to
/// returns  ascending ranges, the first at `from`; empty if no combination is available
std::vector<Stretch> stretches(const Tuner& tuner, TuningCall call, Bytes from, Bytes to);

}  // namespace ringside
