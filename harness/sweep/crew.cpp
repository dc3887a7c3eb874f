#include "harness/sweep/crew.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/fd.h"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

/// How often in total a process that is killed from outside is restarted.
constexpr int kMostKills = 3;
/// Interval at which a worker without work checks for work that other workers have lost.
constexpr std::chrono::milliseconds kLookAgain{500};

/// The process that computes one point.
struct Work {
  std::string key;
  pid_t pid = -1;
  UniqueFd answer = {};  ///< receiving end of the pipe for its result
  UniqueFd words = {};   ///< receiving end of the pipe for its stderr
  std::string heard = {}, said = {};
  Clock::time_point began = Clock::now();
  bool is_late = false;
};

[[noreturn]] void run_point(const std::string& key, pid_t parent, int answer, int words,
                            const std::function<PointResult(const std::string&)>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(3);  // the parent ended before the prctl() above
  // The parent handles interrupts.
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGINT, &usual, nullptr);
  ::dup2(words, STDERR_FILENO);
  PointResult result;
  try {
    result = work(key);
  } catch (const std::exception& thrown) {
    result = {.end = PointResult::End::Failed, .reason = thrown.what()};
  }
  const std::string text = to_json(result);
  static_cast<void>(write_all(answer, std::as_bytes(std::span(text))));
  ::_exit(0);
}

/// Reads the data in the pipe.
/// returns  whether the pipe has ended
bool drain(int fd, std::string& text) {
  constexpr std::size_t kMostWords = 1 << 20;
  char buffer[4096];
  const ssize_t got = ::read(fd, buffer, sizeof buffer);
  if (got < 0) return errno != EINTR && errno != EAGAIN;
  if (text.size() < kMostWords) text.append(buffer, static_cast<std::size_t>(got));
  return got == 0;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

class Crew {
 public:
  Crew(ResultStore& store, const std::function<PointResult(const std::string&)>& work,
       const CrewOptions& options)
      : store_(store), work_(work), options_(options) {}

  Status run() {
    RINGSIDE_TRY(const ResultStore::Count first, store_.count());
    done_before_ = first.done;
    report_progress(first);
    for (;;) {
      RINGSIDE_TRY(hand_out());
      if (works_.empty()) {
        RINGSIDE_TRY(const ResultStore::Count count, store_.count());
        report_progress(count);
        if (count.done == count.all) return {};
        std::this_thread::sleep_for(kLookAgain);  // other workers compute the remaining points
        continue;
      }
      RINGSIDE_TRY(wait());
    }
  }

 private:
  /// Gives a point to each free process.
  Status hand_out() {
    if (Clock::now() < look_at_) return {};
    while (static_cast<int>(works_.size()) < options_.jobs) {
      RINGSIDE_TRY(std::optional<std::string> key, store_.take());
      if (!key) {
        look_at_ = Clock::now() + kLookAgain;
        return {};
      }
      RINGSIDE_TRY(start(*std::move(key)));
    }
    return {};
  }

  Status start(std::string key) {
    int answer[2];
    int words[2];
    if (::pipe2(answer, O_CLOEXEC) != 0) return system_error("pipe", errno);
    Work work{.key = std::move(key), .answer = UniqueFd(answer[0])};
    const UniqueFd answer_end(answer[1]);
    if (::pipe2(words, O_CLOEXEC) != 0) return system_error("pipe", errno);
    work.words = UniqueFd(words[0]);
    const UniqueFd words_end(words[1]);
    std::fflush(nullptr);
    const pid_t self = ::getpid();
    work.pid = ::fork();
    if (work.pid < 0) {
      return system_error("fork", errno, "let fewer processes run at once: --jobs");
    }
    if (work.pid == 0) run_point(work.key, self, answer_end.get(), words_end.get(), work_);
    works_.push_back(std::move(work));
    return {};
  }

  Status wait() {
    std::vector<pollfd> ends;
    for (const Work& work : works_) {
      ends.push_back({.fd = work.answer.get(), .events = POLLIN, .revents = 0});
      ends.push_back({.fd = work.words.get(), .events = POLLIN, .revents = 0});
    }
    ::poll(ends.data(), ends.size(), static_cast<int>(kLookAgain.count()));
    bool is_any_done = false;
    for (std::size_t i = works_.size(); i-- > 0;) {
      Work& work = works_[i];
      if (ends[2 * i + 1].revents != 0 && drain(work.words.get(), work.said)) work.words.reset();
      if (ends[2 * i].revents != 0 && drain(work.answer.get(), work.heard)) {
        RINGSIDE_TRY(finish(work));
        works_.erase(works_.begin() + static_cast<std::ptrdiff_t>(i));
        is_any_done = true;
      } else if (!work.is_late && Clock::now() - work.began > options_.limit) {
        work.is_late = true;
        ::kill(work.pid, SIGKILL);
      }
    }
    if (!is_any_done && Clock::now() < report_at_) return {};
    report_at_ = Clock::now() + kLookAgain;
    look_at_ = {};
    RINGSIDE_TRY(const ResultStore::Count count, store_.count());
    report_progress(count);
    return {};
  }

  Status finish(Work& work) {
    int status = 0;
    while (::waitpid(work.pid, &status, 0) < 0 && errno == EINTR) {
    }
    const double wall_s = std::chrono::duration<double>(Clock::now() - work.began).count();
    // A descendant may still hold the other end, so only available data is read.
    if (work.words) ::fcntl(work.words.get(), F_SETFL, O_NONBLOCK);
    for (std::size_t before = std::string::npos; work.words && before != work.said.size();) {
      before = work.said.size();
      drain(work.words.get(), work.said);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      RINGSIDE_TRY(const PointResult result, parse_point_result(work.heard));
      ++here_;
      return store_.finish(work.key, to_json(result), wall_s);
    }
    const bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !work.is_late;
    if (is_killed && ++kills_[work.key] < kMostKills) return store_.give_back(work.key);
    PointResult result;
    if (work.is_late) {
      result.reason =
          fmt::format("longer than {:g} s; --limit gives it more", options_.limit.count());
    } else if (is_killed) {
      result.reason = fmt::format("its process was killed {} times: out of memory?", kMostKills);
    } else {
      result.reason = WIFSIGNALED(status)
                          ? fmt::format("its process died: {}", ::strsignal(WTERMSIG(status)))
                          : fmt::format("its process left with {}", WEXITSTATUS(status));
      if (const std::string line = last_line(work.said); !line.empty())
        result.reason += ": " + line;
    }
    ++here_;
    return store_.finish(work.key, to_json(result), wall_s);
  }

  void report_progress(const ResultStore::Count& count) const {
    if (!options_.progress) return;
    SweepProgress progress{.all = count.all, .done = count.done, .here = here_};
    const std::int64_t gained = count.done - done_before_;
    if (gained > 0) {
      const Seconds elapsed = Clock::now() - began_;
      progress.left =
          elapsed * (static_cast<double>(count.all - count.done) / static_cast<double>(gained));
    }
    options_.progress(progress);
  }

  ResultStore& store_;
  const std::function<PointResult(const std::string&)>& work_;
  const CrewOptions& options_;
  std::vector<Work> works_;
  std::map<std::string, int> kills_;
  std::int64_t here_ = 0, done_before_ = 0;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point look_at_{}, report_at_{};
};

}  // namespace

Status run_crew(ResultStore& store, const std::function<PointResult(const std::string& key)>& work,
                const CrewOptions& options) {
  return Crew(store, work, options).run();
}

}  // namespace ringside
