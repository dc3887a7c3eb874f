#pragma once

#include "diag/hangdetect/examine.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

/// The recorded calls in flight recorder dumps; without dumps, those in NCCL's COLL lines. The
/// groups are those of the examined job, with its numbers.
struct RecordedDumps {
  RecordedJob job;
  bool has_unknown_peers = false;  ///< transfers with unknown ends were omitted
  bool has_unknown_roots = false;  ///< unknown roots were replaced by the group's first rank
};

/// Extracts the recorded calls. The result holds copies: `evidence` may be destroyed afterwards.
RecordedDumps recorded_dumps(const hang::Examination& evidence);

}  // namespace ringside::study
