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

/// Runs a training script of PyTorch on ranks of this machine, by `python3 -m ringside.launch`, which says why it hangs.
/// folder     for dumps and logs; empty: a temporary one
/// timeout_s  after which a call fails; empty: as the script says
/// returns    the exit status: that of the launcher
/// errors     NotFound: no Python, or one without the package ringside.  As fault_plan_of()
VerbResult run_script(const std::string& script, const ScriptArguments& arguments,
                      const std::string& folder, std::optional<double> timeout_s);

}  // namespace ringside::cli
