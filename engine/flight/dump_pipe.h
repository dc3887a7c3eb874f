#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"

namespace ringside {

/// A named pipe beside a rank: whoever writes to it wants something done.
///
/// Threads    the wish is carried out on the object's own
/// Ownership  the pipe's name goes with the object
class DumpPipe {
 public:
  using OnWish = std::function<void()>;

  /// What stands at `path` gives way to the pipe.
  /// errors  System
  static Result<std::unique_ptr<DumpPipe>> make(const std::string& path, OnWish on_wish);
  ~DumpPipe();
  DumpPipe(const DumpPipe&) = delete;
  DumpPipe& operator=(const DumpPipe&) = delete;

 private:
  class Impl;
  explicit DumpPipe(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
