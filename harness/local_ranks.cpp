#include "harness/local_ranks.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "base/deadline.h"
#include "base/fd.h"
#include "base/write_file.h"

namespace ringside {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// The messages of a rank to its parent, one line each: 'L' and the line to publish, or 'E' with code, message, help.
constexpr char kLine = 'L';
constexpr char kError = 'E';
constexpr char kSeparator = '\x1f';

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text + '\n';
}

/// Lines fit into a socket's buffer, so one send transmits the whole line. No SIGPIPE if the reader is gone.
Status send_line(int fd, const std::string& line) {
  if (::send(fd, line.data(), line.size(), MSG_NOSIGNAL) < 0) return system_error("send", errno);
  return {};
}

struct Child {
  pid_t pid = -1;
  UniqueFd channel;   // a socket pair: messages of the child, and the published line to the child
  std::string heard;  // an incomplete line
  std::optional<Error> error;
  int status = 0;
  bool ended = false;
};

[[noreturn]] void run_child(int rank, int nranks, int channel, pid_t parent, const RankMain& main) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(3);  // the parent ended before the prctl() above
  const LocalRank me(rank, nranks, channel, channel);
  Result<int> result = 3;
  try {
    // The printing rank prints the result in this process, because the parent does not know it.
    result = answer_on_stdout([&] { return main(me); });
  } catch (const std::exception& thrown) {
    result = Error{ErrorCode::System, fmt::format("rank {}: {}", rank, thrown.what())};
  }
  int status = 3;
  if (result) {
    status = *result;
  } else {
    const Error& error = result.error();
    status = exit_status(error.code);
    // If the parent is gone, this process ends soon as well.
    static_cast<void>(send_line(
        channel, one_line(fmt::format("{}{}{}{}{}{}", kError, static_cast<int>(error.code),
                                      kSeparator, error.message, kSeparator, error.help))));
  }
  std::fflush(nullptr);
  ::_exit(status);
}

Error parse_error(const std::string& line) {
  const std::size_t first = line.find(kSeparator);
  const std::size_t second = line.find(kSeparator, first + 1);
  RINGSIDE_ASSERT(second != std::string::npos, "a rank's error without its fields: {}", line);
  return {static_cast<ErrorCode>(std::atoi(line.c_str() + 1)),
          line.substr(first + 1, second - first - 1), line.substr(second + 1)};
}

bool is_consequence(const Error& error) {
  return error.code == ErrorCode::PeerGone || error.code == ErrorCode::Aborted;
}

class Supervisor {
 public:
  Supervisor(int nranks, Seconds grace)
      : children_(static_cast<std::size_t>(nranks)),
        grace_(std::chrono::duration_cast<SteadyClock::duration>(grace)) {}
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor() { kill_all(); }

  Status start(const RankMain& main) {
    std::fflush(nullptr);  // otherwise each child would print the text that is buffered here
    const pid_t parent = ::getpid();
    for (std::size_t rank = 0; rank < children_.size(); ++rank) {
      int pair[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return system_error("socketpair", errno);
      }
      UniqueFd ours(pair[0]);
      UniqueFd theirs(pair[1]);
      const pid_t pid = ::fork();
      if (pid < 0) return system_error(fmt::format("fork of rank {}", rank), errno);
      if (pid == 0) {
        ours.reset();
        for (Child& older : children_) older.channel.reset();
        run_child(static_cast<int>(rank), static_cast<int>(children_.size()), theirs.get(), parent,
                  main);
      }
      children_[rank].pid = pid;
      children_[rank].channel = std::move(ours);
    }
    return {};
  }

  Result<int> wait() {
    while (!all_ended()) {
      listen();
      reap();
      if (trouble_ && !killed_ && SteadyClock::now() > *trouble_ + grace_) kill_all();
    }
    return verdict();
  }

 private:
  [[nodiscard]] bool all_ended() const {
    return std::all_of(children_.begin(), children_.end(), [](const Child& c) { return c.ended; });
  }

  /// Waits for messages and for ends, for a short time; the end of a child closes its channel, which wakes this
  /// function.
  void listen() {
    std::vector<pollfd> polls;
    for (const Child& child : children_) polls.push_back({child.channel.get(), POLLIN, 0});
    ::poll(polls.data(), polls.size(), 100);
    for (std::size_t i = 0; i < children_.size(); ++i) {
      if (polls[i].revents != 0) read_from(children_[i]);
    }
  }

