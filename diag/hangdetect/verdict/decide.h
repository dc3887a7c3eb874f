#pragma once

#include <span>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/trace_files.h"
#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::hang {

/// Whether the number of ranks is known, not only the highest rank in the logs; only then a missing log means
/// something. It is known if there are dumps, which all ranks write, or if a line states the number.
bool is_world_known(const Job& job, const LogFacts& logs);

/// What the connections of dumps or traces show.
struct Connections {
  std::span<const ConnectionProgress> all = {};
  bool has_both_ends = false;  ///< of dumps, not of traces
};

/// The verdict on a job: all hypotheses that its dumps, logs and reports allow, each scored once from its features by
/// the weights of weights.def. The best is the verdict. `logs` add what dumps do not show; a job may have only logs.
Verdict decide(const Job& job, const LogFacts& logs, const Connections& connections = {});

}  // namespace ringside::hang
