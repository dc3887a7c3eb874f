#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"

namespace ringside {

/// Where a trace goes, block by block (docs/reference/rtrace-format.md): a file, memory, a socket. The recorder
/// does not know which.
///
/// Ordering   each block is taken whole, behind those before it: what is there can be read at any time
/// Threads    any
class TraceSink {
 public:
  virtual ~TraceSink() = default;

  /// errors  System: the sink takes no more; part of the block may have been written, and a reader skips it
  virtual Status write(std::span<const std::byte> block) = 0;
};

/// Keeps the trace in memory: for callers that look at it at once, and have no use for a file.
class TraceMemorySink : public TraceSink {
 public:
  TraceMemorySink();  ///< with the header: a trace without events is valid

  Status write(std::span<const std::byte> block) override;

  /// What TraceFile::parse() reads: all that was written so far.
  [[nodiscard]] std::vector<std::byte> bytes() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::byte> bytes_;  ///< under mutex_
};

}  // namespace ringside
