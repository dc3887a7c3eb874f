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

/// A stream of the caller's, where calls run on GPUs: a cudaStream_t, of which null is CUDA's default one.
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
  /// Behind what this holds it takes place, and before what follows there. None: its buffers are ready now
  std::optional<DeviceStream> stream = {};
};

/// Whether the two differ in nothing but their buffers and streams.
bool is_alike(const CollectiveCall& a, const CollectiveCall& b);

/// Whether it lists its sends and receives, whose other ends may stand in other calls' lists.
inline bool is_listed(const CollectiveCall& call) {
  return !call.sends.empty() || !call.recvs.empty();
}

/// What the call's plan depends on.
CallShape shape_of(const CollectiveCall& call);

/// What the user insists on for calls; the rest is chosen.
struct CallWishes {
  std::optional<Algorithm> algorithm = {};
  std::optional<Protocol> protocol = {};
  int nchannels = 0;  ///< 0: as tuned
  Bytes slot = {};    ///< 0: as tuned
};

}  // namespace ringside
