#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/transport/socket/patience.h"

namespace ringside::attach {

/// Bytes read of one process's dump at most, from wherever it comes.
inline constexpr std::size_t kMostDump = std::size_t{256} << 20;

/// A process of this host, as /proc shows it.
struct ProcessFacts {
  char state = '?';                              ///< R, S, D, T (stopped), Z, ...
  std::string program;                           ///< the first word of its command line
  std::map<std::string, std::string> variables;  ///< those that its environment began with
  std::string folder;                            ///< of the process in /proc
};

/// returns  nothing: there is no such process
/// proc     a test's folder in place of /proc
std::optional<ProcessFacts> read_process(std::int64_t pid, const std::string& proc = "/proc");

/// The process that started this one.
/// returns  nothing: there is no such process
std::optional<std::int64_t> parent_of(std::int64_t pid, const std::string& proc = "/proc");

/// The stack of a process, and the tool that read it.
struct ProcessText {
  std::string text;  ///< with a head that names the process
  std::string tool;  ///< `py-spy`, `gdb, Python frames` or `gdb, native frames`
};

/// Reads the stack of a process: by `py-spy dump --nonblocking`, which does not stop it, else by gdb, which stops it for
/// as long as it reads. gdb shows Python's frames where the debug symbols of the interpreter are installed (python3-dbg).
/// is_stopped  the process is stopped already: gdb is not used, because the process would run when gdb leaves it
/// errors      Unsupported: no tool is installed, or none may be used.  Timeout.  System: the tool failed; its words
Result<ProcessText> stack_of(std::int64_t pid, Deadline deadline, bool is_stopped = false);

/// Rewrites the frames that gdb's `py-bt` prints of the selected thread as py-spy would print them.
/// returns  empty: the text has no such frames
std::string python_stack_in(std::string_view gdb_text, std::int64_t pid);

/// Asks a process for its Flight Recorder dump through its pipe (TORCH_NCCL_DEBUG_INFO_PIPE_FILE), and waits for the file
/// that it writes. This is the one request with which the job writes a file: the one that it would write on a time-out.
/// rank    as the pipe's name has it
/// errors  NotFound: the process has no pipe, or no path for dumps.  Timeout: it wrote none.  System
Result<std::string> dump_by_pipe(const ProcessFacts& process, int rank, Deadline deadline);

}  // namespace ringside::attach
