#include <cstdint>
#include <string>

#include "base/assert.h"
#include "harness/scenario/scenario.h"
#include "study/interchange/import.h"
#include "study/interchange/profiler_trace.h"

/// Feeds a profiler's trace from a stranger: it is refused with the fix, or read as calls that a scenario can hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  auto job = study::import_profiler_traces({{"a.json", std::string(data, data + size)}});
  if (!job) {
    RINGSIDE_ASSERT(!job.error().help.empty(), "no fix: {}", job.error().message);
    return 0;
  }
  constexpr std::size_t kFew = 256;  // larger jobs contain nothing more, and are slow
  if (job->ranks.size() > kFew) return 0;
  const auto scenario = study::scenario_of(*std::move(job));
  if (!scenario) return 0;
  const auto again = parse_scenario(to_yaml(*scenario), "imported");
  RINGSIDE_ASSERT(again.has_value(), "what was imported is no scenario: {}", again.error().message);
  return 0;
}
