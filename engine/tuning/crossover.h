#pragma once

#include <vector>

#include "engine/tuning/select.h"

namespace ringside {

/// From `bytes` on one combination is the fastest, up to where the next Stretch begins.
struct Stretch {
  Bytes from;
  Candidate fastest;  ///< with its prediction at `from`
};

/// The fastest combination over all sizes: the exact size in bytes from which each is the fastest.
/// call     its size is not looked at
/// shape    from <= to
/// returns  in ascending order, the first at `from`; empty where nothing is left
std::vector<Stretch> stretches(const Tuner& tuner, TuningCall call, Bytes from, Bytes to);

}  // namespace ringside
