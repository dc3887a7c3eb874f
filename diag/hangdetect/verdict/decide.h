#pragma once

#include <span>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/trace_files.h"
#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::hang {

/// Returns whether the number of ranks is known: there are dumps, which all ranks write, or a line states the number.
/// Otherwise only the highest rank in the logs is known, and a missing log is not evidence.
bool is_world_known(const Job& job, const LogFacts& logs);

/// The progress of connections, from dumps or traces.
struct Connections {
  std::span<const ConnectionProgress> all = {};
  bool has_both_ends = false;  ///< from dumps of both ends; false: from traces
};

/// Returns the verdict on a job. Collects all hypotheses that its dumps, logs and reports allow, scores each once by
/// its features and the weights in weights.def, and sorts them by score. `job` may be without dumps.
Verdict decide(const Job& job, const LogFacts& logs, const Connections& connections = {});

}  // namespace ringside::hang
