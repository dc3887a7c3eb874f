#pragma once

#include "engine/tuning/cost_table.h"

/// The two halves of make_cost_table(), for an entry that is available. Private to this folder.
namespace ringside {

/// What a communicator is to the formulas.
struct CostInputs {
  const TuningModel& model;
  const CommShape& shape;
  const TuningParameters& parameters;

  [[nodiscard]] float ranks_per_node() const {
    return static_cast<float>(shape.nranks) / static_cast<float>(shape.nnodes);
  }
  [[nodiscard]] GpuClass gpu_class() const;
  /// Of the hosts that the version looks at.
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

/// Each rank ends, or begins, with a share.
inline bool is_gather(Collective c) {
  return c == Collective::AllGather || c == Collective::ReduceScatter;
}

/// Steps of a ring; n x (bytes a link carries) / (bytes of the buffer) for the other algorithms.
int ring_steps(Collective collective, int nranks);

struct Speed {
  float algorithm_gbs = 0;
  BandwidthTerms terms;
};

/// returns  0 GB/s where the graph has no channel
Speed bandwidth_of(const CostInputs& in, Collective collective, Algorithm algorithm,
                   Protocol protocol);

struct Delay {
  float us = 0;
  LatencyTerms terms;
};

Delay latency_of(const CostInputs& in, Collective collective, Algorithm algorithm,
                 Protocol protocol);

}  // namespace ringside
