#pragma once

#include <ringside/export.h>
#include <ringside/result.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace RINGSIDE_API ringside {

/// How much a finding matters.
enum class FindingSeverity : std::uint8_t {
  Info,     ///< true, and worth knowing
  Warning,  ///< the job runs, but slower or nearer to failure than it should
  Error,    ///< why a job failed, or a loss of several times
};

/// A line of a log that supports a finding.
struct FindingEvidence {
  std::string file;
  std::int64_t line = 0;  ///< 1 is the first one
  std::string text;
};

/// One fault of a job, or one alarming line that is harmless.
struct AuditFinding {
  std::string id;  ///< name of a page in docs/findings
  FindingSeverity severity = FindingSeverity::Info;
  std::string title;
  std::string cause;
  std::string fix;   ///< a command or a variable first
  std::string cost;  ///< empty: not known
  std::vector<FindingEvidence> evidence;
  std::vector<int> ranks;
  std::vector<std::string> hosts;
};

/// The debug logs of one job, read and judged.
///
/// Threads    any
/// Ownership  a value: copies share what was read
class AuditReport {
 public:
  /// The findings, root causes first, the worst first; each precedes the findings that follow from it.
  [[nodiscard]] const std::vector<AuditFinding>& findings() const;
  [[nodiscard]] std::string text() const;  ///< what `ringside audit` prints
  [[nodiscard]] std::string json() const;  ///< schema ringside.audit/1
  [[nodiscard]] std::string html() const;  ///< one page that needs no other file

 private:
  struct Impl;
  explicit AuditReport(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  friend Result<AuditReport> audit_logs(const std::vector<std::string>& paths);
  std::shared_ptr<const Impl> impl_;
};

/// Reads logs of one job: NCCL's, PyTorch's, launchers', plain or compressed.
///
/// paths    files, folders or globs
/// errors   NotFound: nothing can be read.  Corrupt: no file holds text
Result<AuditReport> audit_logs(const std::vector<std::string>& paths);

}  // namespace ringside
