#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "engine/debuglog/line.h"
#include "engine/debuglog/settings.h"
#include "engine/debuglog/start_text.h"
#include "engine/transport/socket/address.h"
#include "ringside/error.h"

namespace ringside {

/// The debug log of this process, as set by NCCL_DEBUG, NCCL_DEBUG_SUBSYS, NCCL_DEBUG_FILE and NCCL_DEBUG_TIMESTAMP_*,
/// in the wording of the NCCL release that the engine follows. It goes to the named file, else to stderr (NCCL uses
/// stdout, which here carries the program's output).
///
/// Ordering   each line is one write, so lines of several threads and processes do not mix
/// Threads    any
class DebugOutput {
 public:
  /// Returns the log of this process. Reads the variables at the first call, and again in a forked child.
  static DebugOutput& of_process();

  DebugOutput(const DebugOutput&) = delete;
  DebugOutput& operator=(const DebugOutput&) = delete;

  /// Writes later lines of `subsystems` (as NCCL_DEBUG_SUBSYS) into `file` (as NCCL_DEBUG_FILE), unless NCCL_DEBUG or
  /// NCCL_DEBUG_FILE is set. Forked children follow the variables alone.
  void log_into(const std::string& file, const std::string& subsystems);

  /// Returns whether lines of this level are shown: warnings for Warn, all other lines for Info.
  [[nodiscard]] bool has(DebugLevel least);
  /// Returns whether lines of any of these subsystems are shown. Call it before building a costly line.
  [[nodiscard]] bool shows(Subsystems about);
  [[nodiscard]] NcclVersion version() const { return NcclVersion{}; }

  void info(Subsystems about, std::string_view message);

  /// Logs a warning for an Error that is also returned to the caller, and the `file:line -> result` line that NCCL
  /// adds.
  void warn(const WarnPlace& place, const Error& why);

  /// Logs an event that no Error reports (base/warning.h), such as an unknown client at a port. Shown with warnings, and
  /// also if NCCL_DEBUG is not set.
  void warn_text(const WarnPlace& place, std::string_view message);

  /// Logs the version once per process. For NCCL_DEBUG=VERSION only rank 0 logs it.
  void announce(bool is_rank_0);

  /// Sets the number in brackets, where NCCL prints the CUDA device: the process's index on its host.
  void set_place(int place);

 private:
  DebugOutput();
  struct State;
  State& state();
  void write();

  std::mutex mutex_;
  std::unique_ptr<State> state_;
};

/// Returns this host's interface with that address, or nothing.
std::optional<NetInterface> interface_at(const SocketAddress& address);

}  // namespace ringside
