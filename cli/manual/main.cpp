#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/report_error.h"
#include "base/write_file.h"
#include "cli/app.h"
#include "cli/manual/completion.h"
#include "cli/manual/manual_page.h"
#ifdef RINGSIDE_HAS_WINDOW
#include "gui/window/arguments.h"
#endif

// ringside-manual FOLDER: writes the manual pages of all verbs and the completions for bash, zsh and fish, at build time.

namespace ringside::cli {
namespace {

Status write_all_pages(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  CommandText program = command_line_text();
#ifdef RINGSIDE_HAS_WINDOW
  *std::ranges::find(program.subcommands, "ringside gui", &CommandText::name) =
      gui::arguments_text();
#endif
  const auto write = [&folder](const std::string& name, const std::string& text) {
    return write_file(folder + "/" + name, text);
  };
  RINGSIDE_TRY(write("ringside.1", manual_page(program, RINGSIDE_VERSION)));
  for (const CommandText& verb : program.subcommands)
    RINGSIDE_TRY(write(page_name(verb) + ".1", manual_page(verb, RINGSIDE_VERSION)));
  RINGSIDE_TRY(write("ringside.bash", bash_completion(program)));
  RINGSIDE_TRY(write("_ringside", zsh_completion(program)));
  return write("ringside.fish", fish_completion(program));
}

}  // namespace
}  // namespace ringside::cli

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: ringside-manual FOLDER\n", stderr);
    return 2;
  }
  const ringside::Status done = ringside::cli::write_all_pages(argv[1]);
  if (!done) ringside::print_error(done.error());
  return done ? 0 : 3;
}
