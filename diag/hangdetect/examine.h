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

/// The inputs of a job and the verdict on them.
///
/// Ownership  members point into each other: the object can be moved, not copied
struct Examination {
  std::vector<InputFile> files;
  std::unique_ptr<Names> names;
  std::vector<RankDump> dumps;  ///< sorted by rank, including dumps made from log lines
  std::vector<RankDump> later;  ///< second dumps of ranks in `dumps`
  std::vector<BadFile> bad;     ///< files that could not be read
  LogFacts facts;
  std::vector<ConnectionProgress> connections;  ///< connections of calls that did not end
  bool has_both_ends = false;  ///< `connections` come from dumps of both ends; false: from traces
  std::unique_ptr<Job> job;
  WaitState wait_state;
  Verdict verdict;
};

/// Reads the files and folders that the arguments name and decides why the job hangs.
///
/// errors  as find_inputs(); InvalidArgument: files or folders cannot be read, and no other file is of use.  Corrupt: no
///         dump or trace can be read, though there are some
Result<Examination> examine(const std::vector<std::string>& arguments);

/// Checks that the arguments named a dump, a log, a stack or a report to judge.
/// errors  NotFound: the arguments name no dump and no log
Status check_anything_read(const Examination& all, const std::vector<std::string>& arguments);

/// Examines lines that the caller has already read, in the order of their logs; audit uses it. `where` maps a
/// record's place to the file and line that the evidence names.
Examination examine_records(std::span<const AttributedRecord> records, const WhereFunction& where,
                            const KnownJob& known);

}  // namespace ringside::hang
