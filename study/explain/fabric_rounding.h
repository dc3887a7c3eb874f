#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "sim/fabric/fabric.h"

namespace ringside::study {

/// The oversubscription that a fabric's file requests for a tier, if whole numbers of links give another one. Leaves
/// with few hosts have few uplinks: of 2 NICs both 2:1 and 8:1 leave one.
/// tier  of Fabric::shape()
std::optional<double> asked_instead(const Fabric& fabric, std::size_t tier);

/// "2:1", "2.67:1"
std::string ratio_text(double over);

/// "leaf - spine is 2:1, not 8:1: links are whole"; empty: all is as asked.
std::string rounding_text(const Fabric& fabric);

}  // namespace ringside::study
