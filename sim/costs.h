#pragma once

#include <array>

#include "engine/tuning/select.h"
#include "sim/model.h"

namespace ringside {

/// What a collective costs in addition to its bytes on the links.
struct SimCosts {
  Seconds launch{};                           ///< once
  std::array<Seconds, kStepLinks> step = {};  ///< of a message, by the slowest link that it crosses
  /// Of the links' rates, what carries a message's bytes and the protocol's own, by the slowest link.
  std::array<double, kStepLinks> share = {1, 1, 1};
  Seconds nvswitch{};              ///< of a message of an NVSwitch's group
  Seconds network_reduction{};     ///< of a message of a network's group
  double nvswitch_efficiency = 1;  ///< what multicast and load-reduce get out of NVLink
};

/// What is added when all steps are through: nothing that a step waits for.
struct SimOverheads {
  Seconds least{};       ///< no collective is shorter: one thread launches kernel after kernel
  Seconds ramp{};        ///< most that a pipeline loses until it has its rate
  Seconds ramp_over{1};  ///< of the busiest link's time, until most of that is lost

  /// steps    when the last step ends, the launch included
  /// busiest  what the busiest link needs for its bytes alone
  [[nodiscard]] Seconds total(Seconds steps, Seconds busiest) const;
};

/// Both, by the model of what hardware gives, for an algorithm and a protocol in these surroundings.
/// What the model has no number for (steps through a network that reduces) is NCCL's.
SimCosts costs_of(const Tuner& tuner, const SimModel& model, const Surroundings& surroundings,
                  Collective collective, Algorithm algorithm, Protocol protocol);
SimOverheads overheads_of(const Tuner& tuner, const SimModel& model,
                          const Surroundings& surroundings, Protocol protocol);

/// Bytes on the wire for each byte of data: LL 2, LL128 16/15, Simple 1.
double wire_factor(Protocol protocol);

}  // namespace ringside
