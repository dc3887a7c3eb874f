#pragma once

#include <span>
#include <string>

#include "study/simulation.h"

namespace ringside::study {

/// The most ranks that were measured, on one node and on several; 0: none. A rack of one NVLink domain counts as a
/// node.
struct MeasuredReach {
  Collective collective;
  int one_node, several;
};

/// By collective; a collective that is not listed was not measured.
/// source  the systems of docs/lab/accuracy.md (tests/study/measured_reach_test.cpp reads their table)
std::span<const MeasuredReach> measured_reaches();

/// For hosts that are not in a rack of one NVLink domain, for any collective.
inline constexpr int kMostMeasuredOfHosts = 64;

/// Why a call is beyond the systems that the error bars are based on: "all_to_all among more than 20 ranks"; empty:
/// it is not.
std::string beyond_measured(const SimPlan& plan);

}  // namespace ringside::study
