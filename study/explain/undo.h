#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "study/explain/upgrade.h"

namespace ringside::study {

/// Whether a release decides as another did once variables are set: by deciding.
///
/// Threads    one at a time
/// Ownership  remembers each job that it has asked for
class UndoSearch {
 public:
  /// options  of the job, without what is to be tried
  UndoSearch(JobOptions options, std::string release)
      : options_(std::move(options)), release_(std::move(release)) {}

  /// What brings the old choices back, at each of these sizes: the shortest list of settings that brings back channels,
  /// too, else the shortest that brings back algorithm and protocol.
  /// shape  as many choices as sizes; at least one
  [[nodiscard]] Undo of_choices(const Calls& calls, std::span<const Bytes> sizes,
                                std::span<const TunedChoice> old);

  using Holds = std::function<bool(const TunedJob&)>;
  /// The first of `settings` under which that holds.
  [[nodiscard]] Undo of_laid(std::span<const std::string> settings, const Holds& holds);

 private:
  /// nullptr: the release refuses that
  const TunedJob* job_with(const std::vector<std::string>& set);

  JobOptions options_;
  std::string release_;
  std::map<std::vector<std::string>, std::optional<TunedJob>> known_;
};

}  // namespace ringside::study
