#include <cstdint>
#include <string>

#include "base/assert.h"
#include "harness/scenario/scenario.h"
#include "study/interchange/chakra_import.h"
#include "study/interchange/import.h"

/// Feeds a Chakra trace from a stranger, alone or as both ranks of a job: it is refused with the place of the error,
/// or read as calls that a scenario can hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const std::string bytes(data, data + size);
  const study::GivenFile groups{"groups.json", R"({"0": [0, 1], "1": [1]})"};
  for (const bool are_two : {false, true}) {
    std::vector<study::GivenFile> files{{"a.0.et", bytes}};
    if (are_two) files.push_back({"a.1.et", bytes});
    auto job = study::import_chakra(files, are_two ? &groups : nullptr);
    if (!job) {
      RINGSIDE_ASSERT(!job.error().help.empty(), "no fix: {}", job.error().message);
      continue;
    }
    const auto scenario = study::scenario_of(*std::move(job));
    if (!scenario) continue;
    const auto again = parse_scenario(to_yaml(*scenario), "imported");
    RINGSIDE_ASSERT(again.has_value(), "what was imported is no scenario: {}",
                    again.error().message);
  }
  return 0;
}
