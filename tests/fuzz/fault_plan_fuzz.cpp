// Feeds a plan of faults, as a file or as one line: it is refused or read, and a plan that was read is the same after
// writing and reading it again.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "engine/faults/fault_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto fault = parse_fault(text)) {
    RINGSIDE_ASSERT(parse_fault(to_string(*fault)), "{} is not read back", to_string(*fault));
  }
  if (const auto plan = parse_fault_plan(text, "input")) {
    RINGSIDE_ASSERT(parse_fault_plan(to_yaml(*plan), "again"), "not read back: {}", to_yaml(*plan));
    static_cast<void>(plan->drawn_for(8));
  }
  return 0;
}
