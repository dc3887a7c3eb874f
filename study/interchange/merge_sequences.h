#pragma once

#include <map>
#include <optional>
#include <vector>

#include "harness/hangs/outline.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

/// Makes one program from the recorded calls of each rank: a call of all members is one step, a call of one of them
/// alone is a step of that rank.
///
/// Ownership  the job and the outline outlive it
class SequenceMerger {
 public:
  /// outline  of the job's ranks, with the family of all of them; gets families and steps
  SequenceMerger(RecordedJob& job, hangs::Outline& outline);

  /// The family of a group: groups of one description without common ranks are one family.
  [[nodiscard]] int family_of(int group) const {
    return family_of_[static_cast<std::size_t>(group)];
  }

  /// Counts transfers by their peers, which no recorder does. Each rank's history begins elsewhere: if both ends
  /// number their transfers alike, these numbers are used. Otherwise both ends have completed the same transfers, so
  /// they are counted back from there. Transfers that the other end no longer has are omitted.
  void align_transfers();

  /// Removes from the ranks the calls that all made, in rounds of at most one call for each rank, and emits the last
  /// `keep` rounds.  returns  rounds that were omitted
  std::size_t emit_common(std::size_t keep);

  /// Emits the rest of each rank's calls, separately.
  void emit_own();

  /// One step of those ranks.
  void emit(const hangs::OutlineStep& step, const std::vector<int>& ranks);

  /// The ranks that take part in a call.
  [[nodiscard]] std::vector<int> parties(const RecordedCall& call) const;
  /// Calls that a rank makes in the outline so far.
  [[nodiscard]] std::int64_t made(int rank) const { return made_[static_cast<std::size_t>(rank)]; }

 private:
  using Steps = std::vector<hangs::OutlineStep>;
  struct Common {
    std::vector<RecordedCall> calls;    ///< one, or transfers that began together, by their ends
    std::vector<int> ranks = {};        ///< that take part, ascending but of a lone transfer
    std::map<int, Steps> before = {};   ///< by rank, of ranks with a recording
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
  /// Of the next calls of the rank, its first one or the set that it belongs to, the place of the one that equals the
  /// call.
  [[nodiscard]] static std::optional<std::size_t> next_like(const RecordedRank& own,
                                                            const RecordedCall& call);
  [[nodiscard]] bool is_common(const RecordedCall& call);
  /// The ranks whose sets are joined by transfers to the next set of the rank, including itself; none: one of these
  /// has no other half yet, or waits.
  [[nodiscard]] std::vector<int> joined_sets(int number);
  [[nodiscard]] std::optional<Common> take_sets(int number, const std::vector<bool>& is_busy);
  [[nodiscard]] std::optional<Common> take_call(int number, const std::vector<bool>& is_busy);
  void number_by_sequence();
  void emit_round(std::vector<Common> round);
  /// Emits calls that all groups of a family make alike.
  void emit_for_all(const Common& common, const std::vector<int>& ranks);
  /// Emits by each rank's own steps.
  void emit_apart(const Common& common);
  /// Emits each rank's work before the call; for ranks without a recording that of the first rank.
  void emit_before(const std::map<int, Steps>& before, const std::vector<int>& ranks);
  void emit_alone(const Steps& steps, int rank);
  /// Emits calls that begin together as one call; as several if it sends twice to one rank.
  void emit_set(const Steps& steps, int rank);

  RecordedJob& job_;
  hangs::Outline& outline_;
  std::vector<int> family_of_;      ///< by group
  std::vector<std::int64_t> made_;  ///< by rank
  int bundles_ = 0;
};

}  // namespace ringside::study
