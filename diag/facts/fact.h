#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/logparse/record.h"

namespace ringside::facts {

/// The place in the input that a fact was read from.
struct Source {
  std::string file;
  std::int64_t line = -1;    ///< line of a log, from 1; -1: the source is not a log
  std::int64_t record = -1;  ///< record_id in a flight recorder dump; -1: not a dump
  std::string text;          ///< the line, at most 400 characters
  logs::Place place = {};    ///< set for a log until settle() fills in `file` and `line`
};

/// The rank, process or device that a fact is about, with every identity that the source gives. resolve_ranks()
/// (identity.h) fills in `rank` from the other fields once all sources have been read. -1 and empty mean unknown.
struct Subject {
  int rank = -1;  ///< global rank
  int local_rank = -1;
  /// Number before the line, `3: `: a rank if nothing in the input contradicts that
  int label = -1;
  std::int64_t pid = -1;
  std::string host;     ///< host or node name
  std::string process;  ///< pod, container, actor or worker name, as its launcher names it
  std::string device;   ///< `mlx5_0:1`, `0000:1b:00`: an adapter's port, a GPU's bus id
  std::string group;    ///< process group or communicator in which the source numbers `group_rank`
  int group_rank = -1;  ///< rank in `group`

  [[nodiscard]] bool is_known() const { return rank >= 0; }
};

/// How the source knows the fact.
enum class Basis : std::uint8_t {
  Observed,  ///< the process itself reports it: a dump, a stack, its own log line
  Reported,  ///< another process, a launcher, a scheduler or the kernel reports it
  Person     ///< a person states it in prose
};

/// The program, tool or kind of report that states the fact.
enum class Reporter : std::uint8_t {
  Process,  ///< the subject itself; the default where the line names no reporter
  Peers,    ///< other ranks
  Launcher,
  Scheduler,
  Kubernetes,
  ProcessTable,  ///< ps
  GpuTool,       ///< nvidia-smi
  Timer,         ///< times of the program's own work
  Ras,           ///< ncclras
  Watchdog,
  Barrier,         ///< monitored_barrier
  Desync,          ///< PyTorch's desync report
  Analyser,        ///< PyTorch's analyser of dumps
  StallInspector,  ///< Horovod's
  Coordinator,     ///< JAX's coordination service
  Rendezvous,
  Start,     ///< the start of a job
  Creation,  ///< the creation of a communicator
  IdWait,    ///< the wait for a communicator's id
  TimeOuts,  ///< the time-outs of the other ranks
  Engine,    ///< ringside's own
  Library,   ///< NCCL or the like
  Transport
};

/// The fields that every type of fact has.
struct Fact {
  Subject subject;
  Source source;
  std::int64_t time_us = 0;  ///< wall time of the line, in us since 1970; 0: unknown
  Basis basis = Basis::Observed;
  Reporter reporter = Reporter::Process;
  std::vector<int> witnesses;  ///< ranks whose own files state the fact; empty: unknown
  std::string_view row;  ///< id of the catalogue row that emitted it; empty: another reader did
};

}  // namespace ringside::facts
