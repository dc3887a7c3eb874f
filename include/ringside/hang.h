#pragma once

#include <ringside/export.h>
#include <ringside/result.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace RINGSIDE_API ringside {

/// The cause of a hang.
struct HangVerdict {
  /// Name of docs/findings/hang_<kind>.md: "missing_rank", "op_mismatch", "not_a_hang", ...
  std::string kind;
  /// Global ranks, ascending; empty: no rank is at fault, or none can be identified
  std::vector<int> culprits;
  std::vector<int> waiting;  ///< ranks that wait for the culprits
  std::string call;          ///< `all_reduce 812 of default_pg`; empty: unknown
  double confidence = 0;     ///< 0 .. 1
  std::string why;           ///< the conclusion in a sentence, then the evidence
  std::string next_step;     ///< the first thing to do; empty: nothing would help
};

/// The evidence of a hung job, and the verdict.
///
/// Threads    any
/// Ownership  a value: copies share the evidence
class HangReport {
 public:
  [[nodiscard]] const HangVerdict& verdict() const;
  [[nodiscard]] const std::vector<HangVerdict>& others() const;  ///< other hypotheses, best first
  [[nodiscard]] std::string text() const;                        ///< what `ringside hang` prints
  [[nodiscard]] std::string json() const;                        ///< schema ringside.hang/1
  [[nodiscard]] std::string html() const;  ///< one page that needs no other file

 private:
  struct Impl;
  explicit HangReport(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  friend Result<HangReport> examine_hang(const std::vector<std::string>& paths);
  std::shared_ptr<const Impl> impl_;
};

/// Reads the evidence of a hung job and decides which rank caused the hang.
///
/// paths   files and folders: Flight Recorder dumps, logs, stacks, ncclras reports, .rtrace files
/// errors  NotFound: no dump and no log.  Corrupt: there are dumps, and none of them can be read
Result<HangReport> examine_hang(const std::vector<std::string>& paths);

}  // namespace ringside
