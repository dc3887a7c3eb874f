#pragma once

#include <map>
#include <optional>
#include <vector>

#include "harness/hangs/outline.h"
#include "study/interchange/recorded.h"

namespace ringside::study {

/// Merges the recorded calls of each rank to one program. A call that all members recorded becomes
/// one step of all of them; a call that only one rank recorded becomes a step of that rank. Call
/// align_transfers(), emit_common(), then emit_own().
///
/// A family is a set of groups with the same description and without common ranks. A set is a
/// sequence of transfers that a rank began together.
///
/// Ownership  the job and the outline outlive it
class SequenceMerger {
 public:
  /// outline  has the job's ranks and the family of all ranks; receives families and steps
  SequenceMerger(RecordedJob& job, hangs::Outline& outline);

  /// Returns the family of a recorded group.
  [[nodiscard]] int family_of(int group) const {
    return family_of_[static_cast<std::size_t>(group)];
  }

  /// Numbers transfers by peer, which no recorder does. Recordings begin at different calls. If
  /// both ends number their transfers equally, these numbers are used. Otherwise both ends have
  /// completed the same transfers, and the numbers count back from the last one. Transfers that
  /// only one end recorded are omitted.
  void align_transfers();

  /// Removes the calls that all members made, and emits the last `keep` rounds of them. A round has
  /// at most one call per rank.
  /// returns  number of omitted rounds
  std::size_t emit_common(std::size_t keep);

  /// Emits the remaining calls of each rank as steps of that rank.
  void emit_own();

  /// Emits one step of the given ranks.
  void emit(const hangs::OutlineStep& step, const std::vector<int>& ranks);

  /// Returns the ranks that take part in a call.
  [[nodiscard]] std::vector<int> parties(const RecordedCall& call) const;
  /// Returns the number of calls of a rank in the outline so far.
  [[nodiscard]] std::int64_t made(int rank) const { return made_[static_cast<std::size_t>(rank)]; }

 private:
  using Steps = std::vector<hangs::OutlineStep>;
  struct Common {
    std::vector<RecordedCall> calls;  ///< one call, or all ends of transfers that began together
    /// Ranks that take part; ascending, except for a single transfer.
    std::vector<int> ranks = {};
    /// By rank: work before the call; only ranks with a recording.
    std::map<int, Steps> before = {};
    std::map<int, bool> is_async = {};  ///< by rank: the ends of a transfer may differ

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
  /// Looks for an equal call among the next calls of the rank: its first call, or the set that the
  /// first call belongs to.
  /// returns  index of the equal call
  [[nodiscard]] static std::optional<std::size_t> next_like(const RecordedRank& own,
                                                            const RecordedCall& call);
  [[nodiscard]] bool is_common(const RecordedCall& call);
  /// Returns the ranks whose next sets are joined by transfers to the next set of this rank, itself
  /// included. Empty if a transfer has no other half yet, or if one of the ranks is waiting.
  [[nodiscard]] std::vector<int> joined_sets(int number);
  [[nodiscard]] std::optional<Common> take_sets(int number, const std::vector<bool>& is_busy);
  [[nodiscard]] std::optional<Common> take_call(int number, const std::vector<bool>& is_busy);
  void number_by_sequence();
  void emit_round(std::vector<Common> round);
  /// Emits a call that all groups of a family make as one step.
  void emit_for_all(const Common& common, const std::vector<int>& ranks);
  /// Emits a call with separate steps for each rank.
  void emit_apart(const Common& common);
  /// Emits each rank's work before the call. Ranks without a recording get the work of the first
  /// rank.
  void emit_before(const std::map<int, Steps>& before, const std::vector<int>& ranks);
  void emit_alone(const Steps& steps, int rank);
  /// Emits a set as one call, or as several if it sends twice to one rank.
  void emit_set(const Steps& steps, int rank);

  RecordedJob& job_;
  hangs::Outline& outline_;
  std::vector<int> family_of_;      ///< by group
  std::vector<std::int64_t> made_;  ///< by rank
  int bundles_ = 0;
};

}  // namespace ringside::study
