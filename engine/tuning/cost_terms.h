#pragma once

#include "engine/tuning/cost_table.h"

/// The bandwidth and latency formulas of make_cost_table(), for an available combination. Private to this folder.
namespace ringside {

/// The inputs of the formulas.
struct CostInputs {
  const TuningModel& model;
  const CommShape& shape;
  const TuningParameters& parameters;

  [[nodiscard]] float ranks_per_node() const {
    return static_cast<float>(shape.nranks) / static_cast<float>(shape.nnodes);
  }
  [[nodiscard]] GpuClass gpu_class() const;
  /// Returns the CPU architecture that the version uses: rank 0's own, or that of all hosts.
  [[nodiscard]] CpuArch cpu_arch() const {
    const bool own = model.cpus_of_own_host && shape.own_cpu_arch != CpuArch::Unknown;
    return own ? shape.own_cpu_arch : shape.cpu_arch;
  }
  [[nodiscard]] CpuVendor cpu_vendor(bool of_own_host) const {
    const bool own = of_own_host && shape.own_cpu_vendor != CpuVendor::Unknown;
    return own ? shape.own_cpu_vendor : shape.cpu_vendor;
  }
  [[nodiscard]] std::size_t nodes_column() const {
    return shape.nnodes <= 2 ? static_cast<std::size_t>(shape.nnodes - 1) : 2;
  }
};

/// Returns whether each rank's output or input is a share of the whole: all-gather and reduce-scatter.
inline bool is_gather(Collective c) {
  return c == Collective::AllGather || c == Collective::ReduceScatter;
}

/// Returns the number of steps of a ring, which is n x (bytes that a link carries) / (bytes of the buffer). The other
/// algorithms use it for that ratio.
int ring_steps(Collective collective, int nranks);

/// The modelled bandwidth of a call, and the terms that it is computed from.
struct Speed {
  float algorithm_gbs = 0;
  BandwidthTerms terms;
};

/// Returns the bandwidth of a call.
/// returns  0 GB/s if the graph has no channel
Speed bandwidth_of(const CostInputs& in, Collective collective, Algorithm algorithm,
                   Protocol protocol);

/// The modelled latency of a call, and the terms that it is computed from.
struct Delay {
  float us = 0;
  LatencyTerms terms;
};

/// Returns the latency of a call.
Delay latency_of(const CostInputs& in, Collective collective, Algorithm algorithm,
                 Protocol protocol);

}  // namespace ringside
