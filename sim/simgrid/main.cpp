// ringside-simgrid: runs simulations for simulate() (sim/simulate.h), which starts it and communicates over its
// standard input, a socket. Each job runs in a child process, because SimGrid has one engine per process; the parent
// only keeps SimGrid loaded.

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "sim/simgrid/caller.h"
#include "sim/simgrid/run_engine.h"

namespace ringside {
namespace {

constexpr int kSocket = STDIN_FILENO;

[[noreturn]] void run_child(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent died before prctl() took effect
  Caller caller(kSocket);
  Result<WireJob> job = caller.job();
  if (!job) {
    caller.answer(std::move(job).error());
  } else {
    caller.answer(run_engine(*std::move(job), caller));
  }
  // Not exit(): SimGrid's cleanup would spend time freeing everything.
  ::_exit(0);
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// Waits for a job, or for the end of the process that sends jobs.
bool is_job_there() {
  pollfd socket{.fd = kSocket, .events = POLLIN | POLLRDHUP, .revents = 0};
  while (::poll(&socket, 1, -1) < 0 && errno == EINTR) {
  }
  return (socket.revents & POLLIN) != 0 && (socket.revents & (POLLRDHUP | POLLHUP)) == 0;
}

/// Runs one job in a child process.
/// returns  whether the caller got its answer and may send another job
bool serve() {
  std::array<int, 2> life{};  // the child holds one end as long as it lives
  if (::pipe(life.data()) != 0) return false;
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(life[0]);
    run_child(self);
  }
  ::close(life[1]);
  if (child < 0) {
    Caller(kSocket).answer(system_error("fork", errno, "free memory or processes"));
    return false;
  }
  std::array<pollfd, 2> ends{pollfd{.fd = life[0], .events = POLLIN, .revents = 0},
                             pollfd{.fd = kSocket, .events = POLLRDHUP, .revents = 0}};
  while (::poll(ends.data(), ends.size(), -1) < 0 && errno == EINTR) {
  }
  ::close(life[0]);
  if (ends[0].revents == 0) ::kill(child, SIGKILL);  // the caller has closed its end
  const int status = wait_for(child);
  if (WIFSIGNALED(status)) {
    static_cast<void>(send_wire(kSocket, encode(WireDeath{WTERMSIG(status)})));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace
}  // namespace ringside

int main() {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(ringside::kSocket, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
    std::fputs("ringside-simgrid is a part of ringside, which starts it: use ringside sim\n",
               stderr);
    return 2;
  }
  // The process that started this one waits for a greeting, to check that this is the right program.
  static_cast<void>(
      ringside::send_wire(ringside::kSocket, encode(ringside::WireHello{RINGSIDE_VERSION})));
  while (ringside::is_job_there() && ringside::serve()) {
  }
  return 0;
}
