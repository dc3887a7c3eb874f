#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "ringside/units.h"

namespace ringside::cli {

/// The progress of a verb, on one line of a terminal that it redraws: for work that takes more than a second and whose
/// amount is known. (`audit` cannot know how much there is to read: it shows a rate.)
/// Own code, because Debian packages no C++ library for it. Nothing is drawn where stderr is no terminal, nor in the
/// first second. An interrupt (SIGINT) prints how far the verb came, on a terminal or not.
///
///     Progress progress("read");
///     while (...) progress.show(done / all);   // cheap: draws five times a second
///
/// Threads  any
class Progress {
 public:
  /// what  a word or two before the bar
  explicit Progress(std::string what);
  ~Progress();  ///< leaves no line behind
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Updates the progress line.
  /// share  completed share, 0 .. 1
  /// note   current step; shown after the bar
  void show(double share, const std::string& note = "");

  /// Clears the line, so that other output can go to the terminal. The next show() draws it anew.
  void erase();

 private:
  using Clock = std::chrono::steady_clock;

  const std::string what_;
  const bool is_terminal_;
  const bool is_reported_;    ///< an interrupt prints this object's progress: the first of several
  const std::int64_t begun_;  ///< ms, for the interrupt
  const Clock::time_point begin_ = Clock::now();
  std::mutex mutex_;
  Clock::time_point next_;  ///< under mutex_
  bool is_drawn_ = false;   ///< under mutex_
};

/// Returns the continuation of "ringside: interrupted after 12": " s, 40 % into: simulating 1G"
std::string interrupted_tail(const std::string& what, double share);

/// Returns "bench [############                  ]  40 %, 12 s left, 4M", cut to `width` columns.
/// elapsed  time since the beginning; with `share` it gives the remaining time
std::string progress_line(const std::string& what, double share, Seconds elapsed,
                          const std::string& note, std::size_t width);

}  // namespace ringside::cli
