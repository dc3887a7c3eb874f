#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ringside::cli {

class Options;

/// Exit statuses. docs/reference/command-line.md lists them.
enum ExitStatus : int {
  kFine = 0,
  kFinding = 1,    ///< the tool worked and found something wrong
  kBadUsage = 2,   ///< bad usage or bad input
  kRunFailed = 3,  ///< it failed at run time
};

/// The result of a verb: an exit status, or the Error that main() prints once.
using VerbResult = Result<int>;

/// One verb of the command line. Each has a file of its own; app.cpp lists them in one table.
struct Verb {
  std::string name;
  std::string summary;                ///< one line, for `ringside --help`
  std::vector<std::string> examples;  ///< two full command lines; a test runs them
  /// Adds options to the verb's own subcommand and returns what to do once they are parsed. State
  /// that the options fill lives in the returned function (a shared_ptr to the verb's options).
  std::function<std::function<VerbResult()>(Options& app)> declare;
  /// Options that it had once, and their replacements.
  std::vector<std::pair<std::string, std::string>> moved = {};
};

Verb attach_verb();
Verb audit_verb();
Verb bench_verb();
Verb explain_verb();
Verb generate_verb();
Verb gui_verb();
Verb hang_verb();
Verb probe_verb();
Verb reproduce_verb();
Verb run_verb();
Verb scenario_verb();
Verb sim_verb();
Verb sweep_verb();
Verb topo_verb();
Verb trace_verb();
Verb validate_verb();
Verb demo_verb();

}  // namespace ringside::cli
