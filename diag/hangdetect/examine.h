#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/model/blocks.h"
#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/hangdetect/readers/trace_files.h"
#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::hang {

/// All that was read of a job, and what follows from it.
///
/// Ownership  everything points into it: it moves, and is never copied
struct Examination {
  std::vector<InputFile> files;
  std::unique_ptr<Names> names;
  std::vector<RankDump> dumps;  ///< by rank, including dumps made of log lines
  std::vector<RankDump> later;
  std::vector<BadFile> bad;
  LogFacts facts;
  std::vector<ConnectionProgress> connections;  ///< of calls that did not end
  bool has_both_ends = false;  ///< of those connections: from dumps, not from traces
  std::unique_ptr<Job> job;
  WaitState wait_state;
  Verdict verdict;
};

/// errors  NotFound: an argument names no file.  Corrupt: there are dumps, none of which can be read
/// decides.
///
/// errors  NotFound: an argument names nothing.  Corrupt: there are dumps, none of which can be read
Result<Examination> examine(const std::vector<std::string>& arguments);

/// Whether there is anything to judge.
/// errors  NotFound: the arguments name no dump and no log
Status check_anything_read(const Examination& all, const std::vector<std::string>& arguments);

/// Examines lines that the caller has already read, in the order of their logs; audit uses it. `where` maps a
/// record's place to the file and line that the evidence names.
Examination examine_records(std::span<const AttributedRecord> records, const WhereFunction& where,
                            const KnownJob& known);

}  // namespace ringside::hang
