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
  bool has_steps = false;  ///< false: the algorithm is unknown
  Bytes bytes;
  TimeRange time;
  std::int64_t all_in_ns = 0;  ///< when the last known rank entered it
  std::int32_t ranks = 0;
};

/// A finding: of `hang` for the opened files, or of the file's reader.
struct Finding {
  enum class Weight : std::uint8_t { Note, Warning, Fault };
  Weight weight = Weight::Note;
  std::string title;
  std::vector<std::string> lines;
  std::vector<int> ranks;  ///< ranks that it is about
};

/// A text of a lesson, from a moment of the call on.
struct Caption {
  std::int64_t from_ns = 0;
  std::string text;
};

/// What is known in addition to the events.
struct Surround {
  std::vector<std::int32_t> node_of;  ///< by rank; empty: unknown
  int nodes = 0;
  std::string machine;                       ///< "dgx-h100"
  std::shared_ptr<const Machine> ways = {};  ///< the paths of its messages; null: unknown
  std::vector<Table> tables = {};  ///< the tuner's estimates, links: for the view of numbers
};

/// The opened document. Never changes.
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
  /// [event]: until when a call waited for others, INT64_MAX: to its end. Empty: until the last of its ranks entered.
  std::vector<std::int64_t> waits_until;
  /// Calls with this end never ended, as the file states.
  std::optional<std::int64_t> never_ended_ns;
  std::vector<std::string> communicators;  ///< names by number; may be shorter
  std::shared_ptr<const void> keeps;       ///< what the replay points into, where that is no file

  [[nodiscard]] TimeRange whole() const;
  /// The call that is running then, else the last one that had begun, else the first; none: no calls.
  [[nodiscard]] const CallFacts* call_at(std::int64_t time_ns) const;
  [[nodiscard]] const CallFacts* find_call(std::uint32_t communicator,
                                           std::uint32_t sequence) const;
};

/// A document of events alone; the unreadable parts of the file are a finding.
Document make_document(std::string title, Replay replay);

/// `recv_reduce_send, 64K at 128K, 12.3us`, its wait, its peers: a line each.
std::vector<std::string> describe(const Document& document, EventId id);

/// `all_reduce 4M, ring/simple, call 0`
std::string title_of(const Document& document, const CallFacts& call);

/// Of a receive's time, the part before its sender began; of a call's time, the part before the last rank entered.
Nanoseconds waiting_of(const Document& document, EventId id, const TraceEvent& event,
                       std::vector<EventId>& scratch);

/// `tensor [2]`, `communicator 3`
std::string name_of_communicator(const Document& document, std::uint32_t number);

Ink ink_of(Primitive primitive);
const char* short_name(Primitive primitive);  ///< `RRCS`, as in NCCL's source

}  // namespace ringside::gui
