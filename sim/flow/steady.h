#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// Loops of a call that are taken first, where not all are.
inline constexpr std::int64_t kFirstLoops = 16;

/// Something that is done over and over: loops of a call, steps of a run.
struct Repeated {
  std::int64_t all = 0;
  double work = 0;         ///< the same, where the last ones are shorter
  std::int64_t first = 1;  ///< so many are tried first; all numbers tried are multiples of it
  std::int64_t most = 0;   ///< that may be tried
};

/// How long all take, where each more takes as long as the one before once it has got going: the time of some, of twice
/// as many and so on, until the pace stays, twice; from there on at that pace.
/// run      the time of the first n, 1 <= n <= all
/// returns  run(all) where that is not more than `most`
/// errors   run's
Result<Seconds> until_steady(const Repeated& what,
                             const std::function<Result<Seconds>(std::int64_t)>& run);

}  // namespace ringside
