#include "study/scenario_parts.h"
namespace ringside::study {
Result<ScenarioOutcome> run_on_processes(const ScenarioQuestion&) {
  return Error{ErrorCode::Unsupported, "not yet", ""};
}
}  // namespace ringside::study
