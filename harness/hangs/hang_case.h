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

/// The moment at which the dumps are written.
enum class Moment : std::uint8_t {
  Timeout,   ///< the first watchdog timed out and notified the other ranks
  MidRun,    ///< on demand, while the job makes progress
  Finished,  ///< on demand, after the last call
};

/// The files that a job wrote, and which of them are lost.
struct Evidence {
  Moment moment = Moment::Timeout;
  std::int64_t first_timeout = 0;       ///< virtual time, ns
  std::vector<std::int64_t> dump_time;  ///< by rank, virtual time, ns; kNever: no dump was written
  std::vector<std::int64_t> epoch;      ///< by rank: skewed wall clock at virtual time 0, ns
  std::vector<bool> has_dump, has_log;  ///< by rank: written and not lost
  std::vector<int> dumps_removed;       ///< ranks whose dump was written and lost
  bool is_pickle = true, is_json = false;
  bool has_logs = false;    ///< PyTorch's log lines were kept
  bool has_calls = false;   ///< NCCL's log lines were kept, too, with COLL
  bool is_one_log = false;  ///< one log file of all ranks
  bool has_ras = false;     ///< the user ran ncclras for JSON during the hang
  /// Torchrun's lines exist; it ended the other ranks of the culprit's host.
  bool has_agent = false;
  bool has_stacks = false;  ///< stacks of computing ranks were taken during the hang
};

/// One generated hang: all data that its files are written from. Movable but not copyable, as the
/// play's records point into the program.
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

/// The requested properties of a case.
struct CaseOptions {
  std::optional<FaultClass> kind;  ///< none: drawn at random
  int ranks = 0;                   ///< 0: 2 .. 64, drawn at random
  /// Approximate calls per rank before the fault; 0: drawn at random.
  int records = 0;
  int frames = 0;                  ///< depth of stacks; 0: minimal
  int lost_percent = 0;            ///< share of the files that are lost, %
  std::optional<Outline> outline;  ///< none: a built-in workload, drawn at random
};

/// Draws a program and a fault, simulates it, and decides which files are lost. Equal seeds give
/// equal cases.
///
/// errors  InvalidArgument: the outline, or the number of ranks, has no place for such a fault
Result<HangCase> make_case(const CaseOptions& options, std::uint64_t seed);

/// Returns the case of a given play, with nothing lost: each dump in the newest release's layout
/// with roots, and NCCL's lines of communicators and calls. If the play hangs, it also has the
/// watchdogs' lines, ncclras's report, torchrun's lines if ranks died, and Python stacks of
/// computing ranks. Logs have no calls if there are more than kMostCallLines: Evidence::has_calls.
/// play      play of `program`, which includes the fault
/// watchdog  timeout of a call; none: PyTorch's 10 minutes
HangCase kept_case(std::string name, Program program, Play play,
                   std::optional<Seconds> watchdog = {});

inline constexpr std::int64_t kMostCallLines = 1'000'000;  ///< about 250 bytes each

/// Returns the seed of case `index` of a set.
std::uint64_t case_seed(std::uint64_t seed, int index);

/// Returns true if the call was pending on the rank when its dump was written or would have been
/// written.
bool is_pending(const HangCase& hang, int rank, const Record& record);

}  // namespace ringside::hangs
