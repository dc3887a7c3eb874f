#pragma once

#include <ringside/export.h>
#include <ringside/job.h>
#include <ringside/result.h>
#include <ringside/units.h>
#include <ringside/words.h>

#include <vector>

namespace RINGSIDE_API ringside {

/// "Which algorithm and protocol does NCCL choose for this collective on that job?"
struct TuningRequest {
  JobRequest job;
  Collective collective = Collective::AllReduce;
  std::vector<Bytes> sizes;  ///< of the larger of one rank's buffers, as nccl-tests counts
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
};

/// A pair that NCCL can take, and the time that its model predicts.
struct TuningCandidate {
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  Seconds predicted{};
};

/// How NCCL does the collective in one size.
struct TuningAnswer {
  Bytes bytes;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  int channels = 0;
  int threads = 0;  ///< of a block
  Bytes chunk;      ///< on the first channel
  Seconds predicted{};
  std::vector<TuningCandidate> candidates =
      {};  ///< in NCCL's order; the chosen pair is one of them
};

/// returns  an answer for each size, in the order of the request
/// errors   as load_topology(); InvalidArgument: the settings leave no algorithm.  Unsupported: a collective that NCCL makes of
///          sends and receives
Result<std::vector<TuningAnswer>> choose_algorithms(const TuningRequest& request);

}  // namespace ringside
