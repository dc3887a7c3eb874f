#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/report_error.h"
#include "cli/app.h"
#include "cli/verb.h"
#include "diag/logparse/byte_source.h"

namespace {

using ringside::CommandText;
using ringside::Json;

Json document_of(const CommandText& command) {
  Json options = Json::array();
  for (const ringside::OptionText& option : command.options) {
    options.push_back({{"names", option.names},
                       {"value", option.value},
                       {"what", option.description},
                       {"default", option.default_value},
                       {"choices", option.choices}});
  }
  Json below = Json::array();
  for (const CommandText& one : command.subcommands) below.push_back(document_of(one));
  return {{"name", command.name},
          {"summary", command.summary},
          {"examples", command.examples},
          {"options", std::move(options)},
          {"below", std::move(below)}};
}

}  // namespace

/// Writes what a .gz or .zst file holds to stdout.
ringside::Status decompress(const std::string& path) {
  RINGSIDE_TRY(const auto source, ringside::logs::open_source(path, 0));
  std::vector<char> room(1 << 20);
  for (;;) {
    RINGSIDE_TRY(const std::size_t size, source->read(room));
    if (size == 0) return {};
    RINGSIDE_TRY(ringside::write_all(STDOUT_FILENO, std::as_bytes(std::span(room.data(), size))));
  }
}

/// As the native program, and for the page's command field: `ringside --command-line` prints all verbs and options as JSON,
/// and `--decompress FILE` what the page's archives hold.
int main(int argc, char** argv) {
  // WASI has no current folder: the one that starts the program names it.
  if (const auto folder = ringside::env_text("PWD")) static_cast<void>(::chdir(folder->c_str()));
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 1 && words.front() == "--command-line") {
    fmt::print("{}", ringside::to_text(document_of(ringside::cli::command_line_text())));
    return 0;
  }
  if (words.size() == 2 && words.front() == "--decompress") {
    const ringside::Status done = decompress(words.back());
    if (!done) ringside::print_error(done.error());
    return done ? 0 : ringside::cli::kBadUsage;
  }
  return ringside::cli::run_words(std::move(words));
}
