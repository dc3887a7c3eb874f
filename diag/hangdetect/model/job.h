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

/// A process group: ranks that make collective calls together.
struct Group {
  std::string name;  ///< the same on all members
  std::string description;
  std::vector<int> members;          ///< global ranks, ascending
  bool is_membership_known = false;  ///< false: `members` are the ranks with calls in the group

  [[nodiscard]] bool has(int rank) const;
  /// Returns the group rank of a global rank, or -1 if it is not a member.
  [[nodiscard]] int index_of(int rank) const;
};

/// Returns the group's display name: `tensor [2]`, `default_pg`.
std::string title_of(const Group& group);

/// The calls of one rank in one group, as indices into its dump's calls.
struct GroupCalls {
  int group = -1;
  std::vector<std::uint32_t> collectives;  ///< one for each sequence number, ascending
  std::vector<std::uint32_t> transfers;    ///< sends and receives in the order of their calls
};

/// One rank of the job.
struct RankView {
  const RankDump* dump = nullptr;  ///< nullptr: the dump is lost, or the rank wrote none
  bool is_from_log = false;  ///< made from log lines or ncclras: only the newest calls are known
  bool has_moved = false;    ///< a second dump of the rank has newer calls
  bool has_stayed = false;   ///< a second dump of the rank has no newer calls
  std::vector<GroupCalls> groups;
  /// By call of the dump: its group; -1: the call cannot be matched
  std::vector<int> group_of_call;
  RankNotes notes;
};

/// The dumps of a job with the groups and the calls of each rank in them.
///
/// Calls of different ranks are matched by group and sequence number. Their position in the file does not count,
/// because the recorders' ring buffers may begin at different calls.
///
/// Ownership  the dumps and names must outlive it
class Job {
 public:
  /// later        second dumps of ranks that have one in `dumps`
  /// least_world  the job has at least so many ranks
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

  /// Returns the rank's calls in the group, or nullptr if it has none.
  [[nodiscard]] const GroupCalls* calls(int rank, int group) const;

  /// Returns the rank's collective with that number, or nullptr if it was not made or is no longer in the dump.
  [[nodiscard]] const Call* find(int rank, int group, std::uint32_t sequence) const;

  /// Returns the highest sequence number of a collective that the rank entered in the group, or -1 if unknown.
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
