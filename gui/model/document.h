#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/machine.h"
#include "gui/model/picture.h"
#include "gui/model/waits.h"
#include "trace/replay/replay.h"

namespace ringside::gui {

/// One collective, over all ranks that were in it.
struct CallFacts {
  std::uint32_t communicator = 0;
  std::uint32_t sequence = 0;
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  bool is_modelled = false;
  bool has_steps = false;  ///< else nobody knows by which algorithm
  Bytes bytes;
  TimeRange time;
  std::int64_t all_in_ns = 0;  ///< when the last rank that is known of came
  std::int32_t ranks = 0;
};

/// What somebody found out: by `hang` of what was opened, or by the reader of the file.
struct Finding {
  enum class Weight : std::uint8_t { Note, Warning, Fault };
  Weight weight = Weight::Note;
  std::string title;
  std::vector<std::string> lines;
  std::vector<int> ranks;  ///< that it speaks of
};

/// A lesson's words, from a moment of the call on.
struct Caption {
  std::int64_t from_ns = 0;
  std::string text;
};

/// What is known beside the events.
struct Surround {
  std::vector<std::int32_t> node_of;  ///< by rank; empty: nobody said
  int nodes = 0;
  std::string machine;                       ///< "dgx-h100"
  std::shared_ptr<const Machine> ways = {};  ///< of its messages; null: nobody knows
  std::vector<Table> tables = {};  ///< what the tuner reckoned, links: for the view of numbers
};

/// What was opened. Never changes.
///
/// Threads  any
struct Document {
  std::string title;
  std::shared_ptr<const Replay> replay;
  std::vector<CallFacts> calls;                ///< by their beginning
  std::vector<std::uint32_t> calls_by_number;  ///< places in calls, by communicator and sequence
  Surround surround;
  std::vector<Finding> findings;
  std::vector<WaitingRank> waits;  ///< of a job that hung, by rank
  std::vector<Caption> captions;   ///< by their time
  /// [event]: until when a call stood still for others, INT64_MAX: to its end. Empty: until the last of its ranks came.
  std::vector<std::int64_t> waits_until;
  /// Calls that end then never did, as the file says.
  std::optional<std::int64_t> never_ended_ns;
  std::vector<std::string> communicators;  ///< names by number; those that are missing have none
  std::shared_ptr<const void> keeps;       ///< what the replay points into, where that is no file

  [[nodiscard]] TimeRange whole() const;
  /// The call that is going on then, else the last one that had begun, else the first; none: no calls.
  [[nodiscard]] const CallFacts* call_at(std::int64_t time_ns) const;
  [[nodiscard]] const CallFacts* find_call(std::uint32_t communicator,
                                           std::uint32_t sequence) const;
};

/// A document of events alone; what the file's readers had to pass over is a finding.
Document make_document(std::string title, Replay replay);

/// `recv_reduce_send, 64K at 128K, 12.3us`, what it waited for, its peers: a line each.
std::vector<std::string> describe(const Document& document, EventId id);

/// `all_reduce 4M, ring/simple, call 0`
std::string title_of(const Document& document, const CallFacts& call);

/// Of a receive's time that in which its sender had not begun; of a call's, that before the last rank came.
Nanoseconds waiting_of(const Document& document, EventId id, const TraceEvent& event,
                       std::vector<EventId>& scratch);

/// `tensor [2]`, `communicator 3`
std::string name_of_communicator(const Document& document, std::uint32_t number);

Ink ink_of(Primitive primitive);
const char* short_name(Primitive primitive);  ///< `RRCS`, as in NCCL's own talk

}  // namespace ringside::gui
