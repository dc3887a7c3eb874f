#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/vocabulary.h"
#include "engine/collectives/plan.h"
#include "engine/reduce/reduce_op.h"
#include "ringside/units.h"

namespace ringside {

/// The caller's stream, where calls run on GPUs: a cudaStream_t, of which null is CUDA's default one.
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
  std::int64_t count = 0;  ///< elements, as CallShape::count says
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  std::optional<ElementBits> scalar = {};  ///< of RedOp::PreMulSum: this rank's factor
  Rank root{0};
  std::vector<std::int64_t> counts = {};         ///< all_gather_v: as CallShape::counts
  std::vector<Transfer> sends = {}, recvs = {};  ///< send_recv, send, recv: as CallShape's
  /// The call runs behind what this stream holds, and before its later work. None: its buffers are ready now
  std::optional<DeviceStream> stream = {};
};

/// Whether the two differ only in their buffers and streams.
bool is_alike(const CollectiveCall& a, const CollectiveCall& b);

/// Whether it lists its sends and receives, whose other ends may be in other calls' lists.
inline bool is_listed(const CollectiveCall& call) {
  return !call.sends.empty() || !call.recvs.empty();
}

/// The key of the call's plan.
CallShape shape_of(const CollectiveCall& call);

/// The user's settings for calls; the rest is chosen.
struct CallWishes {
  std::optional<Algorithm> algorithm = {};
  std::optional<Protocol> protocol = {};
  int nchannels = 0;  ///< 0: as tuned
  Bytes slot = {};    ///< 0: as tuned
};

}  // namespace ringside
