#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/machine.h"
#include "gui/model/picture.h"
#include "gui/model/waits.h"
#include "trace/replay/replay.h"

namespace ringside::gui {

/// A collective call, summed up over the ranks that entered it.
struct CallFacts {
  std::uint32_t communicator = 0;
  std::uint32_t sequence = 0;
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  bool is_modelled = false;
  bool has_choice = false;  ///< algorithm and protocol are known
  Bytes bytes;
  TimeRange time;
  std::int64_t all_in_ns = 0;  ///< time at which the last known rank entered
  std::int32_t ranks = 0;
  bool never_ended = false;  ///< on at least one rank
};

/// The colours of the groups of ranks that make calls: each has one. If they are more than the colours, each kind of
/// group, such as "tensor", has one.
struct GroupColours {
  std::vector<std::string> names;  ///< by number of the colour: the group, or the kind
  std::map<std::uint32_t, std::uint32_t> number_of;  ///< by communicator
};

/// A finding of `hang` about the opened files, or of a file reader.
struct Finding {
  enum class Weight : std::uint8_t { Note, Warning, Fault };
  Weight weight = Weight::Note;
  std::string title;
  std::vector<std::string> lines;
  std::vector<int> ranks;  ///< affected ranks
};

/// A text of a lesson, shown from a time on.
struct Caption {
  std::int64_t from_ns = 0;
  std::string text;
};

/// Data about a job in addition to its events.
struct Surround {
  std::vector<std::int32_t> node_of;  ///< by rank: its node; empty: unknown
  int nodes = 0;
  std::string machine;                       ///< "dgx-h100"
  std::shared_ptr<const Machine> ways = {};  ///< paths of its messages; null: unknown
  std::vector<Table> tables = {};  ///< tables for the view of numbers: the tuner's estimates, links
};

/// The opened document. It is immutable.
///
/// Threads  any
struct Document {
  std::string title;
  std::shared_ptr<const Replay> replay;
  std::vector<CallFacts> calls;  ///< by begin time
  /// Indexes into `calls`, by communicator and sequence.
  std::vector<std::uint32_t> calls_by_number;
  Surround surround;
  std::vector<Finding> findings;
  std::vector<WaitingRank> waits;  ///< ranks of a hung job, by rank
  std::vector<Table> call_tables;  ///< the latest calls of a hung job: rows are ranks
  std::vector<Caption> captions;   ///< by time
  /// By event: time until which the call waited for other ranks; INT64_MAX: to its end. Empty:
  /// until its last rank entered.
  std::vector<std::int64_t> waits_until;
  /// The file states that calls with this end time never ended.
  std::optional<std::int64_t> never_ended_ns;
  /// Names by number; may be shorter than the number of communicators. Set by name_communicators().
  std::vector<std::string> communicators;
  GroupColours group_colours;
  /// Owner of the memory that the replay points into; null: a file.
  std::shared_ptr<const void> keeps;

  [[nodiscard]] TimeRange whole() const;
  /// Returns the calls that run at that time, the latest first, at most `most`. A call that never ended runs to the end.
  /// Only the 4,096 calls that began last before that time are searched, so that a frame is drawn in time; this also
  /// holds for call_at().
  [[nodiscard]] std::vector<const CallFacts*> running_at(std::int64_t time_ns,
                                                         std::size_t most) const;
  /// Returns the latest call that runs at that time, as running_at() finds it, else the last one that had begun, else
  /// the first one.
  /// Null: no calls.
  [[nodiscard]] const CallFacts* call_at(std::int64_t time_ns) const;
  [[nodiscard]] const CallFacts* find_call(std::uint32_t communicator,
                                           std::uint32_t sequence) const;
};

/// Makes a document of events. It has a finding about unreadable parts of the file.
Document make_document(std::string title, Replay replay);

/// Names the communicators of a document, and gives the groups their colours.
void name_communicators(Document& document, std::vector<std::string> names);

/// Returns lines about an event: `recv_reduce_send, 64K at 128K, 12.3us`, its waiting time, its
/// peers.
std::vector<std::string> describe(const Document& document, EventId id);

/// Returns a title such as `all_reduce 4M, ring/simple, call 0`.
std::string title_of(const Document& document, const CallFacts& call);

/// Returns the titles of the calls that run at that time; without such a call, that of the last one.
std::string titles_at(const Document& document, std::int64_t time_ns);

/// Returns a size with its unit, such as `64K` or `2 B`.
std::string size_of_call(Bytes bytes);

/// Returns the part of a receive's time before its sender began, or of a call's time before the
/// last rank entered.
Nanoseconds waiting_of(const Document& document, EventId id, const TraceEvent& event,
                       std::vector<EventId>& scratch);

/// Returns a name such as `tensor [2]` or `communicator 3`.
std::string name_of_communicator(const Document& document, std::uint32_t number);

Ink ink_of(Primitive primitive);
/// Returns the colour with that number of GroupColours; the first kGroupInks ones differ.
Ink ink_of_group(std::uint32_t number);
/// Returns the colour of the calls of a communicator.
Ink ink_of_group(const Document& document, std::uint32_t communicator);
const char* short_name(Primitive primitive);  ///< `RRCS`, as in NCCL's source

}  // namespace ringside::gui
