#include "sim/fidelity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/suggest.h"
#include "sim/event/event_engine.h"
#include "sim/flow.h"

namespace ringside {
namespace {

constexpr std::array kTable{
    Fidelity{"chunk", "each chunk is a flow of SimGrid's, the algorithms run as they are",
             simulate},
    Fidelity{"event", "each chunk is a flow of our own loop, over the recorded steps",
             simulate_events},
    Fidelity{"flow",
             "as event, until each loop takes as long as the one before: the rest at that pace",
             simulate_flows},
    Fidelity{"auto", "event for short calls and traces, else flow", simulate_as_fits},
};

}  // namespace

std::span<const Fidelity> fidelities() { return kTable; }

Result<const Fidelity*> parse_fidelity(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &Fidelity::name);
  if (found != kTable.end()) return &*found;
  std::vector<std::string_view> known;
  for (const Fidelity& one : kTable) known.push_back(one.name);
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown fidelity '{}'", name),
               suggestion(name, known)};
}

}  // namespace ringside
