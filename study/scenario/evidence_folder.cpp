#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "study/scenario/scenario_parts.h"

namespace ringside::study {

namespace fs = std::filesystem;

namespace {

/// Blocks the signals that end a process at a terminal, on this thread and in processes that it starts meanwhile.
class TerminalSignalsBlocked {
 public:
  TerminalSignalsBlocked() {
    sigset_t these;
    sigemptyset(&these);
    for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&these, one);
    ::pthread_sigmask(SIG_BLOCK, &these, &before_);
  }
  ~TerminalSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  TerminalSignalsBlocked(const TerminalSignalsBlocked&) = delete;
  TerminalSignalsBlocked& operator=(const TerminalSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

/// Starts a process that removes the folder once no process holds the pipe's other end: a signal's handler could not.
/// It is reparented, so that waiting for ranks never returns it. Signals are blocked while it starts, and stay so in it.
UniqueFd start_keeper(const std::string& folder) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};  // then a signal leaves the folder behind
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  const pid_t child = ::fork();
  if (child != 0) {
    if (child > 0) ::waitpid(child, nullptr, 0);
    return write_end;
  }
  if (::fork() != 0) ::_exit(0);
  ::setsid();  // the caller may end its whole process group
  write_end = {};
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(standard);
  char byte = 0;
  while (::read(read_end.get(), &byte, 1) < 0 && errno == EINTR) {
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  ::_exit(0);
}

}  // namespace

Result<EvidenceFolder> EvidenceFolder::make(const std::string& named) {
  if (!named.empty()) return EvidenceFolder(named, {}, std::nullopt);
  const TerminalSignalsBlocked until_kept;  // from the moment that the folder exists
  RINGSIDE_TRY(TemporaryFolder temporary, TemporaryFolder::make("run"));
  UniqueFd alive = start_keeper(temporary.path());
  return EvidenceFolder({}, std::move(alive), std::move(temporary));
}

}  // namespace ringside::study
