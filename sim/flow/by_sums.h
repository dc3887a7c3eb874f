#pragma once

#include <functional>

#include "base/result.h"
#include "sim/simulate.h"

namespace ringside {

/// Whether an exchange has more transfers than events over its links can take in a second or two: over a fabric, where each that
/// ends changes what the others get, far fewer.
/// errors  as plan_channels()
Result<bool> is_large_exchange(const SimRequest& request);

/// The time of an exchange from its parts alone: all are under way at once, so the busiest link is never idle, and a rank's
/// sends on one channel go one after the other. The longer of the two, and a message's latency. Where links that many share by
/// chance are what limits, some of their flows end early and leave others alone: that is not seen.
///
/// on_progress  receives the share that is done, 0 to 1
/// returns  time  of the steps, without the launch
/// errors   as simulate_events()
Result<SimResult> sum_exchange(const SimRequest& request,
                               const std::function<void(double)>& on_progress);

}  // namespace ringside
