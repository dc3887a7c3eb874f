#pragma once

#include <ringside/export.h>
#include <ringside/result.h>
#include <ringside/trace_event.h>
#include <ringside/trace_info.h>

#include <memory>
#include <string>

namespace RINGSIDE_API ringside {

/// Writes an .rtrace file. After a crash the file holds all but the last 250 ms.
///
/// Threads  one at a time
class TraceWriter {
 public:
  /// Makes the file anew, or empties it.
  /// info    this_process_info() fills it in
  /// errors  System: the path cannot be written
  static Result<TraceWriter> create(const std::string& path, TraceInfo info);
  TraceWriter(TraceWriter&&) noexcept;
  TraceWriter& operator=(TraceWriter&&) noexcept;
  ~TraceWriter();  ///< flushes

  void write(const TraceEvent& event);

  /// Writes buffered events.
  /// errors  System: the disk is full, and events were lost
  Status flush();

 private:
  struct Impl;
  explicit TraceWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
