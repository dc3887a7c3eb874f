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

struct AuditOptions {
  int threads = 0;                           ///< 0: as many as the machine has
  std::function<void(Bytes)> progress = {};  ///< bytes done, from any worker
  std::stop_token stop = {};
};

/// The logs of one job, read and judged.
struct Audit {
  logs::LogFiles files;
  logs::ParseReport parsed;
  JobFacts facts;
  std::vector<Finding> findings;  ///< first causes, worst first, each before its consequences

  [[nodiscard]] logs::FileLine where(logs::Place place) const { return parsed.where(place); }
  /// `logs/rank3.log:1841`
  [[nodiscard]] std::string place_text(logs::Place place) const;
  /// Whether there is a finding of that id, or of its family (finding_types.h).
  [[nodiscard]] bool has(std::string_view id, Severity at_least = Severity::Info) const;
  [[nodiscard]] Severity worst() const;  ///< Info where there is no finding
};

/// Joins the shards of audit.files and judges them: fills the facts and the findings, and adds unreadable inputs to
/// audit.parsed.
void join_and_judge(std::vector<std::unique_ptr<Shard>> shards, Audit& audit);

/// Checks that there is anything to judge: about logs without text, "nothing is wrong" would mislead.
/// errors  Corrupt: all files are empty, blank, binary or unreadable; the first reason is named
Status check_anything_read(const Audit& audit);

/// Reads the files that the arguments name (find_logs()) and judges them.
/// errors  NotFound: nothing can be read. As parse_logs() and check_anything_read(). A file that cannot be read is a
///         problem of the files or of the parse report, and the rest is judged.
Result<Audit> audit_logs(const std::vector<std::string>& arguments, const AuditOptions& options);

/// Audits a text in memory, as one file of that name.
Audit audit_text(std::string_view text, const std::string& name = "log");

/// The findings of all rules on a job's facts, in order.
std::vector<Finding> judge(const JobFacts& facts);

}  // namespace ringside::audit
