#include <cstdint>
#include <string>

#include "base/assert.h"
#include "harness/hangs/outline.h"
#include "harness/hangs/program.h"

/// Feeds a program of groups and calls from a stranger: it is refused with the place of the error and the fix, or
/// every call belongs to a group that the rank is in.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::hangs;
  const auto outline = parse_outline(std::string(data, data + size), "program.yaml");
  if (!outline) {
    RINGSIDE_ASSERT(outline.error().message.starts_with("program.yaml"),
                    "an error without its place: {}", outline.error().message);
    RINGSIDE_ASSERT(!outline.error().help.empty(), "no fix: {}", outline.error().message);
    return 0;
  }
  const Program program = make_program(*outline);
  for (int rank = 0; rank < program.ranks; ++rank) {
    for (const Step& step : program.programs[static_cast<std::size_t>(rank)].body) {
      if (step.kind != Step::Kind::Call) continue;
      const Group& group = program.groups[static_cast<std::size_t>(step.group)];
      RINGSIDE_ASSERT(group_rank(group, rank) >= 0, "rank {} is not in {}", rank, group.desc);
      RINGSIDE_ASSERT(step.peer >= 0 && step.peer < static_cast<int>(group.ranks.size()),
                      "peer {} of {}", step.peer, group.ranks.size());
    }
  }
  return 0;
}
