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

/// What happened.
using Kind = HangClass;
using ringside::to_string;

/// Ranks, and what one of them called, or where it is: a name, not a sentence.
struct RanksAt {
  std::vector<int> ranks;  ///< empty: `who` names the process
  std::string who;         ///< `pid 688514 on node48`; empty: `ranks` are known
  std::string what;        ///< `all_reduce([[64]] Float)`, `save (checkpoint.py:650)`
  std::vector<int> waits_for = {};
};

/// What would raise the confidence.
struct Need {
  enum class What : std::uint8_t {
    Dumps,          ///< Flight Recorder dumps of these ranks; none named: of all
    DumpsLater,     ///< a second set of dumps some seconds later
    LongerDumps,    ///< longer histories
    Stacks,         ///< stacks of these ranks; none named: of all
    StacksLater,    ///< the same stacks a minute later
    Logs,           ///< logs of these ranks; none named: of all
    WorldSize,      ///< how many ranks the job has, and which
    Sources,        ///< the program's source at these calls
    CallLines,      ///< NCCL_DEBUG_SUBSYS=COLL
    RasTwice,       ///< two ncclras reports
    KernelLog,      ///< kernel log of the hosts of these ranks
    Counters,       ///< port counters and NCCL's warnings
    LauncherLog,    ///< the launcher's or scheduler's log
    ExitStatus,     ///< log and exit status of these ranks
    RankOfProcess,  ///< which rank the process was
    PodEvents,      ///< kubectl describe pod
    StepTimes       ///< the times of the last steps
  };
  What what = What::Dumps;
  std::vector<int> ranks = {};
};

/// What the sources show where they show no cause.
enum class Shown : std::uint8_t {
  Nothing,
  TimedOut,       ///< time-outs without the ranks that were awaited
  Stacks,         ///< stacks in which no process waits for another
  ServerWaits,    ///< a server's engine waits for its workers again and again
  WatchdogLines,  ///< lines of a watchdog without a call
  Alarms,         ///< lines of errors that no rule reads
  NoJob,          ///< lines of no job of several processes
  WatchdogStuck,  ///< watchdogs that do not run
  WatchdogAtEnd,  ///< the same, once the program had finished
  Cancelled,      ///< an end from outside
  RaisedError,    ///< a call of the library that failed
  MixedCalls,     ///< dumps whose calls name no group
  EndsAlone,      ///< a recorder that notes a call only when it has ended
  IssuesAlone,    ///< a recorder that notes a call only when it is issued, and all are equal
  LaunchesAlone,  ///< ncclras counts of launched calls, all equal
  Steps           ///< the last step of each rank
};

/// One hypothesis of what happened, and the structured explanation that diag/report turns into sentences.
struct Explanation {
  Kind kind = Kind::Unknown;
  std::vector<int>
      culprits;  ///< global ranks, ascending; empty: no rank is at fault, or none can be named
  std::vector<int> suspects;  ///< ranks that include the culprit, where it cannot be named
  double confidence = 0;      ///< 0 .. 1
  Features features;          ///< what the confidence is computed from; the first is the ground

  facts::DeathCause cause = facts::DeathCause::Unknown;  ///< of a death
  std::int64_t exit_code = 0;   ///< of a death: a negative one is a signal; 0: not known
  std::int64_t completion = 0;  ///< of a failed transfer: its status in verbs; 0: not known
  std::string call;             ///< `all_reduce 812 of default_pg`; empty where no call is meant
  std::vector<int> waiting;     ///< ranks that wait for the culprits, or wait in the call
  std::vector<int> others;      ///< ranks of the other side; its meaning depends on the ground
  std::vector<RanksAt> places;  ///< ranks and their calls or places, the culprits first
  facts::Reporter reporter = facts::Reporter::Process;  ///< the source of the statement
  std::string where;  ///< `pod sft-worker-2`, `node n01`, a connection
  std::string what;   ///< what it did: `was writing a checkpoint`; the text of an exception
  Shown shown = Shown::Nothing;
  std::int64_t count = -1, total = -1;  ///< meaning depends on the ground
  std::int64_t pause_s = 0;    ///< between two steps, after which more steps followed; 0: none
  bool is_local_rank = false;  ///< the culprits are local ranks
  Stack stack;                 ///< of the culprit's call, or of its last one
  std::vector<Evidence> evidence;
  std::vector<Need> missing;

  [[nodiscard]] Feature ground() const {
    return features.empty() ? Feature::NothingShown : features.front();
  }
  [[nodiscard]] bool has(Feature feature) const;
  /// Adds a feature, once.
  void add(Feature feature);
};

/// The answer: the hypothesis with the highest score, and the others, best first.
struct Verdict {
  Explanation best;
  std::vector<Explanation> others;
};

}  // namespace ringside::hang
