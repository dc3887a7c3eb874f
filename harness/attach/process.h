#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/transport/socket/patience.h"

namespace ringside::attach {

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

/// The Python or native stack of a process: by `py-spy dump --nonblocking`, which does not stop it, else by gdb, which
/// stops it for as long as it reads.
/// returns  the tool's text, with a head that names the process
/// errors   Unsupported: neither tool is installed.  Timeout.  System: the tool failed; its words
Result<std::string> stack_of(std::int64_t pid, Deadline deadline);

/// Asks a process for its Flight Recorder dump through its pipe (TORCH_NCCL_DEBUG_INFO_PIPE_FILE), and waits for the file
/// that it writes. This is the one request with which the job writes a file: the one that it would write on a time-out.
/// rank    as the pipe's name has it
/// errors  NotFound: the process has no pipe, or no path for dumps.  Timeout: it wrote none.  System
Result<std::string> dump_by_pipe(const ProcessFacts& process, int rank, Deadline deadline);

}  // namespace ringside::attach
