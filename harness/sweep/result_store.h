#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringside {

/// A point as stored.
struct StoredPoint {
  std::string key;    ///< equal only for equal work
  std::string label;  ///< for people
};

/// The points of a sweep and their results, in a folder that several processes on several hosts may
/// open at once.
///
/// A point is open, taken by one worker, or done. take() and finish() are one transaction each, on
/// disk when they return. Points of a worker that ended become open for the next worker that asks
/// (README.md).
///
/// Threads    one
/// Ownership  of the process that opened it: a forked child must not use it
class ResultStore {
 public:
  static constexpr const char* kFile = "results.sqlite";  ///< file in the folder

  /// Opens or creates results.sqlite in the folder, and registers this process as a worker.
  /// errors  System: the folder or the file cannot be created, or file locks are unsupported.
  ///         Corrupt: not a result store
  static Result<ResultStore> open(const std::string& folder);
  ~ResultStore();
  ResultStore(ResultStore&&) noexcept;

  /// Sets the sweep's points in this order. Keeps known results of these points; results of other
  /// points stay unused.
  /// errors  System: the file cannot be written.  Corrupt: not a result store. This holds for all functions below
  Status set_points(const std::vector<StoredPoint>& points);

  /// Takes the first open point for this worker; when none is left, the first one of a worker that ended.
  /// returns  its key; none: all points are done or taken by other workers
  Result<std::optional<std::string>> take();

  /// Stores the result of a point.  shape  taken by this worker
  Status finish(const std::string& key, const std::string& result, double wall_s);

  /// Makes a taken point open again.
  Status give_back(const std::string& key);

  struct Count {
    std::int64_t all = 0, done = 0, taken = 0;
    double wall_s = 0;  ///< total over the points done
  };
  [[nodiscard]] Result<Count> count();

  struct Done {
    std::string key;
    std::string result;
    double wall_s = 0;
  };
  /// Returns the points done, in the order of the sweep.
  [[nodiscard]] Result<std::vector<Done>> done();

 private:
  struct Impl;
  explicit ResultStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
