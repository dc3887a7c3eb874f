#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/audit/audit.h"
#include "ringside/units.h"

namespace ringside::audit {

/// Audits growing logs: poll() reads new lines, judge() judges all lines read so far.
///
/// Threads  one thread
class LiveAudit {
 public:
  /// arguments  files and folders, as for find_logs()
  /// errors     those of LogFollower::make()
  static Result<std::unique_ptr<LiveAudit>> make(const std::vector<std::string>& arguments);
  ~LiveAudit();
  LiveAudit(const LiveAudit&) = delete;
  LiveAudit& operator=(const LiveAudit&) = delete;

  /// Reads new whole lines.  returns  bytes read; 0: there are no new lines
  Bytes poll();
  /// Reads the last lines even if they lack a newline. Call it once, at the end.
  void finish();
  /// Returns whether no more lines can arrive, because all inputs have ended.
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] const logs::LogFiles& files() const;

  /// Returns the audit of all lines read so far.
  [[nodiscard]] Audit judge() const;

 private:
  struct Impl;
  explicit LiveAudit(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::audit
