#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "sim/fabric/fabric.h"

namespace ringside::study {

/// Returns the oversubscription that the fabric file requests for a tier, if whole numbers of links
/// give another one; else nullopt. Leaves with few hosts have few uplinks: with 2 NICs both 2:1 and
/// 8:1 leave one uplink.
/// tier  index into FabricShape::tiers
std::optional<double> asked_instead(const Fabric& fabric, std::size_t tier);

/// Returns a ratio such as "2:1" or "2.67:1".
std::string ratio_text(double over);

/// Returns "leaf - spine is 2:1, not 8:1: links are whole"; empty if each tier is as requested.
std::string rounding_text(const Fabric& fabric);

/// Returns rounding_text(), and whether the job is too small for the fabric's upper links: "all 4 hosts are below
/// the same leaf switches, so oversubscription has no effect". Empty: neither.
/// hosts  numbers of the job's hosts in the fabric
std::string fabric_note(const Fabric& fabric, std::span<const int> hosts);

/// Returns how many hosts a leaf of a fabric given by a word takes, if hosts with fewer NICs than GPUs let more of them
/// fit; else an empty text.
/// nics, gpus  of a host
std::string leaf_note(const Fabric& fabric, std::size_t nics, std::size_t gpus);

}  // namespace ringside::study
