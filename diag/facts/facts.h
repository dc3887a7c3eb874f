#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/logparse/record.h"

/// What text, dumps, stacks, traces and reports state about a job, in one vocabulary. Readers emit facts; the hang
/// inference and the audit rules read nothing else.
///
/// A fact holds what its source states and no conclusion. `unknown` values are -1, 0 or empty, as each field says.
namespace ringside::facts {

/// Where a fact was read.
struct Source {
  std::string file;
  std::int64_t line = -1;    ///< of a log, 1-based; -1: not a log
  std::int64_t record = -1;  ///< record_id of a flight recorder dump; -1: not a dump
  std::string text;          ///< the line, at most 400 characters
  logs::Place place = {};    ///< of a log: file and line are known once all logs are read
};

/// Who a fact is about: every identity that the source names. `rank` is global and is filled in from the other fields
/// once all sources have been read (identity.h).
struct Subject {
  int rank = -1;
  int local_rank = -1;
  std::int64_t pid = -1;
  std::string host;     ///< host or node name
  std::string process;  ///< pod, container, actor or worker name, as its launcher names it
  std::string device;   ///< `mlx5_0:1`, `0000:1b:00`: an adapter's port, a GPU's bus id
  std::string group;    ///< process group or communicator, where `group_rank` is all that is stated
  int group_rank = -1;

