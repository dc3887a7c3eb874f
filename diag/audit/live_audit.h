#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "diag/audit/audit.h"
#include "ringside/units.h"

namespace ringside::audit {

/// An audit of logs that grow: what is new is read by poll(), and judged with all that came before.
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
  /// Nothing more can come.
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] const logs::LogFiles& files() const;

  /// What all rules find in what was read so far.
  [[nodiscard]] Audit judge() const;

 private:
  struct Impl;
  explicit LiveAudit(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::audit
