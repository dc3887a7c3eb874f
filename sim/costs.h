#pragma once

#include <array>

#include "engine/tuning/select.h"
#include "sim/model.h"

namespace ringside {

/// The time that a collective takes in addition to the transfer of its bytes over the links.
struct SimCosts {
  Seconds launch{};  ///< added once per collective
  /// Latency of one message, by the slowest link of its route.
  std::array<Seconds, kStepLinks> step = {};
  /// Share of a link's rate at which a message (data and protocol overhead) travels, by the slowest
  /// link of its route.
  std::array<double, kStepLinks> share = {1, 1, 1};
  /// Latency of a message of an NVSwitch group, latency of a message of a reducing network's group,
  /// and the share of NVLink's rate that multicast and load-reduce achieve.
  Seconds nvswitch{};
  Seconds network_reduction{};
  double nvswitch_efficiency = 1;
};

/// Time that is added after the last step. No step waits for it.
struct SimOverheads {
  /// Lower bound of any collective's time: one thread launches kernel after kernel.
  Seconds least{};
  Seconds ramp{};        ///< upper bound of the time lost before a pipeline reaches its rate
  Seconds ramp_over{1};  ///< time constant: busiest-link time after which most of `ramp` is lost

  /// Returns the time of the whole call.
  /// steps    time at which the last step ends, the launch included
  /// busiest  time that the busiest link needs for its bytes alone
  [[nodiscard]] Seconds total(Seconds steps, Seconds busiest) const;
};

/// Both return the model's costs for an algorithm and a protocol in the given surroundings. Steps
/// through a reducing network have no constant in the model: they use NCCL's own latency.
SimCosts costs_of(const Tuner& tuner, const SimModel& model, const Surroundings& surroundings,
                  Collective collective, Algorithm algorithm, Protocol protocol);
SimOverheads overheads_of(const Tuner& tuner, const SimModel& model,
                          const Surroundings& surroundings, Protocol protocol);

/// Bytes on the wire for each byte of data: LL 2, LL128 16/15, Simple 1.
double wire_factor(Protocol protocol);

}  // namespace ringside
