#include "sim/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/deadline.h"
#include "sim/find_worker.h"
#include "sim/wire.h"

namespace ringside {
namespace {

/// Loading SimGrid takes some 30 ms, and more than a second on a busy machine.
constexpr std::chrono::seconds kHelloWait{10};
constexpr std::chrono::milliseconds kEndWait{500};
constexpr std::uint32_t kMostHelloBytes = 4096;

std::string fix_of(const std::string& path) {
  return fmt::format(
      "is {} the ringside-simgrid of this ringside? install both from one build, or "
      "unset RINGSIDE_SIMGRID",
      path);
}

bool is_readable(int fd, const Deadline& until) {
  pollfd polled{.fd = fd, .events = POLLIN, .revents = 0};
  int ready = -1;
  do {
    ready = until.poll(std::span(&polled, 1));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

/// Sets the open descriptors and signal handling of a new process.
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

/// Idle workers. Starting one loads SimGrid, which takes some 30 ms; a simulation may take less than one.
struct SimWorker::Idle {
  static constexpr std::size_t kMost = 16;

  std::mutex mutex;
  std::vector<SimWorker> workers;  ///< guarded by mutex
  pid_t owner = -1;                ///< guarded by mutex

  static Idle& of_process() {
    // Never destroyed, because threads may still simulate while the process ends; its end also ends the workers.
    static Idle& idle = *new Idle;
    return idle;
  }

  /// Requires mutex. A child made by fork() does not use its parent's workers.
  std::vector<SimWorker>& own() {
    if (owner != ::getpid()) {
      for (SimWorker& inherited : workers) inherited.pid_ = -1;
      workers.clear();
      owner = ::getpid();
    }
    return workers;
  }
};

Result<SimWorker> SimWorker::lease(Clock& clock) {
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
  return start(std::move(path), clock);
}

Result<SimWorker> SimWorker::start(std::string path, Clock& clock) {
  RINGSIDE_TRY(SimWorker started, spawn(std::move(path)));
  auto said = receive_wire(started.socket(),
                           {.until = deadline_in(kHelloWait, clock), .bytes = kMostHelloBytes});
  if (!said) {
    const Error& error = said.error();
    if (error.code == ErrorCode::PeerGone) return std::move(started).cause_of_end();
    if (error.code == ErrorCode::Corrupt) return not_a_worker(started.path(), error);
    if (error.code != ErrorCode::Timeout) return error;
    return Error{ErrorCode::Timeout,
                 fmt::format("{}: has not sent its first message within {} s of its start",
                             started.path(), kHelloWait.count()),
                 fix_of(started.path())};
  }
  const auto* const hello = std::get_if<WireHello>(&*said);
  if (hello == nullptr)
    return not_a_worker(started.path(), {{}, "its first message is another one"});
  if (hello->version != RINGSIDE_VERSION) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("{} is of ringside {}, its caller is {}", started.path(),
                             hello->version, RINGSIDE_VERSION),
                 "install both from one build"};
  }
  return started;
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
  // A worker that has ended may have left the socket open in a child that is about to end.
  siginfo_t ended{};
  const int asked = ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
  if (asked != 0 || ended.si_pid != 0) return false;
  pollfd end{.fd = socket_.get(), .events = POLLIN | POLLRDHUP, .revents = 0};
  return ::poll(&end, 1, 0) == 0;
}

/// returns  its status, as from waitpid; 0 if there is none
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
  // The worker may have closed its end and still be ending: then its exit status gives the reason.
  socket_.reset();
  const UniqueFd life{static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0))};
  const bool has_ended = life && is_readable(life.get(), deadline_in(kEndWait));
  const int status = end();
  const bool was_ours = life && !has_ended;  // without a pidfd, it counts as gone
  if (WIFSIGNALED(status) && !was_ours) return died_of(WTERMSIG(status));
  return {ErrorCode::System, "the simulation ended without an answer",
          fmt::format("see what it wrote to stderr; {}", fix_of(path_))};
}

Error not_a_worker(const std::string& path, const Error& said) {
  return {ErrorCode::Corrupt,
          fmt::format("{}: does not answer as a simulation: {}", path, said.message), fix_of(path)};
}

Error died_of(int signal) {
  const char* const name = ::sigdescr_np(signal);
  return {ErrorCode::System,
          fmt::format("the simulation died of signal {} ({})", signal,
                      name == nullptr ? "unknown" : name),
          "see what it wrote to stderr; fewer ranks or channels need less memory"};
}

}  // namespace ringside
