#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "study/explain/upgrade.h"

namespace ringside::study {

/// Searches for variables that make one release decide as another did. It computes the decision for
/// each try.
///
/// Threads    one at a time
/// Ownership  keeps each job that it has loaded
class UndoSearch {
 public:
  /// options  job without the settings to try
  /// release  release whose decision is to be changed
  UndoSearch(JobOptions options, std::string release)
      : options_(std::move(options)), release_(std::move(release)) {}

  /// Searches for settings that restore the old choices at each of the sizes. Returns the shortest
  /// list that also restores the channels; otherwise the shortest that restores algorithm and
  /// protocol.
  /// shape  one old choice per size; at least one
  [[nodiscard]] Undo for_choices(const Calls& calls, std::span<const Bytes> sizes,
                                 std::span<const TunedChoice> old);

  using Holds = std::function<bool(const TunedJob&)>;
  /// Returns the first of `settings` with which the condition holds.
  [[nodiscard]] Undo for_layout(std::span<const std::string> settings, const Holds& holds);

 private:
  /// Returns the job with these settings, or null if the release rejects them.
  const TunedJob* job_with(const std::vector<std::string>& set);

  JobOptions options_;
  std::string release_;
  std::map<std::vector<std::string>, std::optional<TunedJob>> known_;
};

}  // namespace ringside::study
