#include "harness/sweep/worker.h"

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

/// After this many kills from outside, the kill is the point's result.
constexpr int kMostKills = 3;  // chosen: a batch system may preempt a process once or twice
/// Interval at which a worker without work checks for points that other workers have lost, and reports progress.
constexpr std::chrono::milliseconds kCheckInterval{500};

/// The process that computes one point.
struct PointProcess {
  std::string key;
  pid_t pid = -1;
  UniqueFd answer = {};  ///< receiving end of the pipe for its result
  UniqueFd errors = {};  ///< receiving end of the pipe for its stderr
  std::string answer_text = {}, error_text = {};
  Clock::time_point began = Clock::now();
  bool is_over_limit = false;  ///< it was killed, as it took longer than the limit
};

[[noreturn]] void run_point(const std::string& key, pid_t parent, int answer, int errors,
                            const std::function<PointResult(const std::string&)>& compute) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(3);  // the parent ended before the prctl() above
  // The parent handles interrupts.
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(SIGINT, &usual, nullptr);
  ::dup2(errors, STDERR_FILENO);
  PointResult result;
  try {
    result = compute(key);
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
  constexpr std::size_t kMostText = 1 << 20;  // bytes: a result has some hundred
  char buffer[4096];
  const ssize_t got = ::read(fd, buffer, sizeof buffer);
  if (got < 0) return errno != EINTR && errno != EAGAIN;
  if (text.size() < kMostText) text.append(buffer, static_cast<std::size_t>(got));
  return got == 0;
}

/// Reads what the pipe holds now, without waiting for its end: a descendant of the process may hold the other end.
void drain_available(const UniqueFd& pipe, std::string& text) {
  if (pipe) ::fcntl(pipe.get(), F_SETFL, O_NONBLOCK);
  for (std::size_t before = std::string::npos; pipe && before != text.size();) {
    before = text.size();
    drain(pipe.get(), text);
  }
}

