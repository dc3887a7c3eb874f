#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/flight/dump.h"
#include "harness/hangs/player.h"
#include "harness/hangs/program.h"

namespace ringside::hangs {

/// A release of PyTorch, with its dump format and its log formats.
struct Release {
  const char* torch = "";
  const char* format = "";  ///< version of the dump; empty: the first format, a bare list
  const char* nccl = "";
  const char* prefix = "";  ///< file name of a dump, without the rank
  int minor = 0;            ///< minor version of torch 2.x
};

/// Returns all known releases, oldest first.
const std::vector<Release>& releases();

/// Returns true if the dump format of the release is at least major.minor.
bool has_format(const Release& release, int major, int minor);

/// The settings of a job's Flight Recorder.
struct Recorder {
  Release release;
  bool is_gloo = false;         ///< the backend has no events: every state is "scheduled"
  bool has_timing = false;      ///< TORCH_NCCL_ENABLE_TIMING: start events are recorded
  bool is_only_active = false;  ///< completed entries are omitted
  bool has_frames = true;
  /// Roots of broadcasts and reduces are recorded, as ringside's recorder does; PyTorch's does not.
  bool has_roots = false;
  int frames = 6;       ///< minimum depth of a stack; larger values add nested modules
  int capacity = 2000;  ///< entries of the ring buffer, for all groups together
  std::int64_t timeout_ms = 600'000;
};

/// One entry of a dump.
struct Entry {
  const Record* record = nullptr;
  bool is_end = false;  ///< extra entry at the end of a coalesced set
  int record_id = 0;
  int pg_id = 0;
  const char* state = "";
  std::int64_t created_ns = 0;                           ///< wall clock of the rank
  std::optional<std::int64_t> started_ns, completed_ns;  ///< times at which the watchdog noticed
  std::optional<double> duration_ms;
  bool is_retired = false;
};

/// The status of a group in a dump, as PyTorch's `pg_status` has it.
struct GroupStatus {
  int pg_id = 0;
  int group = 0;
  std::int64_t enqueued = -1, started = -1, completed = -1;
};

/// The content of one rank's recorder at one moment.
struct Snapshot {
  int rank = 0;
  std::vector<Entry> entries;       ///< entries still in the ring buffer, oldest first
  std::vector<GroupStatus> status;  ///< groups that had a call
  std::vector<int> groups;          ///< groups of the rank in the order of their creation
};

/// Returns the number of entries that a rank's recorder has made by a time, with those that it has overwritten.
/// moment  virtual time, ns
std::size_t entries_until(const RankHistory& history, std::int64_t moment);

/// Returns the content of a rank's recorder.
/// moment  virtual time of the dump, ns
/// epoch   wall clock of the rank at virtual time 0, ns
Snapshot take_snapshot(const Program& program, const RankHistory& history, int rank,
                       const Recorder& recorder, std::int64_t moment, std::int64_t epoch);

/// The fields of a dump entry that depend only on the call.
struct CallText {
  std::string profiling_name;  ///< nccl:all_reduce, nccl:send 0->3
  std::vector<std::int64_t> input, output;
  const char* type = "";  ///< Float, BFloat16, ...
};
/// is_end  the entry is the end of a coalesced set, whose last call is `step`
CallText describe(const Program& program, const Step& step, bool is_end, int rank,
                  const Recorder& recorder);

using Frame = FlightDump::Frame;
/// Returns the Python stack of a call, innermost frame first, with max(depth, 6) frames.
std::vector<Frame> frames_of(const Program& program, const Step& step, int depth);

/// Returns the name that NCCL and PyTorch log: ALLREDUCE, _ALLGATHER_BASE.
const char* work_name(Op op);

/// Returns the input and output elements of a call, as the watchdog prints them.
std::pair<std::int64_t, std::int64_t> numel(const Program& program, const Step& step);

}  // namespace ringside::hangs
