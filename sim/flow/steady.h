#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// Number of loops of a call to simulate first, if not all are simulated.
inline constexpr std::int64_t kFirstLoops = 16;

/// An operation that is repeated: loops of a call, or steps of a run.
struct Repeated {
  /// Number of repetitions.
  std::int64_t all = 0;
  double work = 0;         ///< `all` in full repetitions; less if the last ones are shorter
  std::int64_t first = 1;  ///< repetitions of the first trial; later trials are multiples of it
  std::int64_t most = 0;   ///< upper bound of a trial, from the third trial on
};

/// Returns the time of all repetitions, extrapolated from trials of `first` repetitions, then twice as many and so on.
/// The trials end when the time per repetition has changed by at most 0.1 % twice in a row, or when the next one would
/// exceed `most`: then the pace may not be steady. The rest counts at the last pace.
/// run      returns the time of the first n repetitions, 1 <= n <= all
/// returns  run(all) if `all` is at most `most` or `first`, or if the pace is not steady when the next trial would be the
///          last
/// errors   those of `run`
Result<Seconds> until_steady(const Repeated& what,
                             const std::function<Result<Seconds>(std::int64_t)>& run);

}  // namespace ringside
