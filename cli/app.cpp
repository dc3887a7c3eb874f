#include "cli/app.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <deque>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/report_error.h"
#include "base/suggest.h"
#include "cli/gui_verb.h"
#include "cli/options.h"
#include "cli/verb.h"

namespace ringside::cli {
namespace {

constexpr const char* kStdoutMend = "free space where stdout leads to, or send it elsewhere";

/// Every verb, in the order of `ringside --help`.
std::vector<Verb> all_verbs() {
  return {demo_verb(),      probe_verb(),    audit_verb(),   hang_verb(),
          bench_verb(),     sim_verb(),      sweep_verb(),   run_verb(),
          reproduce_verb(), scenario_verb(), explain_verb(), validate_verb(),
          topo_verb(),      generate_verb(), trace_verb(),   gui_verb()};
}

/// Whether the word is an option that the verb has lost to another one.
Status check_moved(const Verb& verb, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    for (const auto& [old, now] : verb.moved) {
      if (word.substr(0, word.find('=')) != old) continue;
      return Error{ErrorCode::InvalidArgument, fmt::format("'{}' has left '{}'", old, verb.name),
                   fmt::format("it is now: {}", now)};
    }
  }
  return {};
}

int report(const Error& error) {
  if (error.is_told_elsewhere) return exit_status(error.code);
  print_error(error);
  return exit_status(error.code);
}

std::string examples_text(const Verb& verb) {
  return fmt::format("{}\n\nexamples:\n  {}", verb.summary, fmt::join(verb.examples, "\n  "));
}

/// The long and short names that `app` (or the verb below it that was chosen) takes.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    // Short names are a letter each, and near to everything.
  }
  return names;
}

Error unknown_word(const std::string& word, std::string_view what,
                   const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  return {ErrorCode::InvalidArgument, fmt::format("unknown {} '{}'", what, word),
          suggestion(word, views)};
}

/// Whose help it is about: the last word of those chosen, behind the verbs that lead there: trace info.
std::string help_of(const CLI::App& app) {
  std::string words = "ringside";
  const CLI::App* last = &app;
  for (auto chosen = app.get_subcommands(); !chosen.empty(); chosen = last->get_subcommands()) {
    last = chosen[0];
    words += " " + last->get_name();
  }
  return fmt::format("see {} --help", words);
}

/// What CLI11 left over below the chosen verb: its own words are checked here, so that the nearest known
/// one can be named.
Status check_leftovers(const CLI::App& app, const CLI::App& program) {
  for (const CLI::App* chosen : app.get_subcommands()) {
    if (Status below = check_leftovers(*chosen, program); !below) return below;
    const std::vector<std::string> extra = chosen->remaining();
    if (extra.empty()) continue;
    const std::string& word = extra.front();
    if (word.size() > 1 && word[0] == '-') {
      const std::string name = word.substr(0, word.find('='));
      return unknown_word(name, fmt::format("option of '{}'", chosen->get_name()),
                          option_names(*chosen));
    }
    std::vector<std::string> verbs;
    for (const CLI::App* sub : chosen->get_subcommands([](const CLI::App*) { return true; })) {
      verbs.push_back(sub->get_name());
    }
    if (!verbs.empty()) return unknown_word(word, "word", verbs);
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is one word too many for '{}'", word, chosen->get_name()),
                 help_of(program)};
  }
  return {};
}

/// Does what the words ask for; what it has printed may still be on its way.
int run_verb(std::vector<std::string> words) {
  CLI::App app{"Diagnostics, simulation and testing for the GPU communication stack", "ringside"};
  app.set_version_flag("--version", RINGSIDE_VERSION);
  app.allow_extras();
  const std::vector<Verb> verbs = all_verbs();
  if (!words.empty() && words.front() == kGuiVerb) {
    const VerbResult result = start_gui({words.begin() + 1, words.end()});
    return result ? *result : report(result.error());
  }
  std::vector<std::pair<CLI::App*, std::function<VerbResult()>>> runs;
  std::vector<std::string> names;
  std::deque<Options> options;
  for (const Verb& verb : verbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    // The long text only for the verb's own help: the list of verbs shows the summary.
    sub->preparse_callback(
        [sub, text = examples_text(verb)](std::size_t) { sub->description(text); });
    sub->allow_extras();
    runs.emplace_back(sub, verb.declare(options.emplace_back(*sub)));
    names.push_back(verb.name);
  }

  const auto check_words = [&]() -> Status {
    for (std::size_t i = 0; i < verbs.size(); ++i) {
      RINGSIDE_TRY(check_moved(verbs[i], runs[i].first->remaining()));
    }
    return check_leftovers(app, app);
  };
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app.exit(version);
  } catch (const CLI::ParseError& wrong) {
    // A misspelt option is told before the one that it leaves missing.
    if (const Status clean = check_words(); !clean) return report(clean.error());
    return report({ErrorCode::InvalidArgument, wrong.what(), help_of(app)});
  }

  if (const Status clean = check_words(); !clean) return report(clean.error());
  for (const auto& [sub, verb] : runs) {
    if (!sub->parsed()) continue;
    const VerbResult result = verb();
    return result ? *result : report(result.error());
  }
  const std::vector<std::string> extra = app.remaining();
  if (!extra.empty() && extra[0][0] == '-') {
    return report(unknown_word(extra[0], "option", option_names(app)));
  }
  if (!extra.empty()) return report(unknown_word(extra[0], "verb", names));
  fmt::print(stderr, "{}", app.help());
  return kBadUsage;
}

/// Whatever thread it is that finds none: what it throws would end the program without a word.
void end_without_memory() {
  constexpr std::string_view kText =
      "error: out of memory\n"
      "help:  ask for less: fewer nodes or bytes, --fidelity flow, smaller files\n";
  if (::write(STDERR_FILENO, kText.data(), kText.size()) < 0) {
    // Nobody listens any more: it ends all the same.
  }
  ::_exit(exit_status(ErrorCode::System));
}

/// An answer that did not arrive is none, whatever the verb said of it.
Status check_stdout() {
  if (std::fflush(stdout) != 0)
    return system_error("stdout: the answer is lost", errno, kStdoutMend);
  if (std::ferror(stdout) == 0) return {};
  return Error{ErrorCode::System, "stdout: a part of the answer is lost", kStdoutMend};
}

}  // namespace

int run_words(std::vector<std::string> words) {
  std::set_new_handler(end_without_memory);
  report_exceptions_of_threads();
  int status = kFine;
  try {
    status = run_verb(std::move(words));
  } catch (const std::system_error& failed) {
    // fmt throws where stdio takes less than all.
    if (std::ferror(stdout) == 0) return report_exception();
    return report(system_error("stdout: the answer is lost", failed.code().value(), kStdoutMend));
  } catch (...) {
    return report_exception();
  }
  if (status != kFine && status != kFinding) return status;
  const Status arrived = check_stdout();
  return arrived ? status : report(arrived.error());
}

}  // namespace ringside::cli
