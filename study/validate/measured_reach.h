#pragma once

#include <span>
#include <string>

#include "study/simulation.h"

namespace ringside::study {

/// The largest number of ranks that was measured on one node and on several nodes; 0: not measured.
/// A rack of one NVLink domain counts as one node.
struct MeasuredReach {
  Collective collective;
  int one_node, several;
};

/// Returns one entry per measured collective.
/// source  the systems of docs/lab/accuracy.md (tests/study/measured_reach_test.cpp reads their table)
std::span<const MeasuredReach> measured_reaches();

/// Largest number of ranks measured for any collective on hosts that are not a rack of one NVLink
/// domain.
inline constexpr int kMostMeasuredOfHosts = 64;

/// Returns the reason why a call exceeds the systems that the error bars are based on, such as
/// "all_to_all among more than 20 ranks". Empty: it does not.
std::string beyond_measured(const SimPlan& plan);

}  // namespace ringside::study
