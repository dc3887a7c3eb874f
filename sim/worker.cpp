#include "sim/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <vector>

#include "sim/find_worker.h"

namespace ringside {
namespace {

/// What a new process is to find open and how signals reach it.
class SpawnSettings {
 public:
  explicit SpawnSettings(int socket) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_adddup2(&files_, socket, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* files() const { return &files_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

/// Workers that wait for a job. Starting one loads SimGrid, which takes some 30 ms; a simulation may take
/// less than one.
struct SimWorker::Idle {
  static constexpr std::size_t kMost = 16;

  std::mutex mutex;
  std::vector<SimWorker> workers;  ///< under mutex
  pid_t owner = -1;                ///< under mutex

  static Idle& of_process() {
    // Never destroyed: threads may still simulate while the process ends, which ends the workers.
    static Idle& idle = *new Idle;
    return idle;
  }

  /// Under mutex. A child made by fork() leaves its parent's workers alone.
  std::vector<SimWorker>& own() {
    if (owner != ::getpid()) {
      for (SimWorker& inherited : workers) inherited.pid_ = -1;
      workers.clear();
      owner = ::getpid();
    }
    return workers;
  }
};

Result<SimWorker> SimWorker::lease() {
  RINGSIDE_TRY(std::string path, find_worker(worker_places()));
  Idle& idle = Idle::of_process();
  {
    const std::lock_guard lock(idle.mutex);
    std::vector<SimWorker>& workers = idle.own();
    while (!workers.empty()) {
      SimWorker last = std::move(workers.back());
      workers.pop_back();
      if (last.path_ == path && last.is_idle()) return last;
    }
  }
  return spawn(std::move(path));
}

void SimWorker::give_back() && {
  Idle& idle = Idle::of_process();
  const std::lock_guard lock(idle.mutex);
  if (idle.own().size() < Idle::kMost) idle.workers.push_back(std::move(*this));
}

Result<SimWorker> SimWorker::spawn(std::string path) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return system_error("socketpair", errno);
  }
  UniqueFd ours{ends[0]};
  const UniqueFd theirs{ends[1]};
  const SpawnSettings settings(theirs.get());
  std::array<char*, 2> words{path.data(), nullptr};
  pid_t pid = -1;
  const int why = ::posix_spawn(&pid, path.c_str(), settings.files(), settings.attributes(),
                                words.data(), environ);
  if (why != 0) return system_error(path + ": cannot be started", why, "free memory or processes");
  return SimWorker(std::move(ours), pid, std::move(path));
}

bool SimWorker::is_idle() const {
  // One that has ended may have left the socket open in a simulation of its that is about to end.
  siginfo_t ended{};
  const int asked = ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
  if (asked != 0 || ended.si_pid != 0) return false;
  pollfd end{.fd = socket_.get(), .events = POLLIN | POLLRDHUP, .revents = 0};
  return ::poll(&end, 1, 0) == 0;
}

/// returns  its status, as of waitpid; 0 where there is none
int SimWorker::end() {
  socket_.reset();
  const pid_t pid = std::exchange(pid_, -1);
  if (pid < 0) return 0;
  ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return 0;
  }
  return status;
}

Error SimWorker::cause_of_end() && {
  // It may have closed its end and not be gone yet: then it ends by itself.
  const pid_t pid = std::exchange(pid_, -1);
  socket_.reset();
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) break;
  }
  if (WIFSIGNALED(status)) return died_of(WTERMSIG(status));
  return {ErrorCode::System, "the simulation ended without an answer",
          fmt::format("see what it wrote to stderr; is {} of this ringside?", path_)};
}

Error died_of(int signal) {
  const char* const name = ::sigdescr_np(signal);
  return {ErrorCode::System,
          fmt::format("the simulation died of signal {} ({})", signal,
                      name == nullptr ? "unknown" : name),
          "see what it wrote to stderr; fewer ranks or channels need less memory"};
}

}  // namespace ringside
