#pragma once

#include <cstdint>
#include <string>

#include "diag/facts/fact.h"

/// Statements of sources about hosts, networks, GPUs and settings, and their warnings.
namespace ringside::facts {

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

/// Data travels, or will travel, by this transport.
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
  bool is_general = false;  ///< has only the code's meaning: no row matches the line itself
  bool is_consequence = false;    ///< always a consequence of another failure
  std::uint64_t times = 1;        ///< lines that this fact represents
  std::int64_t last_time_us = 0;  ///< of the last of them; 0: unknown
};

}  // namespace ringside::facts
