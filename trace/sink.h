#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringside {

/// The destination of a trace, block by block (docs/reference/rtrace-format.md): a file, memory, a
/// socket.
///
/// Ordering   blocks are stored completely and in order, so the trace can be read at any time
/// Threads    any
class TraceSink {
 public:
  virtual ~TraceSink() = default;

  /// errors  System: the sink failed; part of the block may have been written, and readers skip it
  virtual Status write(std::span<const std::byte> block) = 0;
};

/// Keeps the trace in memory, for callers that read it at once.
class TraceMemorySink : public TraceSink {
 public:
  TraceMemorySink();  ///< stores the file header, so a trace without events is valid

  Status write(std::span<const std::byte> block) override;

  /// Returns all bytes written so far, for TraceFile::parse().
  [[nodiscard]] std::vector<std::byte> bytes() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::byte> bytes_;  ///< under mutex_
};

/// Writes flight recorder dumps, by rank of the job: what each rank had called when the run ended.
/// errors  those of the sink
Status write_dumps(TraceSink& sink, const std::map<std::int32_t, std::string>& dumps);

}  // namespace ringside