  void read_from(Child& child) {
    char buffer[4096];
    const ssize_t got = ::recv(child.channel.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return child.channel.reset();
    child.heard.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end; (end = child.heard.find('\n')) != std::string::npos;) {
      const std::string line = child.heard.substr(0, end);
      child.heard.erase(0, end + 1);
      if (line[0] == kError) {
        child.error = parse_error(line);
        note_trouble(child);
      } else {
        for (Child& other : children_) {
          // A rank that has just died will be reaped, and needs no line.
          if (&other != &child)
            static_cast<void>(send_line(other.channel.get(), line.substr(1) + '\n'));
        }
      }
    }
  }

  void reap() {
    for (Child& child : children_) {
      if (child.ended || ::waitpid(child.pid, &child.status, WNOHANG) != child.pid) continue;
      while (child.channel) read_from(child);
      child.ended = true;
      if (!WIFEXITED(child.status)) note_trouble(child);
    }
  }

  void note_trouble(const Child& child) {
    if (killed_) return;
    if (!trouble_) trouble_ = SteadyClock::now();
    if (child.ended && first_killed_ == nullptr) first_killed_ = &child;
    if (!child.ended && first_error_ == nullptr) first_error_ = &child;
  }

  void kill_all() {
    killed_ = true;
    for (Child& child : children_) {
      if (child.pid > 0 && !child.ended) ::kill(child.pid, SIGKILL);
    }
    for (Child& child : children_) {
      if (child.pid > 0 && !child.ended) ::waitpid(child.pid, &child.status, 0);
      child.ended = true;
    }
  }

  Result<int> verdict() const {
    if (first_killed_ != nullptr) {
      const int signal = WTERMSIG(first_killed_->status);
      return Error{
          ErrorCode::PeerGone,
          fmt::format("rank {} (pid {}) was killed by signal {} ({}); the other ranks were "
                      "ended",
                      first_killed_ - children_.data(), first_killed_->pid, signal,
                      ::strsignal(signal)),
          signal == SIGKILL ? "the kernel does this when memory runs out: see dmesg" : ""};
    }
    for (const Child& child : children_) {
      if (child.error && !is_consequence(*child.error)) return *child.error;
    }
    if (first_error_ != nullptr) return *first_error_->error;
    int worst = 0;
    for (const Child& child : children_) worst = std::max(worst, WEXITSTATUS(child.status));
    return worst;
  }

  std::vector<Child> children_;
  SteadyClock::duration grace_;
  std::optional<SteadyClock::time_point> trouble_;
  const Child* first_killed_ = nullptr;
  const Child* first_error_ = nullptr;
  bool killed_ = false;
};

}  // namespace

Status LocalRank::publish(const std::string& line) const {
  return send_line(to_parent_, kLine + one_line(line));
}

Result<std::string> LocalRank::wait_for_line(Seconds longest) const {
  const Deadline deadline = deadline_in(std::chrono::duration_cast<Nanoseconds>(longest));
  std::string line;
  for (char letter = 0;;) {
    pollfd entry{from_parent_, POLLIN, 0};
    while (deadline.poll(std::span(&entry, 1)) <= 0) {
      if (!has_passed(deadline)) continue;
      return Error{ErrorCode::Timeout,
                   fmt::format("rank 0 did not send rank {} the meeting address within {:g} s",
                               rank_, longest.count()),
                   "see whether rank 0 is stopped"};
    }
    const ssize_t got = ::recv(from_parent_, &letter, 1, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return Error{ErrorCode::PeerGone,
                   fmt::format("rank {}: rank 0 ended before it began", rank_)};
    }
    if (letter == '\n') return line;
    line += letter;
  }
}

Result<int> run_local_ranks(int nranks, const RankMain& main, Seconds grace) {
  RINGSIDE_ASSERT(nranks >= 1, "{} ranks", nranks);
  Supervisor supervisor(nranks, grace);
  RINGSIDE_TRY(supervisor.start(main));
  return supervisor.wait();
}

}  // namespace ringside