  [[nodiscard]] bool is_known() const { return rank >= 0; }
};

/// How the source knows.
enum class Basis : std::uint8_t {
  Observed,  ///< the process itself reports it: a dump, a stack, its own log line
  Reported,  ///< another process, a launcher, a scheduler or the kernel reports it
  Person     ///< a person states it in prose
};

/// Fields of every fact.
struct Fact {
  Subject subject;
  Source source;
  std::int64_t time_us = 0;  ///< wall time of the source; 0: unknown
  Basis basis = Basis::Observed;
  std::string_view row;  ///< id of the catalogue's row that read it; empty: another reader
};

/// A rank exists, or a group has this size. Membership is stated, never inferred from who has logged.
struct Member : Fact {
  std::string group;         ///< empty: the job
  std::int64_t size = -1;    ///< of the group
  std::vector<int> ranks;    ///< global ranks of the group, where the source lists them
  std::vector<int> missing;  ///< global ranks that the source states did not arrive
  bool has_started = false;  ///< the subject began to create or join the group
  bool has_joined = false;   ///< and finished
  bool has_left = false;     ///< destroyed or aborted it
  std::int64_t count = -1;   ///< members that the source states did arrive
};

enum class CallState : std::uint8_t { Enqueued, Started, Completed, TimedOut, Failed };

/// A collective or a transfer that the subject called.
struct Call : Fact {
  std::string group;
  std::int64_t sequence = -1;
  std::string operation;           ///< canonical: `all_reduce`; else as the source names it
  std::int64_t input_count = -1;   ///< elements
  std::int64_t output_count = -1;  ///< elements
  std::string shape;               ///< as the source prints it
  std::string dtype;               ///< as the source prints it
  int root = -1;                   ///< rank in the group
  int peer = -1;                   ///< of a transfer: global rank
  CallState state = CallState::Enqueued;
  std::int64_t last_enqueued = -1;  ///< sequence numbers of the group on this rank
  std::int64_t last_completed = -1;
  std::int64_t waited_us = -1;
};

enum class Activity : std::uint8_t {
  Collective,
  Transfer,
  GroupCreation,
  Store,
  Barrier,
  GpuWait,  // waits for other ranks
  Data,
  Checkpoint,
  Load,
  Compile,
  Lock,
  FileSystem,
  Network,
  GarbageCollection,
  Debugger,
  Exit,
  Evaluate,
  Compute,
  Stopped,
  Unknown
};

/// A process is inside a call that waits for other ranks.
struct Blocked : Fact {
  Activity activity = Activity::Collective;
  std::string operation;  ///< canonical operation, or empty
  std::string group;
  int peer = -1;
  std::string where;  ///< `all_reduce (torch/distributed/distributed_c10d.py:2729)`
  bool is_main_thread = true;
};

/// A process does something that does not wait for other ranks.
struct Busy : Fact {
  Activity activity = Activity::Compute;
  std::string what;  ///< `was writing a checkpoint`
  std::string where;
  bool is_main_thread = true;
};

enum class Field : std::uint8_t { Operation, Size, DType, Root, Order, Count, Peer };

/// A library or a tool reports that two ranks called different things.
struct Mismatch : Fact {
  Field field = Field::Operation;
  std::vector<int> ranks;  ///< that differ from the others; empty: not stated
  std::string expected, actual;
};

enum class DeathCause : std::uint8_t {
  Unknown,
  Signal,
  ExitCode,
  HostMemory,
  GpuMemory,
  GpuFault,
  Exception,
  NodeFailure,
  Evicted,
  Cancelled,
  Abort
};

/// A process ended, or a node that ran it.
struct Died : Fact {
  DeathCause cause = DeathCause::Unknown;
  std::int64_t code = 0;        ///< exit code or signal number
  std::string reason;           ///< `torch.OutOfMemoryError: CUDA out of memory`
  bool is_consequence = false;  ///< a launcher, watchdog or lost peer ended it
  bool is_first = false;        ///< the source states that it ended before the others
  std::vector<int> ranks;       ///< where the source names several
};

/// The program made a step, finished, or restarted.
struct Progress : Fact {
  std::int64_t step = -1;
  std::int64_t steps = -1;  ///< in all
  bool has_finished = false;
  bool is_serving = false;       ///< a server is up and answers
  bool is_restarting = false;    ///< a launcher starts the processes again
  bool is_claimed_hang = false;  ///< a person or program states that it hangs
  std::uint64_t times = 1;       ///< lines of this row and subject that this fact stands for
};

enum class LinkState : std::uint8_t {
  Down,
  Flapped,
  RetryExceeded,
  Reset,
  Refused,
  Unreachable,
  TimedOut,
  Closed,
  Slow
};

/// A connection, a port or a path between hosts failed.
struct LinkFault : Fact {
  LinkState state = LinkState::Down;
  int peer = -1;
  std::string peer_host;
  std::int64_t code = 0;  ///< errno or completion status
  std::string what;
};

/// Data travels, or will travel, this way.
struct Transport : Fact {
  std::string medium;  ///< `p2p`, `shm`, `socket`, `ib`, `efa`, a plugin's name
  bool has_gpudirect = false;
  int channels = -1;
};

/// A variable or an option has a value.
struct Setting : Fact {
  std::string name, value;
  std::string scope;  ///< `environment`, `config file`, `plugin`, `command line`
};

/// What a host, GPU or adapter has: limits, devices, versions.
struct Capability : Fact {
  std::string name;  ///< `memlock`, `gid`, `driver`, `gpu`, `nic`, `nccl`, `fabric`
  std::string value;
};

/// A measured rate or time.
struct Measurement : Fact {
  std::string name;  ///< `busbw`, `algbw`, `step_time`
  std::string collective;
  std::int64_t bytes = -1;
  double value = 0;  ///< GB/s or seconds
  int ranks = -1;
};

/// Which part of the stack an error belongs to.
enum class Domain : std::uint8_t {
  Unknown,
  Program,
  Memory,
  Gpu,
  Driver,
  SharedMemory,
  Network,
  Rdma,
  Bootstrap,
  Store,
  Filesystem,
  Launcher,
  Scheduler,
  Library,
  Configuration
};

enum class Severity : std::uint8_t { Info, Warning, Error };

/// A line that reports trouble, with the meaning of its code. Lines of one row, code, place and subject are one fact.
struct Warning : Fact {
  Domain domain = Domain::Unknown;
  Severity severity = Severity::Warning;
  std::string
      id;  ///< row of the catalogue, or the code family: `errno`, `nccl_result`, `cuda_error`
  std::string code;         ///< `113`, `ncclSystemError`, `IBV_WC_RETRY_EXC_ERR`
  std::string meaning;      ///< one sentence
  std::string location;     ///< source file and function in the program that printed it
  std::string program;      ///< that printed it, as the catalogue names it: `nccl`; empty: unknown
  std::string peer;         ///< address or host that the line names as the other end
  bool is_general = false;  ///< of the code's meaning alone: no row knows the line itself
  bool is_consequence = false;    ///< follows another failure by its nature
  std::uint64_t times = 1;        ///< lines that this fact stands for
  std::int64_t last_time_us = 0;  ///< of the last of them; 0: unknown
};

/// All facts of a job, each list in the order of its sources.
struct Facts {
  std::vector<Member> members;
  std::vector<Call> calls;
  std::vector<Blocked> blocked;
  std::vector<Busy> busy;
  std::vector<Mismatch> mismatches;
  std::vector<Died> deaths;
  std::vector<Progress> progress;
  std::vector<LinkFault> link_faults;
  std::vector<Transport> transports;
  std::vector<Setting> settings;
  std::vector<Capability> capabilities;
  std::vector<Measurement> measurements;
  std::vector<Warning> warnings;
  std::uint64_t lines = 0;   ///< read in all
  std::uint64_t unread = 0;  ///< lines that no row recognises
};

/// Calls `take` with each list of facts.
template <typename Facts_, typename Take>
void each_list(Facts_& facts, Take take) {
  take(facts.members);
  take(facts.calls);
  take(facts.blocked);
  take(facts.busy);
  take(facts.mismatches);
  take(facts.deaths);
  take(facts.progress);
  take(facts.link_faults);
  take(facts.transports);
  take(facts.settings);
  take(facts.capabilities);
  take(facts.measurements);
  take(facts.warnings);
}

}  // namespace ringside::facts
