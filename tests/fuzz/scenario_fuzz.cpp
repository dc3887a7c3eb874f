#include <cstdint>
#include <string>

#include "base/assert.h"
#include "harness/scenario/fold_program.h"
#include "harness/scenario/plan_faults.h"
#include "harness/scenario/scenario.h"

/// Feeds a scenario from a stranger: it is refused with the place of the error and the fix, or read as a job that can
/// be played to its end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const auto scenario = parse_scenario(std::string(data, data + size), "s.yaml");
  if (!scenario) {
    RINGSIDE_ASSERT(scenario.error().message.starts_with("s.yaml"),
                    "an error without its place: {}", scenario.error().message);
    RINGSIDE_ASSERT(!scenario.error().help.empty(), "no fix: {}", scenario.error().message);
    return 0;
  }
  constexpr std::size_t kFewSteps = 20'000;
  const hangs::Outline& outline = scenario->outline;
  if (static_cast<std::size_t>(outline.ranks) * outline.steps.size() *
          static_cast<std::size_t>(outline.iterations) >
      kFewSteps) {
    return 0;
  }
  hangs::Program program = hangs::make_program(outline);
  const auto drawn = scenario->faults.drawn_for(outline.ranks);
  if (!drawn) return 0;
  if (const auto planned = plan_faults(*drawn, program)) {
    static_cast<void>(hangs::play(program, planned->network, 1, {.call = {}, .is_even = true}));
  }
  if (const auto folded = fold_program(program)) {
    static_cast<void>(hangs::play(folded->program, {}, 1, {.call = {}, .is_even = true}));
  }
  return 0;
}
