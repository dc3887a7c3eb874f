#pragma once

#include <span>
#include <string>

#include "study/simulation.h"

namespace ringside::study {

/// Most ranks that somebody measured, on one node and on several; 0: nobody did. A rack of one NVLink domain counts as a node.
struct MeasuredReach {
  Collective collective;
  int one_node, several;
};

/// By collective; what is not there was not measured.
/// source  the systems of docs/lab/accuracy.md (tests/study/measured_reach_test.cpp reads their table)
std::span<const MeasuredReach> measured_reaches();

/// Of hosts that are no rack of one NVLink domain, whatever the collective.
inline constexpr int kMostMeasuredOfHosts = 64;

/// Why a call lies outside what the error bars were measured on: "all_to_all among more than 20 ranks"; empty: it does not.
std::string beyond_measured(const SimPlan& plan);

}  // namespace ringside::study
