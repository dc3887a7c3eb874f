#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/bench/fault_options.h"
#include "cli/verb.h"

namespace ringside::cli {

/// The unparsed options of a training script.
struct ScriptArguments {
  std::optional<int> ranks;
  FaultArguments faults;
  std::string python = "python3";
  std::vector<std::string> words;  ///< of the script

  [[nodiscard]] bool is_any() const { return ranks || faults.is_any() || !words.empty(); }
};

/// Runs a training script of PyTorch on ranks of this machine with the launcher of the Python package (ringside.launch),
/// which says why the script hangs. Sets RINGSIDE_PROGRAM for the launcher to the path of this program.
/// folder     for dumps, logs and a trace; empty: a temporary one, without a trace
/// timeout_s  after which a call fails; empty: as the script says
/// returns    the exit status of the launcher; 128 and the signal that ended it
/// errors     NotFound: no Python, or one without the package ringside.  System: the launcher cannot be started, or the
///            plan of faults cannot be written for it.  Also those of fault_plan_of()
VerbResult run_script(const std::string& script, const ScriptArguments& arguments,
                      const std::string& folder, std::optional<double> timeout_s);

}  // namespace ringside::cli
