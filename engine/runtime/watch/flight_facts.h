#pragma once

#include <vector>

#include "base/ids.h"
#include "engine/flight/recorder.h"
#include "engine/runtime/calls/call.h"

namespace ringside {

/// The flight recorder's entry of a call that is no list of messages.
FlightFacts flight_facts(const CollectiveCall& call, int nranks);

/// The messages of a send_recv, send or recv, the sends first.
std::vector<FlightFacts> flight_messages(const CollectiveCall& call, Rank me, int nranks);

}  // namespace ringside
