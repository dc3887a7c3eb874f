#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hang_class.h"
#include "diag/facts/job_facts.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/run_notes.h"
#include "diag/hangdetect/verdict/features.h"

namespace ringside::hang {

/// The class of a hang: what happened.
using Kind = HangClass;
using ringside::to_string;

/// Ranks at one position, with the name of that call or code.
struct RanksAt {
  std::vector<int> ranks;           ///< empty: `who` names the process
  std::string who;                  ///< `pid 688514 on node48`; empty: `ranks` are known
  std::string what;                 ///< `all_reduce([[64]] Float)`, `save (checkpoint.py:650)`
  std::vector<int> waits_for = {};  ///< global ranks
};

/// An input that would raise the confidence.
struct Need {
  enum class What : std::uint8_t {
    Dumps,          ///< Flight Recorder dumps of `ranks`; empty: of all ranks
    DumpsLater,     ///< a second set of dumps some seconds later
    LongerDumps,    ///< longer histories
    Stacks,         ///< stacks of `ranks`; empty: of all ranks
    StacksLater,    ///< the same stacks a minute later
    Logs,           ///< logs of `ranks`; empty: of all ranks
    WorldSize,      ///< how many ranks the job has, and which
    Sources,        ///< the program's source at these calls
    CallLines,      ///< NCCL_DEBUG_SUBSYS=COLL
    RasTwice,       ///< two ncclras reports
    KernelLog,      ///< kernel log of the hosts of `ranks`
    Counters,       ///< port counters and NCCL's warnings
    LauncherLog,    ///< the launcher's or scheduler's log
    ExitStatus,     ///< log and exit status of `ranks`
    RankOfProcess,  ///< the rank of the process
    PodEvents,      ///< kubectl describe pod
    StepTimes       ///< the times of the last steps
  };
  What what = What::Dumps;
  std::vector<int> ranks = {};
};

/// The content of inputs that show no cause.
enum class Shown : std::uint8_t {
  Nothing,
  TimedOut,       ///< time-outs that do not name the awaited ranks
  Stacks,         ///< stacks in which no process waits for another
  ServerWaits,    ///< a server's engine waits for its workers again and again
  WatchdogLines,  ///< lines of a watchdog without a call
  Alarms,         ///< error lines that no rule reads
  NoJob,          ///< no line belongs to a multi-process job
  WatchdogStuck,  ///< watchdogs that do not run
  WatchdogAtEnd,  ///< watchdogs that do not run after the program has finished
  Cancelled,      ///< the job was cancelled from outside
  RaisedError,    ///< a library call that failed
  MixedCalls,     ///< dumps whose calls name no group
  EndsAlone,      ///< a recorder that records only completed calls
  IssuesAlone,    ///< a recorder that records only issued calls; all ranks are equal
  LaunchesAlone,  ///< ncclras counts of launched calls; all ranks are equal
  Steps           ///< the last step of each rank
};

/// One hypothesis, as data. diag/report/sentences turns it into text.
struct Explanation {
  Kind kind = Kind::Unknown;
  /// Global ranks, ascending; empty: no rank is at fault, or none can be named
  std::vector<int> culprits;
  std::vector<int> suspects;  ///< ranks that include the culprit, where it cannot be named
  double confidence = 0;      ///< 0 .. 1
  Features features;          ///< determine the confidence; the first is the ground

  facts::DeathCause cause = facts::DeathCause::Unknown;  ///< cause of a death
  std::int64_t exit_code = 0;   ///< for a death; negative: minus the signal number; 0: unknown
  std::int64_t completion = 0;  ///< ibv_wc_status of a failed transfer; 0: unknown
  std::string call;             ///< `all_reduce 812 of default_pg`; empty: no call
  std::vector<int> waiting;     ///< ranks that wait for the culprits or in the call
  std::vector<int> others;      ///< ranks of the other side; its meaning depends on the ground
  std::vector<RanksAt> places;  ///< ranks and their calls or places, the culprits first
  facts::Reporter reporter = facts::Reporter::Process;  ///< the source of the statement
  std::string where;  ///< `pod sft-worker-2`, `node n01`, a connection
  std::string what;   ///< what the culprit did: `was writing a checkpoint`; or an exception's text
  Shown shown = Shown::Nothing;
  std::int64_t count = -1, total = -1;  ///< their meaning depends on the ground; -1: unset
  double waited_s =
      0;  ///< how long ranks had waited, where that is short; 0: not short, or unknown
  std::int64_t pause_s = 0;  ///< pause between two steps after which steps continued, in s; 0: none
  bool is_local_rank = false;    ///< `culprits` are local ranks
  bool are_calls_alike = false;  ///< no call of the dumps differs between the members of its group
  bool reports_end = false;      ///< a line reports the end of the program, or that a server is up
  Stack stack;                   ///< stack of the culprit's current or last call
  std::vector<Evidence> evidence;
  std::vector<Need> missing;

  [[nodiscard]] Feature ground() const {
    return features.empty() ? Feature::NothingShown : features.front();
  }
  [[nodiscard]] bool has(Feature feature) const;
  /// Adds a feature if it is not yet present.
  void add(Feature feature);
};

/// The hypothesis with the highest score, and the others, best first.
struct Verdict {
  Explanation best;
  std::vector<Explanation> others;
};

}  // namespace ringside::hang
