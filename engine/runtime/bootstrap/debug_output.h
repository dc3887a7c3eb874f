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

/// The debug log of this process: what NCCL_DEBUG, NCCL_DEBUG_SUBSYS, NCCL_DEBUG_FILE and
/// NCCL_DEBUG_TIMESTAMP_* ask for, in the words of the release whose decisions the engine takes. It goes to
/// stderr where NCCL's goes to stdout, which is the answer's here; into a file, if one is named.
///
/// Ordering   a line is one write, so lines of several threads and processes never tear
/// Threads    any
class DebugOutput {
 public:
  /// Reads the variables when it is first asked for, and anew in a forked child.
  static DebugOutput& of_process();

  DebugOutput(const DebugOutput&) = delete;
  DebugOutput& operator=(const DebugOutput&) = delete;

  /// From now on writes lines about those subsystems into the file, both as NCCL's variables have them, unless NCCL_DEBUG or
  /// NCCL_DEBUG_FILE ask for something. Forked children do as the variables say.
  void log_into(const std::string& file, const std::string& subsystems);

  /// Whether warnings (Warn), whether any other lines (Info) are shown.
  [[nodiscard]] bool has(DebugLevel least);
  /// Whether lines of any of these subsystems are shown: checks this before a line that is costly to make.
  [[nodiscard]] bool shows(Subsystems about);
  [[nodiscard]] NcclVersion version() const { return NcclVersion{}; }

  void info(Subsystems about, std::string_view message);

  /// A failure that the caller gets as an Error, too, and the line by which NCCL passes one on.
  void warn(const WarnPlace& place, const Error& why);

  /// A stranger at a port, and other events that no Error reports (base/remark.h). Shown as warnings
  /// are, and where NCCL_DEBUG is not set.
  void remark(const WarnPlace& place, std::string_view message);

  /// The version, once a process: with the others' lines, or alone for NCCL_DEBUG=VERSION on rank 0.
  void announce(bool is_rank_0);

  /// The number in brackets, where NCCL prints its device: the process's place on its host.
  void set_place(int place);

 private:
  DebugOutput();
  struct State;
  State& state();
  void write();

  std::mutex mutex_;
  std::unique_ptr<State> state_;
};

/// This host's interface with that address; nothing: there is none.
std::optional<NetInterface> interface_at(const SocketAddress& address);

}  // namespace ringside
