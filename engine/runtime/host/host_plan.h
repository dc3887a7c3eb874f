#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/collectives/task.h"
#include "engine/runtime/calls/executor.h"
#include "engine/runtime/host/host_primitives.h"

namespace ringside {

/// All that running a call takes but its buffers: made once, run often.
///
/// Threads  one runs it; its channels may be run by one thread each
struct HostPlan : CallPlan {
  /// What of the call one thread works on.
  struct Part {
    int channel = 0;
    Protocol protocol = Protocol::Simple;
    Bytes slot;
    ChannelTask task;
  };
  std::optional<ReduceOp> reduce;
  std::vector<Part> parts;       ///< one a channel; of listed transfers one a channel and protocol
  std::vector<HostPorts> ports;  ///< [part]; none before prepare()
  std::vector<HostPrimitives> models;  ///< [part]; none before prepare()
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
