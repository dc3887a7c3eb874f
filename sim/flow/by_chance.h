#pragma once

#include <functional>

#include "base/result.h"
#include "sim/flow/link_kinds.h"
#include "sim/simulate.h"

namespace ringside {

/// Estimates the time of a call's steps. It serves calls with too many classes of tasks for an
/// event simulation.
///
/// First, channels share the links as coupled flows (share_coupled()): this gives a lower bound.
/// Then each line gets a rate of its own, and the recorded steps run at these rates: one loop, then
/// more loops until each takes as long as the one before. Lines of one kind run in step and divide
/// the link equally. Lines of different kinds meet at random, in proportion to the time in which
/// they carry messages, as an arriving message does in mean-value analysis. Rates and times are
/// iterated until they change by less than a thousandth, at most 12 times.
///
/// The result differs from an event simulation if lines of different kinds run in step:
/// docs/lab/accuracy.md gives the error.
/// on_progress  receives the completed share, 0 to 1
/// returns      the time without the launch
/// source       Schweitzer, Approximate analysis of multiclass closed networks of queues (1979),
///              for lines that meet at random
/// errors       as simulate_events()
Result<Seconds> time_by_chance(const SimRequest& request, const FlowKinds& kinds,
                               const std::function<void(double)>& on_progress);

}  // namespace ringside
