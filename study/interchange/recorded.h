#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "harness/hangs/outline.h"

/// The common form of recorded calls, whatever the format of the recording.
namespace ringside::study {

/// A group of ranks.
struct RecordedGroup {
  std::string name, description;
  std::vector<int> members;  ///< global ranks, ascending

  /// Returns the index of a global rank among the members; -1 if the rank is not a member.
  [[nodiscard]] int index_of(int rank) const;
};

/// A recorded call of a rank, as a step of a program.
struct RecordedCall {
  hangs::OutlineStep step;
  int group = -1;  ///< index into RecordedJob::groups
  /// Number among the group's collectives, or among the rank's transfers with that peer in one direction.
  std::int64_t number = 0;
  bool is_pending = false;  ///< not ended when the recording was made
  /// Transfers only: `number` counts from the group's first transfer and needs no alignment.
  bool is_counted = false;
  /// Transfers only: the number by the rank's recorder, which counts sends and receives of the group together; 0:
  /// unknown. Negative: a number that only this rank knows. It shows which adjacent transfers are one set, but does not
  /// compare with the other end's.
  std::int64_t sequence = 0;
  /// The transfer belongs to a set: adjacent transfers with one sequence number.
  bool is_of_set = false;
  /// Work of this rank since its previous call. The family of a join step is a recorded group.
  std::vector<hangs::OutlineStep> before = {};

  /// Returns true if both are the same call, recorded by two members.
  [[nodiscard]] bool is_same(const RecordedCall& other) const;
};

/// The calls of one rank.
struct RecordedRank {
  bool is_silent = true;  ///< no recording exists
  std::deque<RecordedCall> calls = {};

  /// Returns the number of transfers that began together with call `first`, counted from it; 1 for
  /// other calls.
  [[nodiscard]] std::size_t set_length(std::size_t first) const;

  std::vector<hangs::OutlineStep> after = {};  ///< work after the last call
};

/// The recordings of all ranks, in the form from which scenarios are made (import.h).
struct RecordedJob {
  std::vector<RecordedGroup> groups;
  std::vector<RecordedRank> ranks;
  /// Texts about information missing in the recording; each once.
  std::vector<std::string> unknown;

  /// Adds a text for the user. `text` may contain recorded text: it is shortened and put on one
  /// line.
  void note(const std::string& text);
  /// Returns the index in `groups` of the group with that name and these members, and adds it if it does not exist.
  int group_of(const std::string& name, const std::string& description, std::vector<int> members);
};

/// Returns the program's operation for a recorded one, or nullopt if programs cannot express it:
/// ends of coalesced sets, gathers, unknown names.
std::optional<hangs::Op> program_op(hang::Op op);

/// Parses PyTorch's name of an element type that NCCL supports, or the first of several: `Float->BFloat16`. `Bool` is a
/// byte.
std::optional<DataType> program_type(const std::string& text);

/// Returns a name for a group: the text's first 32 characters in lower case, with `_` for all but letters and digits;
/// "group" for an empty text.
std::string word_of(const std::string& text);

}  // namespace ringside::study
