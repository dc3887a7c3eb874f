#pragma once

#include <ringside/export.h>
#include <ringside/job.h>
#include <ringside/result.h>
#include <ringside/units.h>
#include <ringside/words.h>

#include <vector>

namespace RINGSIDE_API ringside {

/// The question "Which algorithm and protocol does NCCL choose for this collective on that job?"
struct TuningRequest {
  JobRequest job;
  Collective collective = Collective::AllReduce;
  std::vector<Bytes> sizes;  ///< bytes of the larger of one rank's buffers, as in nccl-tests
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
};

/// An algorithm and protocol that NCCL can use, with the time that its model predicts.
struct TuningCandidate {
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  Seconds predicted{};
};

/// NCCL's choice for one size.
struct TuningAnswer {
  Bytes bytes;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  int channels = 0;
  int threads = 0;  ///< threads of a block
  Bytes chunk;      ///< on the first channel
  Seconds predicted{};
  /// In NCCL's order; the chosen pair is one of them
  std::vector<TuningCandidate> candidates = {};
};

/// Returns NCCL's choice for each size.
/// returns  one answer per size, in the order of the request
/// errors   as load_topology(); InvalidArgument: the settings leave no algorithm.  Unsupported: a collective that NCCL
///          runs as sends and receives
Result<std::vector<TuningAnswer>> choose_algorithms(const TuningRequest& request);

}  // namespace ringside
