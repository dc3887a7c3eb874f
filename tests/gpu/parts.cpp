#include "tests/gpu/parts.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "ringside/error.h"
#include "tests/support/shared_page.h"

namespace ringside {
namespace {

/// What the forked process reports to its parent.
struct Progress {
  int done = 0;         ///< number of finished parts
  char why[1000] = {};  ///< the Error that ended it; empty: none
};

std::string reason_of(int status, unsigned most_s) {
  if (WIFEXITED(status)) return fmt::format("its process left with status {}", WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGALRM) return fmt::format("it took longer than {} s", most_s);
  return fmt::format("its process was ended by signal {} ({})", WTERMSIG(status),
                     ::strsignal(WTERMSIG(status)));
}

}  // namespace

bool run_in_parts(int count, unsigned most_s,
                  const std::function<Status(int first, const std::function<void()>& done)>& work,
                  const std::function<void(int part, const std::string& why)>& on_failure) {
  SharedPage<Progress> progress;
  bool is_fine = true;
  while (progress->done < count) {
    const int first = progress->done;
    progress->why[0] = 0;
    std::fflush(nullptr);  // otherwise the child would print what is still buffered here
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      ::alarm(most_s);
      const Status ended = work(first, [&] {
        ++progress->done;
        ::alarm(most_s);
      });
      std::fflush(nullptr);
      if (!ended) ended.error().message.copy(progress->why, sizeof progress->why - 1);
      ::_exit(ended ? 0 : 1);
    }
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (progress->done >= count && child > 0 && status == 0) break;
    is_fine = false;
    const std::string why = child < 0 ? system_error("fork", errno).message : progress->why;
    on_failure(progress->done, why.empty() ? reason_of(status, most_s) : why);
    ++progress->done;
  }
  return is_fine;
}

}  // namespace ringside
