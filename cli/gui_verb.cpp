#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cli/options.h"
#include "cli/verb.h"

namespace ringside::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "RINGSIDE_GUI";
constexpr const char* kProgram = "ringside-gui";

/// Finds the window's program: by its variable, next to this program, or in the build tree that holds both. It is a
/// separate program, so that no other verb loads GL.
Result<std::string> find_gui() {
  std::vector<fs::path> places;
  if (const char* const named = std::getenv(kVariable); named != nullptr && *named != '\0') {
    places.emplace_back(named);
  } else {
    std::error_code ignored;
    const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    places = {folder / kProgram, folder.parent_path() / "gui" / "window" / kProgram};
  }
  std::string tried;
  for (const fs::path& place : places) {
    std::error_code ignored;
    if (fs::is_regular_file(place, ignored) && ::access(place.c_str(), X_OK) == 0)
      return place.string();
    tried += (tried.empty() ? "" : ", ") + place.string();
  }
  return Error{
      ErrorCode::Unsupported,
      fmt::format("{}, the window, is not installed: looked for {}", kProgram, tried),
      fmt::format("apt install ./{}_*.deb (of ./run package), or ./run gui in the sources; "
                  "or name the program: {}=PATH. ringside trace export --html needs none",
                  kProgram, kVariable)};
}

/// Replaces this process by ringside-gui.
/// errors  Unsupported: it does not exist; lists the places that were searched
VerbResult start_gui(const std::vector<std::string>& words) {
  RINGSIDE_TRY(const std::string program, find_gui());
  std::string first = program;
  std::vector<std::string> rest = words;
  std::vector<char*> arguments{first.data()};
  for (std::string& word : rest) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(stdout);
  ::execv(program.c_str(), arguments.data());
  return system_error(fmt::format("{}: cannot be started", program), errno, "build it anew");
}

}  // namespace

Verb gui_verb() {
  return {.name = "gui",
          .summary = "Watch a collective run, channel by channel: a trace, a simulation, a lesson",
          .examples = {"ringside gui run.rtrace",
                       "ringside gui --lesson ring --screenshot ring.png --at 40%"},
          .declare = [](Options& app) {
            auto words = std::make_shared<std::vector<std::string>>();
            app.pass_all_words(*words);
            return [words] { return start_gui(*words); };
          }};
}

}  // namespace ringside::cli