/// Returns whether a child has ended; it stays a zombie until waitpid().
bool has_ended(pid_t pid) {
  siginfo_t ended{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == pid;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

class Worker {
 public:
  Worker(ResultStore& store, const std::function<PointResult(const std::string&)>& compute,
         const WorkerOptions& options)
      : store_(store), compute_(compute), options_(options) {}
  /// Ends the processes that still run: after an error of the store no result is read.
  ~Worker() {
    for (const PointProcess& one : running_) {
      if (one.pid < 0) continue;
      ::kill(one.pid, SIGKILL);
      while (::waitpid(one.pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Status run() {
    RINGSIDE_TRY(const ResultStore::Count first, store_.count());
    done_before_ = first.done;
    report_progress(first);
    for (;;) {
      RINGSIDE_TRY(start_processes());
      if (running_.empty()) {
        RINGSIDE_TRY(const ResultStore::Count count, store_.count());
        report_progress(count);
        if (count.done == count.all) return {};
        std::this_thread::sleep_for(kCheckInterval);  // other workers compute the remaining points
        continue;
      }
      RINGSIDE_TRY(wait());
    }
  }

 private:
  /// Gives a point to each free process.
  Status start_processes() {
    if (Clock::now() < take_at_) return {};
    while (static_cast<int>(running_.size()) < options_.jobs) {
      RINGSIDE_TRY(std::optional<std::string> key, store_.take());
      if (!key) {
        take_at_ = Clock::now() + kCheckInterval;
        return {};
      }
      RINGSIDE_TRY(start(*std::move(key)));
    }
    return {};
  }

  Status start(std::string key) {
    int answer[2];
    int errors[2];
    if (::pipe2(answer, O_CLOEXEC) != 0) return system_error("pipe", errno);
    PointProcess work{.key = std::move(key), .answer = UniqueFd(answer[0])};
    const UniqueFd answer_end(answer[1]);
    if (::pipe2(errors, O_CLOEXEC) != 0) return system_error("pipe", errno);
    work.errors = UniqueFd(errors[0]);
    const UniqueFd errors_end(errors[1]);
    std::fflush(nullptr);
    const pid_t self = ::getpid();
    work.pid = ::fork();
    if (work.pid < 0) {
      return system_error("fork", errno, "let fewer processes run at once: --jobs");
    }
    if (work.pid == 0) run_point(work.key, self, answer_end.get(), errors_end.get(), compute_);
    running_.push_back(std::move(work));
    return {};
  }

  Status wait() {
    std::vector<pollfd> ends;
    for (const PointProcess& work : running_) {
      ends.push_back({.fd = work.answer.get(), .events = POLLIN, .revents = 0});
      ends.push_back({.fd = work.errors.get(), .events = POLLIN, .revents = 0});
    }
    ::poll(ends.data(), ends.size(), static_cast<int>(kCheckInterval.count()));
    bool is_any_done = false;
    for (std::size_t i = running_.size(); i-- > 0;) {
      PointProcess& work = running_[i];
      if (ends[2 * i + 1].revents != 0 && drain(work.errors.get(), work.error_text))
        work.errors.reset();
      const bool is_answered =
          ends[2 * i].revents != 0 && drain(work.answer.get(), work.answer_text);
      if (is_answered || has_ended(work.pid)) {
        RINGSIDE_TRY(finish(work));
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
        is_any_done = true;
      } else if (!work.is_over_limit && Clock::now() - work.began > options_.limit) {
        work.is_over_limit = true;
        ::kill(work.pid, SIGKILL);
      }
    }
    if (!is_any_done && Clock::now() < report_at_) return {};
    report_at_ = Clock::now() + kCheckInterval;
    take_at_ = {};
    RINGSIDE_TRY(const ResultStore::Count count, store_.count());
    report_progress(count);
    return {};
  }

  Status finish(PointProcess& work) {
    int status = 0;
    while (::waitpid(work.pid, &status, 0) < 0 && errno == EINTR) {
    }
    work.pid = -1;  // another process may get the number
    const double wall_s = std::chrono::duration<double>(Clock::now() - work.began).count();
    drain_available(work.answer, work.answer_text);
    drain_available(work.errors, work.error_text);
    const bool has_ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (const auto answer = parse_point_result(work.answer_text); has_ended_well && answer) {
      ++own_;
      return store_.finish(work.key, to_json(*answer), wall_s);
    }
    const bool is_killed =
        WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !work.is_over_limit;
    if (is_killed && ++kills_[work.key] < kMostKills) return store_.give_back(work.key);
    PointResult result;
    if (work.is_over_limit) {
      result.reason =
          fmt::format("longer than {:g} s; --limit gives it more", options_.limit.count());
    } else if (is_killed) {
      result.reason = fmt::format("its process was killed {} times: out of memory?", kMostKills);
    } else {
      result.reason =
          WIFSIGNALED(status) ? fmt::format("its process died: {}", ::strsignal(WTERMSIG(status)))
          : has_ended_well    ? std::string("its process ended without an answer")
                              : fmt::format("its process left with {}", WEXITSTATUS(status));
      if (const std::string line = last_line(work.error_text); !line.empty())
        result.reason += ": " + line;
    }
    ++own_;
    return store_.finish(work.key, to_json(result), wall_s);
  }

  void report_progress(const ResultStore::Count& count) const {
    if (!options_.progress) return;
    SweepProgress progress{.all = count.all, .done = count.done, .here = own_};
    const std::int64_t gained = count.done - done_before_;
    if (gained > 0) {
      const Seconds elapsed = Clock::now() - began_;
      progress.left =
          elapsed * (static_cast<double>(count.all - count.done) / static_cast<double>(gained));
    }
    options_.progress(progress);
  }

  ResultStore& store_;
  const std::function<PointResult(const std::string&)>& compute_;
  const WorkerOptions& options_;
  std::vector<PointProcess> running_;
  std::map<std::string, int> kills_;
  std::int64_t own_ = 0, done_before_ = 0;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point take_at_{}, report_at_{};
};

}  // namespace

Status run_worker(ResultStore& store,
                  const std::function<PointResult(const std::string& key)>& compute,
                  const WorkerOptions& options) {
  return Worker(store, compute, options).run();
}

}  // namespace ringside
