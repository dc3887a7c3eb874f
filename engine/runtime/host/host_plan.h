#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/collectives/task.h"
#include "engine/runtime/calls/executor.h"
#include "engine/runtime/host/host_primitives.h"

namespace ringside {

/// A call that is prepared for host memory, without its buffers. It is made once and run often.
///
/// Threads  one thread runs it; each part may run on a thread of its own
struct HostPlan : CallPlan {
  /// The share of the call that one thread executes.
  struct Part {
    int channel = 0;
    Protocol protocol = Protocol::Simple;
    Bytes slot;
    ChannelTask task;
  };
  std::optional<ReduceOp> reduce;
  std::vector<Part> parts;  ///< one per channel; for listed transfers one per channel and protocol
  std::vector<HostPorts> ports;        ///< [part]; none before prepare()
  std::vector<HostPrimitives> models;  ///< [part]; none before prepare()
};

/// A cache of the latest calls' plans. It is small, because jobs repeat few calls.
class HostPlans {
 public:
  /// Finds the plan of a call that differs at most in buffers and stream.
  /// returns  null: no such plan is cached
  [[nodiscard]] HostPlan* find(const CollectiveCall& call);
  HostPlan& keep(std::unique_ptr<HostPlan> plan);

 private:
  std::vector<std::unique_ptr<HostPlan>> plans_;
  std::size_t last_ = 0;    ///< index of the plan that was found or added last
  std::size_t oldest_ = 0;  ///< index of the plan that is replaced next once the cache is full
};

}  // namespace ringside
