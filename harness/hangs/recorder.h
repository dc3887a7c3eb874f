#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/flight/dump.h"
#include "harness/hangs/player.h"
#include "harness/hangs/program.h"

namespace ringside::hangs {

/// A release of PyTorch: which dump format and which line shapes it has.
struct Release {
  const char* torch = "";
  const char* format = "";  ///< version of the dump; empty: the first one, a bare list
  const char* nccl = "";
  const char* prefix = "";  ///< of the dump's file name; the rank follows
  int minor = 0;            ///< of torch 2.x
};

/// Oldest first.
const std::vector<Release>& releases();

/// Whether the dump format of the release is that version or a later one.
bool has_format(const Release& release, int major, int minor);

/// How the job's Flight Recorder was set.
struct Recorder {
  Release release;
  bool is_gloo = false;         ///< the backend without events: every state is "scheduled"
  bool has_timing = false;      ///< TORCH_NCCL_ENABLE_TIMING: start events
  bool is_only_active = false;  ///< completed entries are omitted
  bool has_frames = true;
  bool has_roots =
      false;            ///< of broadcasts and reduces: ringside's own keeps them, PyTorch's do not
  int frames = 6;       ///< of a stack, at least: deeper ones run through nested modules
  int capacity = 2000;  ///< entries of the ring, all groups together
  std::int64_t timeout_ms = 600'000;
};

/// One entry as the recorder shows it.
struct Entry {
  const Record* record = nullptr;
  bool is_end = false;  ///< of a coalesced set: an entry of its own behind its last one
  int record_id = 0;
  int pg_id = 0;
  const char* state = "";
  std::int64_t created_ns = 0;                           ///< wall clock of the rank
  std::optional<std::int64_t> started_ns, completed_ns;  ///< when the watchdog noticed
  std::optional<double> duration_ms;
  bool is_retired = false;
};

struct GroupStatus {
  int pg_id = 0;
  int group = 0;
  std::int64_t enqueued = -1, started = -1, completed = -1;
};

/// What the recorder of one rank holds at one moment.
struct Snapshot {
  int rank = 0;
  std::vector<Entry> entries;       ///< oldest first, those still in the ring
  std::vector<GroupStatus> status;  ///< of the groups that had a call
  std::vector<int> groups;          ///< of the rank, in the order of their creation
};

/// moment  virtual time of the dump
/// epoch   wall clock of the rank at virtual time 0
Snapshot take_snapshot(const Program& program, const RankHistory& history, int rank,
                       const Recorder& recorder, std::int64_t moment, std::int64_t epoch);

/// The common part of a dump's entries of one call.
struct CallText {
  std::string profiling_name;  ///< nccl:all_reduce, nccl:send 0->3
  std::vector<std::int64_t> input, output;
  const char* type = "";  ///< Float, BFloat16, ...
};
/// is_end  of a coalesced set whose last call the step is
CallText describe(const Program& program, const Step& step, bool is_end, int rank,
                  const Recorder& recorder);

using Frame = FlightDump::Frame;
/// The Python stack of a call, innermost first; `depth` of them, and not fewer than 6.
std::vector<Frame> frames_of(const Program& program, const Step& step, int depth);

/// NCCL's and PyTorch's words: ALLREDUCE, _ALLGATHER_BASE.
const char* work_name(Op op);

/// Elements in and out of a work, as the watchdog prints them.
std::pair<std::int64_t, std::int64_t> numel(const Program& program, const Step& step);

}  // namespace ringside::hangs
