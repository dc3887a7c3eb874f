#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "diag/hangdetect/readers/call.h"
#include "harness/hangs/outline.h"

/// What ranks were recorded to have called, whoever wrote it down.
namespace ringside::study {

struct RecordedGroup {
  std::string name, description;
  std::vector<int> members;  ///< global ranks, ascending

  /// The place of a global rank in it; -1 where it is none.
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
  /// Of a transfer: as its rank's recorder numbers it, sends and receives of the group together; 0: it does not.
  std::int64_t sequence = 0;
  bool is_of_set =
      false;  ///< of transfers that began together: those next to each other with one sequence
  /// Of this rank alone, since its call before. Of a join the family is a recorded group.
  std::vector<hangs::OutlineStep> before = {};

  /// Whether two members name one call.
  [[nodiscard]] bool is_same(const RecordedCall& other) const;
};

struct RecordedRank {
  bool is_silent = true;  ///< nothing was recorded of it
  std::deque<RecordedCall> calls = {};

  /// From that call on those that began together, or 1.
  [[nodiscard]] std::size_t set_length(std::size_t first) const;

  std::vector<hangs::OutlineStep> after = {};  ///< behind the last one
};

struct RecordedJob {
  std::vector<RecordedGroup> groups;
  std::vector<RecordedRank> ranks;
  std::vector<std::string> unknown;  ///< what the recording does not say; each once

  /// Keeps a line for people. `text` may hold words of the recording: it is cut and made one line.
  void note(const std::string& text);
  /// Of those members; made where there is none.
  int group_of(const std::string& name, const std::string& description, std::vector<int> members);
};

/// What recorders call it, as a program has it; nothing where a program has no word for it: the ends of coalesced sets,
/// gathers, names that we do not know.
std::optional<hangs::Op> program_op(hang::Op op);

/// PyTorch's names of element types, as far as NCCL has them.
std::optional<DataType> program_type(const std::string& text);

/// letters, digits and _: what names of groups are made of
std::string word_of(const std::string& text);

}  // namespace ringside::study
