#include "cli/app.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/report_error.h"
#include "base/shipped_file.h"
#include "base/write_file.h"
#include "cli/all_verbs.h"
#include "cli/options.h"
#include "cli/verb.h"

namespace ringside::cli {
namespace {

int report(const Error& error) {
  if (error.is_reported_elsewhere) return exit_status(error.code);
  print_error(error);
  return exit_status(error.code);
}

std::string examples_text(const Verb& verb) {
  return fmt::format("{}\n\nexamples:\n  {}", verb.summary, fmt::join(verb.examples, "\n  "));
}

/// The program's options and those of every verb.
struct Program {
  Options options{"ringside",
                  "Diagnostics, simulation and testing for the GPU communication stack"};
  std::vector<std::pair<const Options*, std::function<VerbResult()>>> runs = {};

  Program() {
    options.add_version(RINGSIDE_VERSION);
    for (const Verb& verb : all_verbs()) {
      Options& own = *options.add_subcommand(verb.name, verb.summary);
      // The long text only for the verb's own help: the list of verbs shows the summary.
      own.describe(examples_text(verb));
      for (const auto& [option, now] : verb.moved) own.add_moved(option, now);
      runs.emplace_back(&own, verb.declare(own));
    }
  }
};

/// Prints a page of docs/, which errors and findings name.
Result<int> print_page(const std::string& page) {
  const std::optional<std::string> path = shipped_file(page);
  if (!path) {
    return Error{ErrorCode::NotFound, fmt::format("{}: no such page", page),
                 "the list of pages: ringside help docs/README.md"};
  }
  RINGSIDE_TRY(const std::string text, read_file(*path));
  fmt::print("{}", text);
  return kFine;
}

/// Runs the verb that the words name.
Result<int> run_verb(std::vector<std::string> words) {
  if (words.size() == 2 && words[0] == "help" && words[1].ends_with(".md"))
    return print_page(words[1]);
  Program whole;
  Options& program = whole.options;
  if (words.empty()) {
    fmt::print(stderr, "{}", program.help());
    return kBadUsage;
  }
  RINGSIDE_TRY(const std::optional<int> done, program.parse(std::move(words)));
  if (done) return *done;
  for (const auto& [options, run] : whole.runs) {
    if (options->parsed()) return run();
  }
  return kBadUsage;
}

/// Called in any thread that runs out of memory: an exception would end the program without a message.
void end_without_memory() {
  constexpr std::string_view kText =
      "error: out of memory\n"
      "help:  ask for less: fewer nodes or bytes, --fidelity flow, smaller files\n";
  if (::write(STDERR_FILENO, kText.data(), kText.size()) < 0) {
    // stderr has no reader any more: the program ends nevertheless.
  }
  ::_exit(exit_status(ErrorCode::System));
}

}  // namespace

CommandText command_line_text() { return Program().options.text(); }

int run_words(std::vector<std::string> words) {
  std::set_new_handler(end_without_memory);
  report_exceptions_of_threads();
  try {
    const Result<int> status = answer_on_stdout([&] { return run_verb(std::move(words)); });
    return status ? *status : report(status.error());
  } catch (...) {
    return report_exception();
  }
}

}  // namespace ringside::cli
