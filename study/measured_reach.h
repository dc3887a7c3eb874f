#pragma once

#include <string>

#include "study/simulation.h"

namespace ringside::study {

/// Why a call lies outside what the error bars were measured on: "all_to_all among more than 20 ranks"; empty: it does not.
/// source  the systems of docs/accuracy.md: collectives, most ranks of each, and none on a fabric that is described
std::string beyond_measured(const SimPlan& plan);

}  // namespace ringside::study
