#pragma once

#include <chrono>
#include <memory>

#include "base/result.h"
#include "diag/logparse/parse_logs.h"

namespace ringside::logs {

/// Follows growing files (`-f`): reads their content, then what is appended.
///
/// A file that was truncated or replaced is read from its start; what was appended to the old file after the last poll is
/// lost. Each poll searches folders for new files. Files are open only during a poll, so any number of files can be
/// followed; a named pipe stays open.
///
/// Threads  one thread
class LogFollower {
 public:
  /// arguments  files, folders and globs, as for find_logs()
  /// sink       must outlive the follower
  /// errors     InvalidArgument: no arguments
  static Result<std::unique_ptr<LogFollower>> make(std::vector<std::string> arguments,
                                                   RecordSink& sink);
  ~LogFollower();
  LogFollower(const LogFollower&) = delete;
  LogFollower& operator=(const LogFollower&) = delete;

  /// Reads new data up to the last whole line. A line without a newline is read by a later poll.
  /// returns  bytes read; 0: no new data
  Bytes poll();

  /// Parses the last lines even if they lack a newline. Call it once, at the end.
  void finish();

  /// Returns whether no more data can arrive, because all inputs are pipes whose writers have closed them.
  [[nodiscard]] bool is_over() const;

  [[nodiscard]] const LogFiles& files() const;
  /// Returns the report on the data read so far; where() resolves its places.
  [[nodiscard]] ParseReport report() const;

 private:
  struct Impl;
  explicit LogFollower(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::logs
