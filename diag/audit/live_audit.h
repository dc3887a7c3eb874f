#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/audit/audit.h"
#include "ringside/units.h"

namespace ringside::audit {

/// An audit of growing logs: poll() reads new lines, judge() judges everything read so far.
///
/// Threads  one thread
class LiveAudit {
 public:
  /// errors  as LogFollower::make()
  static Result<std::unique_ptr<LiveAudit>> make(const std::vector<std::string>& arguments);
  ~LiveAudit();
  LiveAudit(const LiveAudit&) = delete;
  LiveAudit& operator=(const LiveAudit&) = delete;

  /// returns  bytes read; 0: nothing new
  Bytes poll();
  /// Reads lines without an end, too.
  void finish();
  /// No more lines can arrive.
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] const logs::LogFiles& files() const;

  /// The findings of all rules on everything read so far.
  [[nodiscard]] Audit judge() const;

 private:
  struct Impl;
  explicit LiveAudit(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::audit
