#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diag/job/world_size.h"

namespace ringside::hang {

using job::kMostRanks;

/// The operation of a call, independent of the backend. Names of all recorder versions map to these.
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
  Other,      ///< unknown operation: compared by its name
};

/// Returns the operation's usual name: `all_reduce`.
const char* to_string(Op op);

/// Returns whether the call can complete on a rank only after every member has entered it.
/// source  NCCL's and Gloo's algorithms: the root of a broadcast and the leaves of a reduce may complete earlier
bool needs_everybody(Op op);

/// Returns whether one rank of the call is its root, which gives or takes the data of all.
bool has_root(Op op);

/// The arguments of a call: operation, sizes and types. Equal calls of all ranks share one Signature (Names).
struct Signature {
  Op op = Op::Other;
  std::string name;     ///< as recorded, without backend and peers: `_all_gather_base`
  std::string backend;  ///< `nccl`, `gloo`, `c10d` (a hook's)
  std::string inputs;   ///< sizes as text, `[[4096, 5120]]`
  std::string outputs;
  std::string types;              ///< `Float`, `Float->BFloat16`
  std::uint64_t input_count = 0;  ///< number of elements of all inputs
  std::uint64_t output_count = 0;
  int source = -1;         ///< group rank of a send's or receive's source; -1: unknown
  int target = -1;         ///< likewise of its destination
  int root = -1;           ///< group rank; -1: unknown, as in all dumps of PyTorch's recorders
  int tag = -1;            ///< tag of a send or receive; -1: unknown
  std::string label = {};  ///< the program's name for the call: `grads`; empty: unknown
};

/// One frame of a stack.
struct Frame {
  std::string function;
  std::string file;
  std::int64_t line = 0;
  friend bool operator==(const Frame&, const Frame&) = default;
};
using Stack = std::vector<Frame>;  ///< innermost first

/// The progress of a call when its dump was written.
enum class CallState : std::uint8_t {
  Scheduled,
  Started,
  Completed,
  Retired,  ///< removed from the watchdog's list before completion was seen: completed or failed
  Issued,   ///< entered; the recorder does not see completions
};

/// One call of one rank. Texts are numbers of Names, because a job has millions of calls.
struct Call {
  std::int64_t created_ns = 0;  ///< wall time by the host's clock, in ns
  std::uint64_t record = 0;     ///< index of the call in its process, over all groups
  std::uint32_t sequence = 0;   ///< collective_seq_id, or p2p_seq_id where is_p2p
  std::uint32_t signature = 0;  ///< number in Names
  std::uint32_t stack = 0;      ///< number in Names; 0: no stack
  std::uint32_t group = 0;      ///< number in Names of the recorded name and description
  std::int32_t pg = -1;         ///< the group's number in this process; -1: unknown
  CallState state = CallState::Scheduled;
  bool is_p2p = false;

  [[nodiscard]] bool is_pending() const {
    return state == CallState::Scheduled || state == CallState::Started;
  }
};

/// A process group as a dump lists it.
struct GroupConfig {
  std::string name;
  std::string description;
  std::vector<int> ranks;  ///< global ranks of its members
};

/// pg_status of a dump: sequence numbers of the last calls of one group on one rank; -1: none.
struct GroupStatus {
  std::int32_t pg = -1;
  std::int64_t enqueued = -1;
  std::int64_t started = -1;
  std::int64_t completed = -1;
  bool is_stated =
      true;  ///< false: `enqueued` is only the call that the rank waits in; no line states the real value
};

/// The progress of one direction of a connection, from a dump of ringside's own engine.
struct DumpProgress {
  std::string group;
  int channel = 0;
  std::string
      connection;  ///< distinguishes the connections of one channel between the same two ranks
  int peer = -1;   ///< global rank
  bool is_send = false;
  std::uint64_t messages = 0;  ///< messages sent or received
  bool is_waiting = false;     ///< the rank waits for the connection
};

/// The content of one dump.
struct RankDump {
  int rank = -1;
  std::string path;
  std::string version;
  std::string library;
  std::vector<Call> calls;  ///< oldest first
  std::vector<GroupConfig> groups;
  std::vector<GroupStatus> statuses;
  std::string reason;        ///< why the dump was written; empty: not recorded
  std::string reason_group;  ///< the group that numbers the ranks in `reason`; empty: global ranks
  std::vector<DumpProgress> progress;
  std::int64_t written_ns = 0;  ///< file's modification time, later for copies; 0: unknown
  /// The dump has all calls that the rank had made by this wall time, by its host's clock; 0: unknown
  std::int64_t known_until_ns = 0;
  std::int64_t timeout_ms = 0;  ///< longest timeout of its calls; 0: not recorded
  std::optional<std::uint64_t>
      torn_at;  ///< offset at which a truncated file ends; nothing: complete
  /// The recorder records only completed calls, so the dump does not show the rank's current call.
  bool is_completed_only = false;
  bool is_newest_lost = false;  ///< the newest calls were cut off, so the blocked call is unknown

  /// Returns whether the dump was made from log lines or ncclras output, because the rank has no dump file.
  [[nodiscard]] bool is_inferred() const { return version == "log" || version == "ras"; }
};

}  // namespace ringside::hang
