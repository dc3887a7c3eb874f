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

#include "base/report_error.h"
#include "base/write_file.h"
#include "cli/options.h"
#include "cli/verb.h"

namespace ringside::cli {
namespace {

/// Returns every verb, in the order of `ringside --help`.
std::vector<Verb> all_verbs() {
  return {demo_verb(),     probe_verb(),   audit_verb(),    hang_verb(), attach_verb(),
          bench_verb(),    sim_verb(),     sweep_verb(),    run_verb(),  reproduce_verb(),
          scenario_verb(), explain_verb(), validate_verb(), topo_verb(), generate_verb(),
          trace_verb(),    gui_verb()};
}

int report(const Error& error) {
  if (error.is_reported_elsewhere) return exit_status(error.code);
  print_error(error);
  return exit_status(error.code);
}

std::string examples_text(const Verb& verb) {
  return fmt::format("{}\n\nexamples:\n  {}", verb.summary, fmt::join(verb.examples, "\n  "));
}

/// Runs the verb that the words name.
Result<int> run_verb(std::vector<std::string> words) {
  Options program("ringside",
                  "Diagnostics, simulation and testing for the GPU communication stack");
  program.add_version(RINGSIDE_VERSION);
  std::vector<std::pair<const Options*, std::function<VerbResult()>>> runs;
  for (const Verb& verb : all_verbs()) {
    Options& options = *program.add_subcommand(verb.name, verb.summary);
    // The long text only for the verb's own help: the list of verbs shows the summary.
    options.describe(examples_text(verb));
    for (const auto& [option, now] : verb.moved) options.add_moved(option, now);
    runs.emplace_back(&options, verb.declare(options));
  }
  if (words.empty()) {
    fmt::print(stderr, "{}", program.help());
    return kBadUsage;
  }
  RINGSIDE_TRY(const std::optional<int> done, program.parse(std::move(words)));
  if (done) return *done;
  for (const auto& [options, run] : runs) {
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
