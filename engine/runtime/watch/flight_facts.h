#pragma once

#include <vector>

#include "base/ids.h"
#include "engine/flight/recorder.h"
#include "engine/runtime/calls/call.h"

namespace ringside {

/// Returns the flight recorder's entry of a collective call (is_listed() is false).
FlightFacts flight_facts(const CollectiveCall& call, int nranks);

/// Returns one entry for each message of a send_recv, send or recv call, the sends first.
std::vector<FlightFacts> flight_messages(const CollectiveCall& call, Rank me, int nranks);

}  // namespace ringside
