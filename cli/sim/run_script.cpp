#include "cli/sim/run_script.h"

#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/json.h"
#include "base/shipped_file.h"
#include "base/temporary.h"
#include "base/write_file.h"
#include "engine/faults/fault_text.h"

namespace ringside::cli {
namespace {

/// The launcher in one start of Python. Where Python has no package ringside, it creates a file, as any exit status may
/// be that of the script.
constexpr const char* kLauncher = R"(
import sys
try:
    from ringside.launch import main
except ImportError:
    open({}, "w").close()
    sys.exit(1)
sys.exit(main())
)";

/// Runs a program and waits for it.
/// returns   its exit status; 128 and the signal that ended it
/// errors    NotFound: no such program.  System: it cannot be started
Result<int> run_program(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  pid_t child = -1;
  const int failed =
      ::posix_spawnp(&child, words[0].c_str(), nullptr, nullptr, pointers.data(), environ);
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
  RINGSIDE_TRY(const TemporaryFolder own, TemporaryFolder::make("run"));
  const std::string no_package = own.path() + "/no-package";
  std::vector<std::string> words{arguments.python, "-c",
                                 fmt::format(kLauncher, quoted_json(no_package)), "-n",
                                 fmt::format("{}", arguments.ranks.value_or(2))};
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
  RINGSIDE_TRY(const int status, run_program(words));
  std::error_code ignored;
  if (!std::filesystem::exists(no_package, ignored)) return status;
  return Error{ErrorCode::NotFound, fmt::format("{} has no package ringside", arguments.python),
               "install it: docs/tutorials/pytorch.md; or name another Python with --python"};
}

}  // namespace ringside::cli
