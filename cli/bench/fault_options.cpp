#include "cli/bench/fault_options.h"

#include <fmt/format.h>

#include <utility>

#include "cli/options.h"
#include "engine/faults/fault_text.h"
#include "engine/topology/sources/description_file.h"

namespace ringside::cli {

void add_fault_options(Options& app, FaultArguments& arguments) {
  app.add_option(
         "--fault", arguments.faults,
         fmt::format("what goes wrong, such as skip:rank=1,call=9 (its tenth call: the first "
                     "is 0) or blackhole:from=0,after=1M; kinds: {}",
                     fmt::join(fault_names(), ", ")))
      ->allow_extra_args(false);
  app.add_option("--fault-plan", arguments.file,
                 "a file of faults (docs/reference/planned-faults.md)");
  app.add_option("--fault-seed", arguments.seed, "draws what --fault leaves open")
      ->check_range(0, 1 << 30)
      ->capture_default_str();
}

Result<FaultPlan> fault_plan_of(const FaultArguments& arguments) {
  FaultPlan plan;
  plan.seed = static_cast<std::uint64_t>(arguments.seed);
  if (!arguments.file.empty()) {
    RINGSIDE_TRY(const std::string text, read_description(arguments.file));
    RINGSIDE_TRY(plan, parse_fault_plan(text, arguments.file));
  }
  for (const std::string& text : arguments.faults) {
    RINGSIDE_TRY(Fault fault, parse_fault(text));
    plan.faults.push_back(std::move(fault));
  }
  return plan;
}

}  // namespace ringside::cli
