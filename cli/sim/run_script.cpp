#include "cli/sim/run_script.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/shipped_file.h"
#include "base/temporary.h"
#include "base/write_file.h"
#include "engine/faults/fault_text.h"

namespace ringside::cli {
namespace {

/// Runs a program and waits for it.
/// is_quiet  what it prints is dropped
/// returns   its exit status; 128 and the signal that ended it
/// errors    NotFound: no such program.  System: it cannot be started
Result<int> run_program(const std::vector<std::string>& words, bool is_quiet) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  if (is_quiet) {
    for (const int out : {STDOUT_FILENO, STDERR_FILENO}) {
      ::posix_spawn_file_actions_addopen(&files, out, "/dev/null", O_WRONLY, 0);
    }
  }
  pid_t child = -1;
  const int failed =
      ::posix_spawnp(&child, words[0].c_str(), &files, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  if (failed == ENOENT) {
    return Error{ErrorCode::NotFound, fmt::format("no program {}", words[0]),
                 "install Python and PyTorch, or name another one with --python"};
  }
  if (failed != 0) return system_error(words[0], failed);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return system_error("waitpid", errno);
  }
  constexpr int kSignalled = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

}  // namespace

VerbResult run_script(const std::string& script, const ScriptArguments& arguments,
                      const std::string& folder, std::optional<double> timeout_s) {
  RINGSIDE_TRY(const FaultPlan plan, fault_plan_of(arguments.faults));
  RINGSIDE_TRY(const int found,
               run_program({arguments.python, "-c", "import ringside.launch"}, true));
  if (found != 0) {
    return Error{ErrorCode::NotFound, fmt::format("{} has no package ringside", arguments.python),
                 "install it: docs/tutorials/pytorch.md; or name another Python with --python"};
  }
  std::vector<std::string> words{arguments.python, "-m", "ringside.launch", "-n",
                                 fmt::format("{}", arguments.ranks.value_or(2))};
  RINGSIDE_TRY(const TemporaryFolder own, TemporaryFolder::make("run"));
  if (!plan.faults.empty()) {
    const std::string path = own.path() + "/plan.yaml";
    RINGSIDE_TRY(write_file(path, to_yaml(plan)));
    words.insert(words.end(), {"--fault-plan", path});
  }
  if (timeout_s) words.insert(words.end(), {"--timeout", fmt::format("{}", *timeout_s)});
  if (!folder.empty()) words.insert(words.end(), {"-o", folder, "--trace"});
  words.push_back(script);
  words.insert(words.end(), arguments.words.begin(), arguments.words.end());
  const std::string self = running_program();
  if (!self.empty()) ::setenv("RINGSIDE_PROGRAM", self.c_str(), 1);
  return run_program(words, false);
}

}  // namespace ringside::cli
