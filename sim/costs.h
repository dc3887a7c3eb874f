#pragma once

#include <array>

#include "engine/tuning/select.h"

namespace ringside {

/// What a collective costs beside its bytes on the links.
struct SimCosts {
  Seconds launch{};                           ///< once
  std::array<Seconds, kStepLinks> step = {};  ///< of a message, by the slowest link that it crosses
  Seconds nvswitch{};                         ///< of a message of an NVSwitch's group
  Seconds network_reduction{};                ///< of a message of a network's group
  double nvswitch_efficiency = 1;             ///< what multicast and load-reduce get out of NVLink
};

/// The hardware latencies of NCCL's model for an algorithm and a protocol, and its efficiency of NVLS.
/// NCCL gives one number for the whole way through NVSwitch: each of an all-reduce's two passages has
/// half of it. Its overhead of the network is left out, which stands for waiting that the simulation sees.
/// source  NCCL 2.30.7 graph/tuning.cc
SimCosts costs_of(const Tuner& tuner, Collective collective, Algorithm algorithm,
                  Protocol protocol);

/// Bytes on the wire for each byte of data: LL 2, LL128 16/15, Simple 1.
double wire_factor(Protocol protocol);

}  // namespace ringside
