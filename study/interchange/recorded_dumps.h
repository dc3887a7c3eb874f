#pragma once

#include "diag/hangdetect/examine.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

/// The recorded calls in flight recorder dumps, and in NCCL's COLL lines if there are no dumps. Groups are the job's,
/// with its numbers.
struct RecordedDumps {
  RecordedJob job;
  bool has_unknown_peers = false;  ///< transfers without recorded ends were omitted
  bool has_unknown_roots = false;  ///< the first rank of the group is used instead
};

/// evidence  may be destroyed afterwards: all is copied
RecordedDumps recorded_dumps(const hang::Examination& evidence);

}  // namespace ringside::study
