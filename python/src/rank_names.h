#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The ranks of a group as the job counts them.

namespace ringside::pytorch {

/// Names ranks of a group by their ranks in the job, and by those in the group where the two differ.
///
/// The engine's messages write ranks as `rank 2`, `ranks 0,2-3` and `root 2`, as the group counts them.
class RankNames {
 public:
  /// group      the group's name; empty: ranks are only named as the job counts them
  /// job_ranks  the rank in the job of each rank of the group; empty: the group counts as the job does
  RankNames(std::string group, std::vector<int> job_ranks)
      : group_(std::move(group)), job_ranks_(std::move(job_ranks)) {}

  /// Returns the rank in the job; for a rank that the group does not have, its number.
  [[nodiscard]] int in_job(int rank) const;
  /// Returns `rank 2`, or `rank 3 (rank 2 of group 1)`.
  [[nodiscard]] std::string of(int rank) const;
  /// Returns a message of the engine with the ranks that it names as of() names them.
  [[nodiscard]] std::string renamed(std::string_view message) const;

 private:
  /// Returns a list of ranks of the group, such as `0,2-3`, as ranks of the job.
  [[nodiscard]] std::string list_in_job(std::string_view list) const;

  const std::string group_;
  const std::vector<int> job_ranks_;
};

}  // namespace ringside::pytorch
