#pragma once

#include <cstddef>
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

/// A cache of the plans that were used last. It is small, because jobs repeat few calls.
///
/// Ownership  the cache owns the plans. A plan stays valid until kMost other plans have been found or added since its
///            own last use, or until the cache is destroyed or assigned
/// Threads    one at a time
class HostPlans {
 public:
  static constexpr std::size_t kMost = 64;  ///< Executor::plan() promises it

  /// Finds the plan of a call that differs at most in buffers and stream, and marks it as used. Allocates no memory.
  /// returns  null: no such plan is cached
  [[nodiscard]] HostPlan* find(const CollectiveCall& call);
  /// Adds a plan as used. If kMost plans are cached, it replaces the one whose last use is the longest ago.
  /// plan  find() returns null for its call
  HostPlan& keep(std::unique_ptr<HostPlan> plan);

 private:
  std::vector<std::unique_ptr<HostPlan>> plans_;  ///< by their last use, newest first
};

}  // namespace ringside
