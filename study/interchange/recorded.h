#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "harness/hangs/outline.h"

/// The recorded calls of ranks, in any format.
namespace ringside::study {

struct RecordedGroup {
  std::string name, description;
  std::vector<int> members;  ///< global ranks, ascending

  /// The place of a global rank in it; -1 if it is not a member.
  [[nodiscard]] int index_of(int rank) const;
};

/// A call of a rank as a step of a program.
struct RecordedCall {
  hangs::OutlineStep step;
  int group = -1;  ///< of the recorded groups
  std::int64_t number =
      0;  ///< of the group's collectives, or of the rank's transfers with that peer
  bool is_pending = false;
  bool is_counted = false;  ///< of a transfer: `number` is right already, from the group's first on
  /// Of a transfer: the number by its rank's recorder, which counts sends and receives of the group together; 0:
  /// none.
  std::int64_t sequence = 0;
  bool is_of_set = false;  ///< of transfers that began together: adjacent ones with one sequence
  /// Work of this rank alone, since its previous call. Of a join the family is a recorded group.
  std::vector<hangs::OutlineStep> before = {};

  /// Whether both are one call, recorded by two members.
  [[nodiscard]] bool is_same(const RecordedCall& other) const;
};

struct RecordedRank {
  bool is_silent = true;  ///< nothing was recorded of it
  std::deque<RecordedCall> calls = {};

  /// The number of transfers from that call on that began together, or 1.
  [[nodiscard]] std::size_t set_length(std::size_t first) const;

  std::vector<hangs::OutlineStep> after = {};  ///< after the last one
};

struct RecordedJob {
  std::vector<RecordedGroup> groups;
  std::vector<RecordedRank> ranks;
  std::vector<std::string> unknown;  ///< information missing in the recording; each once

  /// Adds a line for the user. `text` may contain text of the recording: it is shortened and made one line.
  void note(const std::string& text);
  /// The group of those members; created if there is none.
  int group_of(const std::string& name, const std::string& description, std::vector<int> members);
};

/// A program's operation for a recorded name; nothing if programs cannot express it: the ends of coalesced sets,
/// gathers, unknown names.
std::optional<hangs::Op> program_op(hang::Op op);

/// PyTorch's names of the element types that NCCL has.
std::optional<DataType> program_type(const std::string& text);

/// Converts to letters, digits and _, which names of groups consist of
std::string word_of(const std::string& text);

}  // namespace ringside::study
