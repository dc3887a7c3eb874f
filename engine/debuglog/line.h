#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/debuglog/subsystem.h"
#include "engine/debuglog/timestamps.h"
#include "engine/debuglog/version.h"

namespace ringside {

/// Which thread writes: its id, and the CUDA device that is selected in it.
struct LineThread {
  int tid = 0;
  int dev = 0;
};

/// The place of a warning in NCCL's source.
struct WarnPlace {
  std::string_view file;  ///< from NCCL's source folder on: "transport/net_ib.cc"
  int line = 0;
  std::string_view function;  ///< shown from 2.30 on
};

/// The debug log of one process: puts messages into lines as its version of NCCL does.
///
/// Ordering   lines are in the order of the calls
/// Threads    one at a time
/// Ownership  owns the text; take() returns and releases it
class DebugLog {
 public:
  /// host  as returned by log_host()
  DebugLog(NcclVersion version, Subsystems shown, std::string host, int pid, Timestamps times = {});

  [[nodiscard]] NcclVersion version() const { return version_; }
  [[nodiscard]] const std::string& host() const { return host_; }
  [[nodiscard]] int pid() const { return pid_; }

  /// Returns whether lines of any of these subsystems are shown. Call it before building a costly line.
  [[nodiscard]] bool shows(Subsystems about) const { return shown_.meets(about); }

  /// `host:pid:tid [dev] NCCL INFO message`, if the subsystem is shown. Up to 2.28 a line is cut at 1023 characters.
  void info(Subsystems about, LineThread thread, std::string_view message);

  /// Writes a line that every subsystem setting shows, such as the propagation of an error.
  void info(LineThread thread, std::string_view message);

  /// Writes an empty line, and `host:pid:tid [dev] file:line NCCL WARN message`: from 2.30 on with the function.
  void warn(LineThread thread, const WarnPlace& place, std::string_view message);

  /// `host:pid NCCL DIAG message`, which NCCL writes to stdout whatever is shown; 2.31+.
  void diagnosis(std::string_view message);

  /// Writes a line without prefix, as NCCL writes to stdout.
  void bare(std::string_view line);

  /// Sets the time of later lines, which may print it from 2.26 on.
  void set_time(WallTime time) { time_ = time; }

  [[nodiscard]] const std::string& text() const { return text_; }
  std::string take();

 private:
  void begin(DebugLevel level, LineThread thread);
  void end(std::size_t begun, std::string_view message);

  NcclVersion version_;
  Subsystems shown_;
  std::string host_;
  int pid_;
  std::string process_;  ///< "host:pid:"
  Timestamps times_;
  WallTime time_ = {};
  std::string text_;
};

}  // namespace ringside
