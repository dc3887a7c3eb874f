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

/// Maximum bytes of one process's dump, from any source.
inline constexpr std::size_t kMostDump = std::size_t{256} << 20;

/// A process of this host, as /proc shows it. What cannot be read, such as the environment of another user's process, is
/// empty.
struct ProcessFacts {
  char state = '?';                              ///< R, S, D, T (stopped), Z, ...: proc(5)
  std::string program;                           ///< the first word of its command line
  std::map<std::string, std::string> variables;  ///< its environment at its start
  std::string folder;                            ///< the process's folder in /proc
};

/// Reads the facts of a process.
/// proc     /proc, or a test's folder
/// returns  nullopt: the process does not exist
std::optional<ProcessFacts> read_process(std::int64_t pid, const std::string& proc = "/proc");

/// Returns the parent of a process.
/// returns  nullopt: the process does not exist
std::optional<std::int64_t> parent_of(std::int64_t pid, const std::string& proc = "/proc");

/// The stack of a process, and the tool that read it.
struct ProcessText {
  std::string text;  ///< begins with a line that names the process
  std::string tool;  ///< `py-spy`, `gdb, Python frames` or `gdb, native frames`
};

/// Reads the stack of a process: by `py-spy dump --nonblocking`, which does not stop it, else by gdb, which stops it
/// while it reads. gdb shows Python's frames if the debug symbols of the interpreter are installed (python3-dbg).
/// is_stopped  the process is already stopped: gdb is not used, because the process would continue when gdb detaches
/// errors      Unsupported: no tool is installed or permitted.  Timeout.  System: the tool failed; contains its message
Result<ProcessText> stack_of(std::int64_t pid, Deadline deadline, bool is_stopped = false);

/// Rewrites the frames that gdb's `py-bt` prints of the selected thread as py-spy would print them.
/// returns  empty: the text has no such frames
std::string python_stack_in(std::string_view gdb_text, std::int64_t pid);

/// Requests the Flight Recorder dump of a process through its pipe (TORCH_NCCL_DEBUG_INFO_PIPE_FILE), and waits for the
/// file that it writes. No other query makes the job write a file; this one is the file that it would write after a
/// timeout.
/// rank     the rank in the pipe's name
/// returns  the content of the dump
/// errors   NotFound: the process has no pipe, or no path for dumps.  Timeout: it wrote no dump.  System
Result<std::string> dump_by_pipe(const ProcessFacts& process, int rank, Deadline deadline);

/// Returns what the state that ps names by a letter means.
const char* describe_state(char letter);

}  // namespace ringside::attach
