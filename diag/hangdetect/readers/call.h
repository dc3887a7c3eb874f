#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diag/job/world_size.h"

namespace ringside::hang {

using job::kMostRanks;

/// What a call does, without its backend. Names of all recorder versions fold onto these.
enum class Op : std::uint8_t {
  AllReduce,
  Broadcast,
  Reduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Gather,
  Scatter,
  Barrier,
  Send,
  Recv,
  Coalesced,  ///< the end of a coalesced set
  Other,      ///< a name that we do not know: compared by its text
};

/// The collective's usual name: `all_reduce`.
const char* to_string(Op op);

/// Whether the call completes on no rank before every member has entered it.
/// source  NCCL's and Gloo's algorithms: the root of a broadcast and the leaves of a reduce may go on
bool needs_everybody(Op op);

/// One kind of call: op, sizes and types. Interned: equal calls of all ranks share one.
struct Signature {
  Op op = Op::Other;
  std::string name;     ///< as recorded, without backend and peers: `_all_gather_base`
  std::string backend;  ///< `nccl`, `gloo`, `c10d` (a hook's)
  std::string inputs;   ///< sizes as text, `[[4096, 5120]]`
  std::string outputs;
  std::string types;              ///< `Float`, `Float->BFloat16`
  std::uint64_t input_count = 0;  ///< elements over all inputs
  std::uint64_t output_count = 0;
  int source = -1;  ///< group ranks of a send or receive; -1 where not recorded
  int target = -1;
  int root = -1;  ///< from a log or ringside's recorder; PyTorch's recorders do not keep it
  int tag = -1;   ///< of a transfer, where a program or a stack shows it
  std::string label = {};  ///< the program's name for it: `grads`; empty: not shown
};

struct Frame {
  std::string function;
  std::string file;
  std::int64_t line = 0;
  friend bool operator==(const Frame&, const Frame&) = default;
};
using Stack = std::vector<Frame>;  ///< innermost first

/// How far a call had come when its rank recorded it.
enum class CallState : std::uint8_t {
  Scheduled,
  Started,
  Completed,
  Retired,  ///< taken off the watchdog's list without being seen complete: done, or failed
  Issued,   ///< by a recorder that does not see completions: entered; unknown whether it ended
};

/// One call of one rank: a row of the compact columns that everything is decided from.
struct Call {
  std::int64_t created_ns = 0;  ///< by that host's clock
  std::uint64_t record = 0;     ///< index since the process began, over all groups
  std::uint32_t sequence = 0;   ///< collective_seq_id, or p2p_seq_id where is_p2p
  std::uint32_t signature = 0;  ///< in Names
  std::uint32_t stack = 0;      ///< in Names; 0 is none
  std::uint32_t group = 0;      ///< in Names: the recorded (name, description)
  std::int32_t pg = -1;         ///< the process's own number of the group
  CallState state = CallState::Scheduled;
  bool is_p2p = false;

  [[nodiscard]] bool is_pending() const {
    return state == CallState::Scheduled || state == CallState::Started;
  }
};

/// A group's entry in a dump: members as global ranks.
struct GroupConfig {
  std::string name;
  std::string description;
  std::vector<int> ranks;
};

/// pg_status: the last calls of one group on one rank; -1 is none.
struct GroupStatus {
  std::int32_t pg = -1;
  std::int64_t enqueued = -1;
  std::int64_t started = -1;
  std::int64_t completed = -1;
  bool is_said =
      true;  ///< false: no line shows how much is enqueued; this is the call that the rank waits in
};

/// How far one direction of one connection had come: of dumps of ringside's own engine.
struct DumpProgress {
  std::string group;
  int channel = 0;
  std::string connection;  ///< distinguishes connections of one channel between the same ranks
  int peer = -1;           ///< global rank
  bool is_send = false;
  std::uint64_t messages = 0;
  bool is_waiting = false;  ///< the rank waits for it
};

/// All that one dump holds.
struct RankDump {
  int rank = -1;
  std::string path;
  std::string version;
  std::string library;
  std::vector<Call> calls;  ///< oldest first
  std::vector<GroupConfig> groups;
  std::vector<GroupStatus> statuses;
  std::string reason;        ///< why it was taken, if recorded
  std::string reason_group;  ///< the group whose ranks `reason` names; empty: all
  std::vector<DumpProgress> progress;
  std::int64_t written_ns = 0;  ///< when its file was last written; copies are later; 0: unknown
  std::int64_t timeout_ms = 0;  ///< the longest of its calls; 0 where not recorded
  std::optional<std::uint64_t> torn_at;  ///< offset at which a cut file ends
  /// Its recorder notes calls when they have ended: it does not show where the rank is now.
  bool is_completed_only = false;
  bool is_newest_lost =
      false;  ///< its newest calls were cut off: where the rank is blocked is unknown

  /// The rank has no file of its own: the dump was made from log lines or from ncclras output.
  [[nodiscard]] bool is_inferred() const { return version == "log" || version == "ras"; }
};

}  // namespace ringside::hang
