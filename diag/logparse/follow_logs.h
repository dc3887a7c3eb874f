#pragma once

#include <chrono>
#include <memory>

#include "base/result.h"
#include "diag/logparse/parse_logs.h"

namespace ringside::logs {

/// Reads files that grow (`-f`): everything there is, then what is added.
///
/// A file that became shorter, or was replaced under its name, is read from its start again; the rest of the old file
/// is read first if it is still available. Folders are searched for new files at each poll.
/// Files are opened for each poll and closed after it: any number of them may be followed.
///
/// Threads  one thread
class LogFollower {
 public:
  /// errors  InvalidArgument: no arguments
  static Result<std::unique_ptr<LogFollower>> make(std::vector<std::string> arguments,
                                                   RecordSink& sink);
  ~LogFollower();
  LogFollower(const LogFollower&) = delete;
  LogFollower& operator=(const LogFollower&) = delete;

  /// Reads what is new, up to the last whole line; a line without its end waits.
  /// returns  bytes read; 0: nothing new
  Bytes poll();

  /// Parses lines without an end, too.
  void finish();

  /// Nothing more can arrive: all inputs are pipes whose writers have gone.
  [[nodiscard]] bool is_over() const;

  [[nodiscard]] const LogFiles& files() const;
  /// What was read so far; where() knows all places of it.
  [[nodiscard]] ParseReport report() const;

 private:
  struct Impl;
  explicit LogFollower(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::logs
