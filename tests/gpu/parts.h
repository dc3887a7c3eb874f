#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace ringside {

/// Runs parts 0 .. count - 1 of a measurement in a forked process. A part that fails, crashes or takes too long ends that process, and
/// a fresh one continues with the next part: a GPU's error stays with the process that has met it.
///
/// most_s      seconds of a part; a longer one is ended by SIGALRM
/// work        runs parts from `first` on, and calls done() after each
/// on_failure  gets the part that failed and the reason, in this process; part `count`: the process failed after the last part
/// Threads     fork() needs a process without other threads, and nothing in it may have met a GPU
/// returns     whether every part succeeded
bool run_in_parts(int count, unsigned most_s,
                  const std::function<Status(int first, const std::function<void()>& done)>& work,
                  const std::function<void(int part, const std::string& why)>& on_failure);

}  // namespace ringside
