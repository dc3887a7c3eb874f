#pragma once

#include <memory>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "trace/recorder.h"
#include "trace/sink.h"

namespace ringside {

/// An .rtrace file. Several processes of a host share one: one creates it, the others join; each block
/// goes out in a single write() to an O_APPEND descriptor. A network file system that does not keep such
/// writes whole needs a file a host. After a kill -9 the file holds everything that was written.
class TraceFileSink : public TraceSink {
 public:
  /// Creates the file, or empties it.
  /// errors  System: the path cannot be written
  static Result<std::shared_ptr<TraceFileSink>> create(const std::string& path);

  /// Joins a file that another process has created.
  /// errors  NotFound: no such file.  Corrupt: not an .rtrace file.  System: it cannot be written.
  static Result<std::shared_ptr<TraceFileSink>> join(const std::string& path);

  /// One write(). A short write means a full disk.
  Status write(std::span<const std::byte> block) override;

 private:
  TraceFileSink(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

  const std::string path_;
  const UniqueFd file_;
};

/// A recorder on a file of its own, and on one that another process has created.
/// errors  as create() and join()
Result<std::unique_ptr<TraceRecorder>> record_to_file(const std::string& path, TraceInfo info);
Result<std::unique_ptr<TraceRecorder>> join_file(const std::string& path, TraceInfo info);

}  // namespace ringside
