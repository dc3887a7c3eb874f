#pragma once

#include <span>

namespace ringside {

/// The speeds of a channel that a search tries, fastest first.
///
/// sm        the least compute capability of the node, 10 x major + minor
/// is_inter  the job spans several nodes
/// unit      GB/s
/// source    NCCL 2.30.7 graph/search.cc
std::span<const float> channel_speeds(int sm, bool is_inter);

}  // namespace ringside
