#pragma once

#include <map>
#include <optional>
#include <vector>

#include "harness/hangs/outline.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

/// Makes one program of what each rank was recorded to call: what all members made is one step, what one of them made by
/// itself is a step of that rank alone.
///
/// Ownership  the job and the outline outlive it
class SequenceMerger {
 public:
  /// outline  of the job's ranks, with the family of all of them; gets families and steps
  SequenceMerger(RecordedJob& job, hangs::Outline& outline);

  /// The family that a group is in: groups of one description that share no rank are one family.
  [[nodiscard]] int family_of(int group) const {
    return family_of_[static_cast<std::size_t>(group)];
  }

  /// Counts transfers by their peers, which no recorder does. Each rank's history begins elsewhere: where both ends number
  /// their transfers alike, those are the numbers; else what both ends have done is the same, so they are counted back from
  /// there. Those that the other end no longer has are left out.
  void align_transfers();

  /// Takes off the ranks what all made, in rounds of one call a rank at most, and emits the last `keep` rounds.
  /// returns  rounds that were left out
  std::size_t emit_common(std::size_t keep);

  /// What each rank made from here on, by itself.
  void emit_own();

  /// One step of those ranks.
  void emit(const hangs::OutlineStep& step, const std::vector<int>& ranks);

  /// Who takes part in a call.
  [[nodiscard]] std::vector<int> parties(const RecordedCall& call) const;
  /// Calls that a rank makes in the outline so far.
  [[nodiscard]] std::int64_t made(int rank) const { return made_[static_cast<std::size_t>(rank)]; }

 private:
  using Steps = std::vector<hangs::OutlineStep>;
  struct Common {
    std::vector<RecordedCall> calls;    ///< one, or transfers that began together, by their ends
    std::vector<int> ranks = {};        ///< that take part, ascending but of a lone transfer
    std::map<int, Steps> before = {};   ///< by rank of those that were heard
    std::map<int, bool> is_async = {};  ///< likewise: of a transfer the ends may differ

    [[nodiscard]] const RecordedCall& first() const { return calls.front(); }
    [[nodiscard]] bool is_async_of(int rank) const {
      const auto own = is_async.find(rank);
      return own == is_async.end() ? first().step.async : own->second;
    }
    [[nodiscard]] bool is_like(const Common& other) const;
  };
  [[nodiscard]] RecordedRank& rank(int number) {
    return job_.ranks[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] int world() const { return static_cast<int>(job_.ranks.size()); }
  int add_family(const RecordedGroup& group);
  /// Of those that the rank may make next, its first one or the set of that, the place of the one that is the call.
  [[nodiscard]] static std::optional<std::size_t> next_like(const RecordedRank& own,
                                                            const RecordedCall& call);
  [[nodiscard]] bool is_common(const RecordedCall& call);
  /// Those whose sets are joined by transfers to the set that the rank may make next, itself among them; none: one of
  /// these has no other half yet, or waits.
  [[nodiscard]] std::vector<int> joined_sets(int number);
  [[nodiscard]] std::optional<Common> take_sets(int number, const std::vector<bool>& is_busy);
  [[nodiscard]] std::optional<Common> take_call(int number, const std::vector<bool>& is_busy);
  void number_by_sequence();
  void emit_round(std::vector<Common> round);
  /// What all groups of a family do alike.
  void emit_for_all(const Common& common, const std::vector<int>& ranks);
  /// By each rank's own steps.
  void emit_apart(const Common& common);
  /// What each was busy with before; of ranks that nobody heard the first one's.
  void emit_before(const std::map<int, Steps>& before, const std::vector<int>& ranks);
  void emit_alone(const Steps& steps, int rank);
  /// What begins together, and is one call; several that follow each other where it sends twice to one rank.
  void emit_set(const Steps& steps, int rank);

  RecordedJob& job_;
  hangs::Outline& outline_;
  std::vector<int> family_of_;      ///< by group
  std::vector<std::int64_t> made_;  ///< by rank
  int bundles_ = 0;
};

}  // namespace ringside::study
