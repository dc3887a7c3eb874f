#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "diag/hangdetect/examine.h"
#include "ringside/units.h"

namespace ringside::cli {

/// Watches the growing dumps and logs of a job until it hangs, from outside: files are only opened for reading.
///
/// A folder that has not grown for 8 s is examined. A verdict other than not_a_hang and unknown, with at least even
/// odds, ends the watch: within 15 s after progress stopped, if the files show the cause. Otherwise a quiet folder is
/// watched further, with a note to stderr.
///
/// longest  when to give up; 0: never
/// returns  the examination; nothing if time ran out before the job hung
/// errors   NotFound: no such folder. InvalidArgument: the folder cannot be read
Result<std::unique_ptr<hang::Examination>> watch_for_hang(const std::string& folder,
                                                          Seconds longest,
                                                          Clock& clock = real_clock());

}  // namespace ringside::cli
