#pragma once

#include <simgrid/s4u.hpp>
#include <vector>

#include "engine/topology/node_type.h"

namespace ringside {

/// Makes the cluster in SimGrid's engine: one host a rank. Each GPU's link to its switch and each NIC is
/// an up link and a down link of its own; the switches hold nobody up. Links have no latency: that of a
/// step is the primitives' business.
///
/// A route inside a node crosses two GPU links, one between nodes two NICs: the way between a GPU and
/// its NIC is part of the NIC's bandwidth.
/// returns  hosts by rank
std::vector<simgrid::s4u::Host*> make_platform(const Cluster& cluster);

}  // namespace ringside
