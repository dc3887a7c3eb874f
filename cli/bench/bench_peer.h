#pragma once

#include "base/result.h"
#include "harness/bench.h"
#include "harness/job.h"

namespace ringside::cli {

struct BenchArguments;

/// Has another library run the calls: --backend mpi, gloo or torch. For MPI without a launcher, this program is replaced
/// by mpirun, which starts it again on each rank.
/// errors  as peer_executor(); InvalidArgument: an option that applies to ringside's engine alone.  Unsupported: no mpirun
Status use_peer(const BenchArguments& arguments, BenchOptions& options, ringside::JobOptions& job);

}  // namespace ringside::cli
