#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringside {

/// A point as the store knows it.
struct StoredPoint {
  std::string key;    ///< the same for the same work, and for no other
  std::string label;  ///< for people
};

/// The points of a sweep and their results, in a folder that several processes, on several hosts, may open at once.
///
/// A point is open, taken by one worker, or done; it is taken and done in one transaction each, on disk when they return. A
/// worker that ends without having finished its points loses them to the next worker that asks, see README.md.
///
/// Threads    one
/// Ownership  of the process that opened it: after a fork() the child leaves it alone
class ResultStore {
 public:
  static constexpr const char* kFile = "results.sqlite";  ///< that every folder of results has

  /// Opens or makes results.sqlite in the folder, and registers this process as a worker.
  /// errors  System: the folder or the file cannot be made, or has no locks. Corrupt: the file is something else
  static Result<ResultStore> open(const std::string& folder);
  ~ResultStore();
  ResultStore(ResultStore&&) noexcept;

  /// Sets the sweep's points, in this order. Known results of them stay; results of other points are kept, but not used.
  Status set_points(const std::vector<StoredPoint>& points);

  /// Takes the first open point for this worker; points of workers that are gone are open again.
  /// returns  its key; nothing: all are done, or others work at them
  Result<std::optional<std::string>> take();

  /// shape  taken by this worker
  Status finish(const std::string& key, const std::string& result, double wall_s);

  /// Gives a taken point back, to be taken anew.
  Status give_back(const std::string& key);

  struct Count {
    std::int64_t all = 0, done = 0, taken = 0;
    double wall_s = 0;  ///< of those that are done
  };
  [[nodiscard]] Result<Count> count();

  struct Done {
    std::string key;
    std::string result;
    double wall_s = 0;
  };
  /// Of the sweep's points those that are done, in their order.
  [[nodiscard]] Result<std::vector<Done>> done();

 private:
  struct Impl;
  explicit ResultStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside
