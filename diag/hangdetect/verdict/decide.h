#pragma once

#include <span>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/trace_files.h"
#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::hang {

/// Whether the number of ranks is more than the highest that was heard of, so that a missing log shows something: there are
/// dumps, which all ranks write, or a line states how many ranks there are.
bool is_world_known(const Job& job, const LogFacts& logs);

/// What the connections of dumps or traces show.
struct Connections {
  std::span<const ConnectionProgress> all = {};
  bool has_both_ends = false;  ///< of dumps, not of traces
};

/// The verdict on a job: all hypotheses that its dumps, logs and reports allow, each scored once from its features by the
/// weights of weights.def. The best is the verdict. `logs` state what dumps do not; a job may consist of them alone.
Verdict decide(const Job& job, const LogFacts& logs, const Connections& connections = {});

}  // namespace ringside::hang
