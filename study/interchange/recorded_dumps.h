#pragma once

#include "diag/hangdetect/examine.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

/// What flight recorder dumps, and NCCL's COLL lines where there are none, say that was called. Groups are the job's, by
/// their numbers there.
struct RecordedDumps {
  RecordedJob job;
  bool has_unknown_peers = false;  ///< transfers were left out, whose ends nobody recorded
  bool has_unknown_roots = false;  ///< the first rank of the group stands for them
};

/// evidence  outlives nothing: all is copied
RecordedDumps recorded_dumps(const hang::Examination& evidence);

}  // namespace ringside::study
