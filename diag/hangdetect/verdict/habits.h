#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "diag/hangdetect/model/job.h"

namespace ringside::hang {

/// Predicts the next call of a rank of this job: training repeats itself, so the calls before one show which one is
/// due. Learnt from the newest calls of all ranks, by role (description of the group, op, size), so that ranks of
/// sister groups teach about each other.
class Habits {
 public:
  /// Learns from at most a few hundred calls of at most `kTeachers` ranks.
  explicit Habits(const Job& job);

  /// How usual call `index` of the rank is after the calls before it: the share of times that the longest known run
  /// of calls before it was followed by such a call. The call itself is not counted.
  /// returns  nothing where the calls before it never occur elsewhere
  [[nodiscard]] std::optional<double> usual(int rank, std::size_t index) const;

  /// The role that most often comes after the calls up to and including `index`; nothing where unknown.
  [[nodiscard]] std::optional<std::uint64_t> due_after(int rank, std::size_t index) const;

  /// The role of a call of the rank.
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
