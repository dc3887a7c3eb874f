#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "study/explain/upgrade.h"

namespace ringside::study {

/// Tests whether a release decides as another did once variables are set, by computing its decision.
///
/// Threads    one at a time
/// Ownership  keeps each job that it has loaded
class UndoSearch {
 public:
  /// options  of the job, without the settings to be tried
  UndoSearch(JobOptions options, std::string release)
      : options_(std::move(options)), release_(std::move(release)) {}

  /// The settings that restore the old choices, at each of these sizes: the shortest list that restores the channels,
  /// too, else the shortest that restores algorithm and protocol.
  /// shape  as many choices as sizes; at least one
  [[nodiscard]] Undo of_choices(const Calls& calls, std::span<const Bytes> sizes,
                                std::span<const TunedChoice> old);

  using Holds = std::function<bool(const TunedJob&)>;
  /// The first of `settings` for which the condition holds.
  [[nodiscard]] Undo of_laid(std::span<const std::string> settings, const Holds& holds);

 private:
  /// nullptr: the release rejects it
  const TunedJob* job_with(const std::vector<std::string>& set);

  JobOptions options_;
  std::string release_;
  std::map<std::vector<std::string>, std::optional<TunedJob>> known_;
};

}  // namespace ringside::study
