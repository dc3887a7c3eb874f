#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diag/facts/fact.h"

/// Statements of sources about ranks, groups, calls and processes.
namespace ringside::facts {

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
  std::int64_t behind = 0;   ///< calls that `missing` made less; below 0: `ranks` made more
};

enum class CallState : std::uint8_t {
  Enqueued,
  Started,
  Completed,
  TimedOut,
  Failed,
  Unknown  ///< the source names the call and no state
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
  std::int64_t step = -1;          ///< of the program, in which it is made
  int tag = -1;                    ///< of a transfer
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
  std::string program;          ///< its name, where the kernel gives it: `python3`
  std::string reason;           ///< `torch.OutOfMemoryError: CUDA out of memory`
  bool is_consequence = false;  ///< a launcher, a watchdog or a lost peer ended it
  bool is_presumed = false;     ///< known only from a missing answer
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
  std::uint64_t times = 1;       ///< lines of this row and subject that this fact represents
};

}  // namespace ringside::facts
