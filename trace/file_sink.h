#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "trace/recorder.h"
#include "trace/sink.h"

namespace ringside {

/// A sink that writes an .rtrace file. Several processes of a host share one file: one creates it,
/// the others join. Each block is a single write() to an O_APPEND descriptor. Use one file per host
/// on network file systems that do not keep such writes whole. After kill -9 the file holds
/// everything that was written.
class TraceFileSink : public TraceSink {
 public:
  /// Creates or truncates the file.
  /// errors  System: the path cannot be written
  static Result<std::shared_ptr<TraceFileSink>> create(const std::string& path);

  /// Writes to a new file that the caller has opened with O_APPEND; empty: the error of open() is in errno.
  /// path    names the file in errors
  /// errors  System: the file cannot be written
  static Result<std::shared_ptr<TraceFileSink>> create(const std::string& path, UniqueFd file);

  /// Joins a file that another process has created.
  /// errors  NotFound: no such file.  Corrupt: not an .rtrace file.  System: it cannot be written.
  static Result<std::shared_ptr<TraceFileSink>> join(const std::string& path);

  /// Writes the block in one write(). A short write means that the disk is full.
  Status write(std::span<const std::byte> block) override;

 private:
  TraceFileSink(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

  const std::string path_;
  const UniqueFd file_;
};

/// Appends flight recorder dumps to a finished trace, by rank of the job, so that the file alone shows what each rank
/// had called.
/// errors  as TraceFileSink::join() and write()
Status append_dumps(const std::string& path, const std::map<std::int32_t, std::string>& dumps);

/// Return a recorder that writes a new file, or that joins the file of another process.
/// errors  as create() and join()
Result<std::unique_ptr<TraceRecorder>> record_to_file(const std::string& path, TraceInfo info);
Result<std::unique_ptr<TraceRecorder>> join_file(const std::string& path, TraceInfo info);

}  // namespace ringside
