#pragma once

#include <ringside/export.h>
#include <ringside/job.h>
#include <ringside/result.h>
#include <ringside/units.h>
#include <ringside/words.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace RINGSIDE_API ringside {

/// The question "How long does this collective take on that job?"
struct SimulationRequest {
  JobRequest job;
  Collective collective = Collective::AllReduce;
  /// Bytes of the larger of one rank's buffers, as in nccl-tests; at least one size
  std::vector<Bytes> sizes;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  std::optional<Algorithm> algorithm = {};  ///< empty: NCCL's choice
  std::optional<Protocol> protocol = {};    ///< empty: NCCL's choice
  int channels = 0;                         ///< 0: NCCL's choice
  /// A word of `ringside sim --fidelity`: chunk, event, flow, model, auto
  std::string fidelity = "auto";
  std::string trace = {};  ///< path of the .rtrace file to write, for a single size; empty: none
};

/// One size, simulated.
struct SimulatedCall {
  Bytes bytes;  ///< the size that was asked for, in whole elements for each rank
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  int channels = 0;
  Seconds time{};
  double error_percent = 0;  ///< typical error of the time, from measurements on comparable systems
  BytesPerSecond algbw;      ///< 0 if the job has one rank
  BytesPerSecond busbw;      ///< as defined by nccl-tests; 0 if the job has one rank
  std::string fidelity = {};      ///< that the call was simulated with
  std::string limit = {};         ///< the reason that limits the call
  std::string busiest_link = {};  ///< empty: no bytes crossed a link
  /// Share of the time that the busiest link needs for its bytes alone, 0 .. 1
  double busiest_share = 0;
  std::int64_t transfers = 0;
};

/// Simulates the collective for each size.
/// returns  one call per size, in the order of the request
/// errors   as load_topology(); InvalidArgument: no size, an algorithm that the collective does not have, more
///          channels than the job has.  Unsupported: the fidelity needs the program ringside-simgrid, which is not
///          installed.  System: the trace cannot be written
Result<std::vector<SimulatedCall>> simulate(const SimulationRequest& request);

}  // namespace ringside
