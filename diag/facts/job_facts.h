#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diag/facts/fact.h"

/// The types of facts about ranks, groups, calls and processes.
namespace ringside::facts {

/// States that a rank exists or that a group has a size. A rank's log lines alone do not make it a member.
struct Member : Fact {
  std::string group;         ///< group's name; empty: the whole job
  std::int64_t size = -1;    ///< ranks of the group; -1: not stated
  std::vector<int> ranks;    ///< global ranks of the group; empty: the source does not list them
  std::vector<int> missing;  ///< global ranks that did not arrive, by the source
  bool has_started = false;  ///< the subject began to create or join the group
  bool has_joined = false;   ///< the subject has joined the group
  bool has_left = false;     ///< the subject destroyed or aborted the group
  std::int64_t count = -1;   ///< members that arrived, by the source; -1: not stated
  /// Calls by which `missing` lag the others; negative: calls by which `ranks` lead
  std::int64_t behind = 0;
};

/// The progress of a call when its source was written.
enum class CallState : std::uint8_t {
  Enqueued,
  Started,
  Completed,
  TimedOut,
  Failed,
  Unknown  ///< the source names the call without a state
};

/// A collective or a transfer that the subject called.
struct Call : Fact {
  std::string group;
  std::int64_t sequence = -1;
  std::string operation;           ///< canonical: `all_reduce`; else as the source names it
  std::int64_t input_count = -1;   ///< elements
  std::int64_t output_count = -1;  ///< elements
  std::string shape;               ///< as the source prints it
  std::string dtype;               ///< as the source prints it
  std::string label;               ///< the program's name for it: `grads` of `all_reduce(grads)`
  std::int64_t step = -1;          ///< training step in which the call is made; -1: unknown
  int tag = -1;                    ///< tag of a send or receive; -1: none
  int root = -1;                   ///< rank in the group; -1: none or unknown
  int peer = -1;  ///< global rank of a send's or receive's peer; -1: none or unknown
  CallState state = CallState::Enqueued;
  std::int64_t last_enqueued = -1;   ///< sequence number on this rank and group; -1: unknown
  std::int64_t last_completed = -1;  ///< likewise
  std::int64_t waited_us = -1;       ///< time since the call began; -1: unknown
};

/// What a process does. The values up to GpuWait wait for other ranks.
enum class Activity : std::uint8_t {
  Collective,
  Transfer,
  GroupCreation,
  Store,
  Barrier,
  GpuWait,
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

/// States that a process is inside a call that waits for other ranks.
struct Blocked : Fact {
  Activity activity = Activity::Collective;
  std::string operation;  ///< canonical name; empty: unknown
  std::string group;
  int peer = -1;
  std::string where;  ///< `all_reduce (torch/distributed/distributed_c10d.py:2729)`
  bool is_main_thread = true;
};

/// States that a process does work that does not wait for other ranks.
struct Busy : Fact {
  Activity activity = Activity::Compute;
  std::string what;   ///< `was writing a checkpoint`
  std::string where;  ///< function and source line; empty: unknown
  bool is_main_thread = true;
};

/// The property in which two ranks' calls differ.
enum class Field : std::uint8_t { Operation, Size, DType, Root, Order, Count, Peer };

/// A library or a tool reports that ranks made different calls.
struct Mismatch : Fact {
  Field field = Field::Operation;
  std::vector<int> ranks;  ///< ranks that differ from the others; empty: not stated
  std::string expected, actual;
};

/// Why a process ended, as the line reports it.
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

/// States that a process, or the node that ran it, ended.
struct Died : Fact {
  DeathCause cause = DeathCause::Unknown;
  std::int64_t code = 0;        ///< exit code or signal number
  std::string program;          ///< process name in the kernel's line, `python3`; empty: not stated
  std::string reason;           ///< `torch.OutOfMemoryError: CUDA out of memory`
  bool is_consequence = false;  ///< a launcher, a watchdog or a lost peer caused the end
  bool is_presumed = false;     ///< inferred by the source from a missing answer
  bool is_first = false;        ///< the source states that this process ended first
  std::vector<int> ranks;       ///< all ranks, if the source names several; else empty
};

/// States that the program made a step, finished or restarted.
struct Progress : Fact {
  std::int64_t step = -1;   ///< step number; -1: unknown
  std::int64_t steps = -1;  ///< total number of steps; -1: unknown
  bool has_finished = false;
  bool is_serving = false;       ///< a server is up and answers requests
  bool is_restarting = false;    ///< a launcher restarts the processes
  bool is_claimed_hang = false;  ///< a person or program states that the job hangs
  std::uint64_t times = 1;       ///< number of lines that this fact represents
};

}  // namespace ringside::facts
