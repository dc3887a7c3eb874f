#include "diag/facts/exit_status.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace ringside::facts {
namespace {

struct Signal {
  std::int64_t number;
  std::string_view name;   ///< SIGKILL
  std::string_view words;  ///< as strsignal() prints it, in small letters
};

/// source  signal(7), x86 and ARM
constexpr std::array kSignals = {
    Signal{1, "SIGHUP", "hangup"},
    Signal{2, "SIGINT", "interrupt"},
    Signal{3, "SIGQUIT", "quit"},
    Signal{4, "SIGILL", "illegal instruction"},
    Signal{5, "SIGTRAP", "trace/breakpoint trap"},
    Signal{6, "SIGABRT", "aborted"},
    Signal{7, "SIGBUS", "bus error"},
    Signal{8, "SIGFPE", "floating point exception"},
    Signal{9, "SIGKILL", "killed"},
    Signal{10, "SIGUSR1", "user defined signal 1"},
    Signal{11, "SIGSEGV", "segmentation fault"},
    Signal{12, "SIGUSR2", "user defined signal 2"},
    Signal{13, "SIGPIPE", "broken pipe"},
    Signal{14, "SIGALRM", "alarm clock"},
    Signal{15, "SIGTERM", "terminated"},
    Signal{24, "SIGXCPU", "cpu time limit exceeded"},
    Signal{25, "SIGXFSZ", "file size limit exceeded"},
};

}  // namespace

std::optional<ExitStatus> status_of_code(std::int64_t code) {
  // source  bash(1), EXIT STATUS: 128 + the signal; signal(7): SIGRTMAX is 64. Python's subprocess has -signal
  constexpr std::int64_t kShellSignal = 128, kHighestSignal = 64;
  if (code == 0) return std::nullopt;
  if (code < 0 && code >= -kHighestSignal) return ExitStatus{DeathCause::Signal, -code};
  if (code > kShellSignal && code <= kShellSignal + kHighestSignal)
    return ExitStatus{DeathCause::Signal, code - kShellSignal};
  return ExitStatus{DeathCause::ExitCode, code};
}

std::optional<ExitStatus> status_of_signal(std::string_view signal) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(signal.data(), signal.data() + signal.size(), number);
  if (error == std::errc() && end == signal.data() + signal.size())
    return ExitStatus{DeathCause::Signal, number < 0 ? -number : number};
  const std::string small = lower_case(signal);
  for (const Signal& one : kSignals) {
    if (signal.find(one.name) != std::string_view::npos ||
        small.find(one.words) != std::string::npos)
      return ExitStatus{DeathCause::Signal, one.number};
  }
  return std::nullopt;
}

std::optional<ExitStatus> status_of_words(std::string_view words) {
  const std::string small = lower_case(words);
  if (small.find("out of memory") != std::string::npos ||
      small.find("oomkilled") != std::string::npos)
    return ExitStatus{DeathCause::HostMemory, 9};
  if (small.find("node fail") != std::string::npos) return ExitStatus{DeathCause::NodeFailure, 0};
  // torch.multiprocessing: the traceback of the process follows.
  if (small.find("the following error") != std::string::npos)
    return ExitStatus{DeathCause::Exception, 1};
  for (const std::string_view key : {"exit code ", "exit code: ", "exitcode ", "exitcode: ",
                                     "exit status ", "exit status: ", "with code ", "signal "}) {
    const std::size_t at = small.find(key);
    if (at == std::string::npos) continue;
    std::int64_t code = 0;
    const char* const digits = small.data() + at + key.size();
    const auto [end, error] = std::from_chars(digits, small.data() + small.size(), code);
    if (error != std::errc()) continue;
    if (key == "signal ") return ExitStatus{DeathCause::Signal, code};
    return status_of_code(code);
  }
  return status_of_signal(words);
}

std::string canonical_operation(std::string_view name) {
  std::string letters;
  for (const char c : lower_case(name)) {
    if (c != '_' && c != '-' && c != ' ') letters += c;
  }
  for (const std::string_view prefix : {"pmpi", "mpi", "nccl", "c10d::", "dist.", "i"}) {
    const bool is_shorter = letters.size() > prefix.size();
    if (is_shorter && letters.starts_with(prefix)) {
      // Only MPI's non-blocking calls have an `i` before the name: Iallreduce, not interleave.
      const std::string_view rest = std::string_view(letters).substr(prefix.size());
      if (prefix == "i" && !rest.starts_with("all") && !rest.starts_with("send") &&
          !rest.starts_with("recv") && !rest.starts_with("bcast") && !rest.starts_with("reduce") &&
          !rest.starts_with("barrier"))
        continue;
      letters.erase(0, prefix.size());
    }
  }
  struct Name {
    std::string_view letters, canonical;
  };
  // If one name is the start of another, the longer one comes first.
  static constexpr std::array kNames = {Name{"allreducebarrier", "barrier"},
                                        Name{"allreduce", "all_reduce"},
                                        Name{"broadcast", "broadcast"},
                                        Name{"bcast", "broadcast"},
                                        Name{"reducescatter", "reduce_scatter"},
                                        Name{"reduce", "reduce"},
                                        Name{"allgather", "all_gather"},
                                        Name{"alltoall", "all_to_all"},
                                        Name{"gather", "gather"},
                                        Name{"scatter", "scatter"},
                                        Name{"barrier", "barrier"},
                                        Name{"monitoredbarrier", "barrier"},
                                        Name{"send", "send"},
                                        Name{"recv", "recv"},
                                        Name{"receive", "recv"},
                                        Name{"coalesced", "coalesced"},
                                        Name{"groupend", "coalesced"}};
  for (const Name& one : kNames) {
    if (letters.starts_with(one.letters)) return std::string(one.canonical);
  }
  return lower_case(name);
}

}  // namespace ringside::facts
