#pragma once

#include <cstdint>
#include <string>

#include "diag/facts/fact.h"

/// The types of facts about hosts, networks, GPUs, settings and warnings.
namespace ringside::facts {

/// What a line reports of a connection or a network port.
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

/// States that a connection, a port or a path between hosts failed.
struct LinkFault : Fact {
  LinkState state = LinkState::Down;
  int peer = -1;          ///< global rank of the other end; -1: unknown
  std::string peer_host;  ///< host or address of the other end; empty: unknown
  std::int64_t code = 0;  ///< errno or work completion status; 0: unknown
  std::string what;       ///< the failure in the source's words
};

/// States the transport of a connection.
struct Transport : Fact {
  std::string medium;  ///< `p2p`, `shm`, `socket`, `ib`, `efa`, a plugin's name
  bool has_gpudirect = false;
  int channels = -1;
};

/// States the value of a variable or an option.
struct Setting : Fact {
  std::string name, value;
  std::string scope;  ///< `environment`, `config file`, `plugin`, `command line`
};

/// States a limit, device or version of a host, GPU or adapter.
struct Capability : Fact {
  std::string name;  ///< `memlock`, `gid`, `driver`, `gpu`, `nic`, `nccl`, `fabric`
  std::string value;
};

/// States a measured rate or time.
struct Measurement : Fact {
  std::string name;  ///< `busbw`, `algbw`, `step_time`
  std::string collective;
  std::int64_t bytes = -1;  ///< message size; -1: unknown
  double value = 0;         ///< GB/s, or seconds for a time
  int ranks = -1;           ///< ranks in the measurement; -1: unknown
};

/// The part of the software or hardware stack that an error belongs to.
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

/// How serious the program that printed the line considers the problem.
enum class Severity : std::uint8_t { Info, Warning, Error };

/// States that a line reports a problem, with the meaning of its code. Lines with the same row, code, source location
/// and subject are one fact.
struct Warning : Fact {
  Domain domain = Domain::Unknown;
  Severity severity = Severity::Warning;
  /// Row of the catalogue, or the code family: `errno`, `nccl_result`, `cuda_error`
  std::string id;
  std::string code;      ///< `113`, `ncclSystemError`, `IBV_WC_RETRY_EXC_ERR`
  std::string meaning;   ///< one sentence
  std::string location;  ///< source file and function in the program that printed it
  /// Program that printed the line, as the catalogue names it: `nccl`; empty: unknown
  std::string program;
  std::string peer;               ///< address or host of the other end; empty: not in the line
  bool is_general = false;        ///< only the code is known; no row matches the line itself
  bool is_consequence = false;    ///< the warning always follows from another failure
  std::uint64_t times = 1;        ///< number of lines that this fact represents
  std::int64_t last_time_us = 0;  ///< wall time of the last of those lines; 0: unknown
};

}  // namespace ringside::facts
