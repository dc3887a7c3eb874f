#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "diag/hangdetect/examine.h"
#include "ringside/units.h"

namespace ringside::cli {

/// Looks at the growing dumps and logs of a job until it stands, from outside: files are only ever
/// opened for reading.
///
/// A folder that has not grown for 8 s is examined. A verdict other than not_a_hang and unknown, with at
/// least even odds, ends the watch: under 15 s after progress stopped, where the files say why it did. A
/// folder that is quiet and does not say so is watched on, with a note to stderr.
///
/// longest  when to give up; 0: never
/// returns  the examination; nothing where time ran out before the job stood
/// errors   NotFound: no such folder
Result<std::unique_ptr<hang::Examination>> watch_for_hang(const std::string& folder,
                                                          Seconds longest,
                                                          Clock& clock = real_clock());

}  // namespace ringside::cli
