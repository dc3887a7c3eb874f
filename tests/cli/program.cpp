#include "tests/cli/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/fd.h"

namespace ringside {
namespace {

std::pair<UniqueFd, UniqueFd> make_pipe() {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace

Outcome run_program(const std::vector<std::string>& words,
                    const std::vector<std::string>& variables, const std::string& program) {
  auto [out_read, out_write] = make_pipe();
  auto [err_read, err_write] = make_pipe();
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  const pid_t child = ::fork();
  EXPECT_GE(child, 0);
  if (child == 0) {
    ::dup2(out_write.get(), STDOUT_FILENO);
    ::dup2(err_write.get(), STDERR_FILENO);
    for (const std::string& variable : variables) {
      ::putenv(const_cast<char*>(variable.c_str()));
    }
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  out_write.reset();
  err_write.reset();

  Outcome outcome;
  std::array<pollfd, 2> polls{pollfd{out_read.get(), POLLIN, 0}, pollfd{err_read.get(), POLLIN, 0}};
  const std::array<std::string*, 2> texts{&outcome.out, &outcome.err};
  for (int open = 2; open > 0;) {
    ::poll(polls.data(), polls.size(), -1);
    for (std::size_t i = 0; i < polls.size(); ++i) {
      if (polls[i].fd < 0 || polls[i].revents == 0) continue;
      std::array<char, 4096> buffer{};
      const ssize_t got = ::read(polls[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      } else {
        polls[i].fd = -1;
        --open;
      }
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::string temporary_path(const std::string& name) {
  return testing::TempDir() + "ringside_cli_" + std::to_string(::getpid()) + "_" + name;
}

}  // namespace ringside
