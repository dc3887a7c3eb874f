#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/hangs/fault.h"
#include "harness/hangs/outline.h"
#include "harness/hangs/player.h"
#include "harness/hangs/program.h"
#include "harness/hangs/recorder.h"

namespace ringside::hangs {

/// When the dumps were taken.
enum class Moment : std::uint8_t {
  Timeout,   ///< the first watchdog timed out and notified the others
  MidRun,    ///< on demand, of a job that made progress
  Finished,  ///< on demand, after the last call
};

/// What the job left, and what of it is still there.
struct Evidence {
  Moment moment = Moment::Timeout;
  std::int64_t first_timeout = 0;       ///< virtual time
  std::vector<std::int64_t> dump_time;  ///< by rank, virtual; kNever where none was written
  std::vector<std::int64_t> epoch;      ///< by rank: wall clock, skewed, at virtual time 0
  std::vector<bool> has_dump, has_log;  ///< by rank: written and not lost
  std::vector<int> dumps_removed;       ///< written, and lost
  bool is_pickle = true, is_json = false;
  bool has_logs = false;    ///< PyTorch's lines were kept
  bool has_calls = false;   ///< and NCCL's, with COLL
  bool is_one_log = false;  ///< of all ranks together
  bool has_ras = false;     ///< the user ran ncclras for JSON during the hang
  bool has_agent = false;   ///< torchrun's lines; it ended the other ranks of the culprit's host
  bool has_stacks = false;  ///< the stacks of computing ranks were taken during the hang
};

/// One generated hang: everything that its files are written from. Moves only: the records of the play
/// point into the program.
struct HangCase {
  HangCase() = default;
  HangCase(HangCase&&) = default;
  HangCase& operator=(HangCase&&) = default;

  std::string workload;
  std::uint64_t seed = 0;
  Program program;
  Fault fault;
  Play play;
  Recorder recorder;
  Evidence evidence;
};

struct CaseOptions {
  std::optional<FaultClass> kind;  ///< nothing: drawn
  int ranks = 0;                   ///< 0: 2 .. 64, drawn
  int records = 0;                 ///< calls of a rank before the fault, about; 0: drawn
  int frames = 0;                  ///< of a stack; 0: as short as they can be
  int lost_percent = 0;            ///< of the files
  std::optional<Outline> outline;  ///< nothing: a built-in workload, drawn
};

/// Draws a program and a fault, plays it, and decides which files are left. The same seed gives the same case.
///
/// errors  InvalidArgument: the outline, or that number of ranks, has no place for such a fault
Result<HangCase> make_case(const CaseOptions& options, std::uint64_t seed);

/// What such a job leaves when nothing is lost: every dump, in the newest release's layout with roots, NCCL's lines of
/// communicators and calls; and if it hangs, the watchdogs' lines, ncclras's report, torchrun's lines where ranks died,
/// Python's stacks of ranks that compute. Of more than kMostCallLines calls NCCL's logs have none: Evidence::has_calls.
/// Its fault is not drawn at random: the play contains it.
/// play      of the program
/// watchdog  a call's timeout; nothing: PyTorch's 10 minutes
HangCase kept_case(std::string name, Program program, Play play,
                   std::optional<Seconds> watchdog = {});

inline constexpr std::int64_t kMostCallLines = 1'000'000;  ///< some 250 bytes each

/// The seed of the i-th case of a set.
std::uint64_t case_seed(std::uint64_t seed, int index);

/// Whether a call was still pending on the rank when its dump was taken, or would have been.
bool is_pending(const HangCase& hang, int rank, const Record& record);

}  // namespace ringside::hangs
