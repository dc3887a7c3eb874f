#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "diag/hangdetect/model/job.h"

namespace ringside::hang {

/// Predicts the next call of a rank from its previous calls, because a training loop repeats its calls.
///
/// The class learns from the newest calls of the ranks. It identifies a call by its role: a hash of the group's
/// description, the operation and the size. Ranks of parallel groups thus share what is learnt.
class Habits {
 public:
  /// Learns from the newest 400 calls of 64 to 127 ranks that are evenly spread over the job, or of all ranks of a smaller
  /// job.
  explicit Habits(const Job& job);

  /// Returns how usual call `index` of the rank is, 0 .. 1: of the other places with the same preceding calls, the
  /// share that continues with this role. Uses the longest known sequence of preceding calls.
  /// returns  nothing if the preceding calls occur at fewer than two other places
  [[nodiscard]] std::optional<double> usual(int rank, std::size_t index) const;

  /// Returns the role that most often follows the calls up to and including `index`, or nothing if it is unknown.
  [[nodiscard]] std::optional<std::uint64_t> due_after(int rank, std::size_t index) const;

  /// Returns the role of call `index` of the rank.
  [[nodiscard]] std::uint64_t role(int rank, std::size_t index) const;

 private:
  struct Next {
    std::uint32_t seen = 0;
    std::unordered_map<std::uint64_t, std::uint32_t> counts;
  };
  [[nodiscard]] std::vector<std::uint64_t> roles_before(int rank, std::size_t index) const;

  const Job& job_;
  std::vector<std::uint64_t> group_roles_;
  std::vector<std::unordered_map<std::uint64_t, Next>> by_length_;
  std::vector<int> teachers_;
};

}  // namespace ringside::hang
