#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/faults/fault.h"

namespace ringside::cli {

class Options;

/// The unparsed options of planned faults.
struct FaultArguments {
  std::vector<std::string> faults;
  std::string file;
  int seed = 1;

  [[nodiscard]] bool is_any() const { return !faults.empty() || !file.empty(); }
};

/// Adds --fault, --fault-plan and --fault-seed. `arguments` outlives the parsing.
void add_fault_options(Options& app, FaultArguments& arguments);

/// Returns the faults of the file, followed by those of the command line.
/// errors  as parse_fault(), parse_fault_plan(), read_description()
Result<FaultPlan> fault_plan_of(const FaultArguments& arguments);

}  // namespace ringside::cli
