#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/collectives/plan.h"
#include "engine/runtime/host_primitives.h"

namespace ringside {

/// One collective call on one rank.
///
/// In place: NCCL's rules (all_gather: input lies at block `rank` of the output, reduce_scatter: output at
/// block `rank` of the input). Point-to-point needs two buffers.
struct CollectiveCall {
  Collective collective = Collective::AllReduce;
  const void* input = nullptr;
  void* output = nullptr;
  std::int64_t count = 0;  ///< elements, as CallShape::count says
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  std::optional<ElementBits> scalar = {};  ///< of RedOp::PreMulSum: this rank's factor
  Rank root{0};
  std::vector<std::int64_t> counts = {};         ///< all_gather_v: as CallShape::counts
  std::vector<Transfer> sends = {}, recvs = {};  ///< send_recv, send, recv: as CallShape's
};

/// Whether the two differ in nothing but their buffers.
bool is_alike(const CollectiveCall& a, const CollectiveCall& b);

/// All that running a call takes but its buffers: made once, run often.
///
/// Threads  one runs it; its channels may be run by one thread each
struct HostPlan {
  CollectiveCall call;  ///< its buffers mean nothing
  Choice choice;
  Bytes bytes;
  std::optional<ReduceOp> reduce;
  std::vector<ChannelTask> tasks;      ///< [channel]
  std::vector<HostPorts> ports;        ///< [channel]
  std::vector<HostPrimitives> models;  ///< [channel]
};

/// The plans of the last calls. They are few: jobs repeat theirs.
class HostPlans {
 public:
  /// returns  null where there is none
  [[nodiscard]] HostPlan* find(const CollectiveCall& call);
  HostPlan& keep(std::unique_ptr<HostPlan> plan);

 private:
  std::vector<std::unique_ptr<HostPlan>> plans_;
  std::size_t last_ = 0;    ///< the one found or kept last
  std::size_t oldest_ = 0;  ///< whose place is taken next, once all are
};

}  // namespace ringside
