#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diag/audit/facts.h"
#include "diag/audit/finding.h"
#include "diag/logparse/parse_logs.h"
#include "ringside/units.h"

namespace ringside::audit {

class Shard;

/// Options of audit_logs().
struct AuditOptions {
  int threads = 0;                           ///< worker threads; 0: one for each CPU
  std::function<void(Bytes)> progress = {};  ///< called with the bytes read so far, from any worker
  std::stop_token stop = {};                 ///< ends the audit early
};

/// The logs of one job with the facts in them and the findings on them.
struct Audit {
  logs::LogFiles files;
  logs::ParseReport parsed;
  JobFacts facts;
  std::vector<Finding> findings;  ///< first causes, worst first, each before its consequences

  [[nodiscard]] logs::FileLine where(logs::Place place) const { return parsed.where(place); }
  /// Returns file and line as text: `logs/rank3.log:1841`.
  [[nodiscard]] std::string place_text(logs::Place place) const;
  /// Returns whether there is a finding with this id or family (finding_types.h), of this severity or worse.
  [[nodiscard]] bool has(std::string_view id, Severity at_least = Severity::Info) const;
  [[nodiscard]] Severity worst() const;  ///< severity of the worst finding; Info if there is none
};

/// Joins the shards of audit.files and judges them. Fills audit.facts and audit.findings, and adds JSON reports that could
/// not be read to audit.parsed.problems.  shape  audit.files and audit.parsed are those of the shards' input
void join_and_judge(std::vector<std::unique_ptr<Shard>> shards, Audit& audit);

/// Checks that some file has text, because "no findings" about empty logs would mislead.
/// errors  Corrupt: all files are empty, blank, binary or unreadable; the error names the first reason
Status check_anything_read(const Audit& audit);

/// Reads the files that the arguments name (find_logs()) and judges them.
/// errors  NotFound: no file can be read.  InvalidArgument: the arguments name logs of several jobs.  Also the errors of
///         parse_logs() and check_anything_read(). If only some files cannot be read, they are listed in Audit::files or
///         Audit::parsed, and the rest is judged.
Result<Audit> audit_logs(const std::vector<std::string>& arguments, const AuditOptions& options);

/// Audits a text in memory as one file called `name`.
Audit audit_text(std::string_view text, const std::string& name = "log");

/// Returns the findings of all rules on a job's facts, in the order of Audit::findings.
std::vector<Finding> judge(const JobFacts& facts);

}  // namespace ringside::audit
