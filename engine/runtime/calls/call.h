#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/vocabulary.h"
#include "engine/collectives/plan.h"
#include "engine/reduce/reduce_op.h"
#include "ringside/call_site.h"
#include "ringside/units.h"

namespace ringside {

/// The caller's stream for calls that run on GPUs: a cudaStream_t; null is CUDA's default stream.
struct DeviceStream {
  void* stream = nullptr;
  friend bool operator==(const DeviceStream&, const DeviceStream&) = default;
};

/// One collective call on one rank.
///
/// In place: NCCL's rules (all_gather: input lies at block `rank` of the output, reduce_scatter: output at
/// block `rank` of the input). Point-to-point needs two buffers.
struct CollectiveCall {
  Collective collective = Collective::AllReduce;
  const void* input = nullptr;
  void* output = nullptr;
  std::int64_t count = 0;  ///< elements; which buffer it counts: see CallShape::count
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  /// This rank's factor for RedOp::PreMulSum; empty for other operations
  std::optional<ElementBits> scalar = {};
  Rank root{0};
  std::vector<std::int64_t> counts = {};         ///< all_gather_v only: see CallShape::counts
  std::vector<Transfer> sends = {}, recvs = {};  ///< send_recv, send, recv only: see CallShape
  /// The call runs after the work that this stream already holds. Empty: its buffers are ready now
  std::optional<DeviceStream> stream = {};
  /// Where the program makes the call, for dumps; null: unknown. It outlives the flight recorder
  const CallSite* site = nullptr;
};

/// Returns whether the calls differ only in their buffers, streams and sites.
bool is_alike(const CollectiveCall& a, const CollectiveCall& b);

/// Returns whether the call lists its transfers. The matching transfers of a peer may be in other calls of that peer.
inline bool is_listed(const CollectiveCall& call) {
  return !call.sends.empty() || !call.recvs.empty();
}

/// Returns the call's shape, which is the key of its plan.
CallShape shape_of(const CollectiveCall& call);

/// The user's settings for calls. The tuning chooses every value that is not set.
struct CallSettings {
  std::optional<Algorithm> algorithm = {};
  std::optional<Protocol> protocol = {};
  int nchannels = 0;  ///< 0: as tuned
  Bytes slot = {};    ///< 0: as tuned
};

}  // namespace ringside
