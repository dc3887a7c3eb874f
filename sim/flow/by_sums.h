#pragma once

#include <functional>

#include "base/result.h"
#include "sim/simulate.h"

namespace ringside {

/// Returns true if the exchange (a group of sends and receives) has too many transfers for an event
/// simulation of about two seconds. The limit is far lower over a fabric, where the end of each
/// transfer changes the rates of others.
/// errors  as plan_channels()
Result<bool> is_large_exchange(const SimRequest& request);

/// Estimates the time of an exchange as max(busiest link, longest chain) + latency of one message.
/// All transfers start at once, so the busiest link never idles; a rank's sends on one channel run
/// one after the other. The estimate ignores that on links shared at random some flows end early
/// and leave the link to others.
///
/// on_progress  receives the completed share, 0 to 1
/// returns      a result whose `time` is that of the steps, without the launch
/// errors       as simulate_events()
Result<SimResult> sum_exchange(const SimRequest& request,
                               const std::function<void(double)>& on_progress);

}  // namespace ringside
