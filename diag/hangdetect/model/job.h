#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/names.h"

namespace ringside::hang {

/// Ranks that call together.
struct Group {
  std::string name;  ///< shared by its members
  std::string description;
  std::vector<int> members;          ///< global ranks, ascending
  bool is_membership_known = false;  ///< false: those seen calling in it

  [[nodiscard]] bool has(int rank) const;
  /// The place of a global rank in the group; -1 if it is not a member.
  [[nodiscard]] int index_of(int rank) const;
};

/// The group's display name: `tensor [2]`, `default_pg`.
std::string title_of(const Group& group);

/// What one rank called in one group: indices into its dump's calls.
struct GroupCalls {
  int group = -1;
  std::vector<std::uint32_t> collectives;  ///< one for each sequence number, ascending
  std::vector<std::uint32_t> transfers;    ///< sends and receives, as made
};

/// One rank of the job.
struct RankView {
  const RankDump* dump = nullptr;  ///< none: lost, or the rank wrote none
  bool is_from_log = false;        ///< of log lines or ncclras: only its newest calls are known
  bool has_moved = false;          ///< a second dump of it shows newer calls
  std::vector<GroupCalls> groups;
  std::vector<int> group_of_call;  ///< of each call of the dump; -1: not to be aligned
  RankNotes notes;
};

/// All dumps of a job, aligned: the members of each group, and each rank's calls in order.
///
/// Histories may begin at different points (the rings of different ranks wrapped at different calls):
/// calls are matched by group and sequence number, never by their place in the file.
///
/// Ownership  the dumps and names must outlive it
class Job {
 public:
  Job(const Names& names, std::span<const RankDump> dumps, std::span<const RankDump> later,
      int least_world = 0);

  [[nodiscard]] const Names& names() const { return names_; }
  [[nodiscard]] int world() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] const RankView& rank(int rank) const {
    return ranks_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] RankView& rank(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  [[nodiscard]] const Group& group(int group) const {
    return groups_[static_cast<std::size_t>(group)];
  }

  /// What the rank called in the group; null if it has no call in it.
  [[nodiscard]] const GroupCalls* calls(int rank, int group) const;

  /// The rank's collective with that number; null if it was not made, or is no longer kept.
  [[nodiscard]] const Call* find(int rank, int group, std::uint32_t sequence) const;

  /// The newest collective number that the rank entered in the group; -1 where none is known.
  [[nodiscard]] std::int64_t entered(int rank, int group) const;

  [[nodiscard]] const Signature& signature(const Call& call) const {
    return names_.signature(call.signature);
  }

 private:
  void size_world(std::span<const RankDump> dumps, int least_world);
  void find_groups(std::span<const RankDump> dumps);
  int group_number(const std::string& name, const std::string& description, int rank);
  void sort_calls(int rank);

  const Names& names_;
  std::vector<RankView> ranks_;
  std::vector<Group> groups_;
  std::unordered_map<std::string, std::vector<int>> by_name_;
  int default_groups_ = 0;
};

}  // namespace ringside::hang
