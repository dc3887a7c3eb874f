#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"

namespace ringside {

/// A named pipe next to a rank: a write to it triggers an action. The pipe is read ten times a second, so short writes
/// within a tenth of a second trigger one.
///
/// Threads    the action runs on the object's own thread
/// Ownership  the destructor removes the pipe
class DumpPipe {
 public:
  using OnRequest = std::function<void()>;

  /// Makes the pipe at `path`, replacing an existing file.
  /// errors  System
  static Result<std::unique_ptr<DumpPipe>> make(const std::string& path, OnRequest on_request);
  ~DumpPipe();
  DumpPipe(const DumpPipe&) = delete;
  DumpPipe& operator=(const DumpPipe&) = delete;

 private:
  class Impl;
  explicit DumpPipe(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
