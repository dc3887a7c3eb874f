#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/facts/facts.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_files.h"
#include "diag/hangdetect/readers/log_dumps.h"
#include "diag/hangdetect/readers/names.h"
#include "diag/hangdetect/readers/process_stacks.h"
#include "diag/hangdetect/readers/rank_timers.h"
#include "diag/hangdetect/readers/ras_report.h"
#include "diag/hangdetect/readers/run_notes.h"
#include "diag/job/process_ranks.h"
#include "diag/job/slurm_layout.h"
#include "diag/logparse/record.h"
#include "diag/logparse/speakers.h"

namespace ringside::hang {

/// A line that a rank's program wrote.
struct SaidLine {
  std::string text;  ///< empty: none
  std::string file;
  std::int64_t line = -1;
  bool is_late = false;  ///< others had timed out when it was written
};

/// What the logs show of one rank, in addition to its dump or without one.
struct RankNotes {
  bool has_failed = false;     ///< its last call ended with an error: retired then means failed
  bool has_lost_peer = false;  ///< that error was a connection that a peer closed
  bool has_exception = false;  ///< an error of the program's own
  std::string exception;       ///< its line, `ValueError: corrupted record`
  bool has_alarm = false;      ///< a line of its own has words of an error or a wait
  bool is_waiting = false;     ///< its watchdog timed out in a call whose group is unknown
  bool has_stack = false;      ///< of its main thread
  bool is_busy = false;        ///< its stack shows work other than communication
  bool is_in_group_creation = false;  ///< its stack is in the creation of a group
  std::string busy_with;              ///< where its stack is
  SaidLine last_line;                 ///< of the program's own that reports no error
};

/// A log line that is evidence on the hang by itself.
struct LogStatement {
  enum class What : std::uint8_t {
    Laggards,      ///< Horovod's stall inspector names ranks that did not submit a tensor
    TensorsCross,  ///< the same for every rank: each lacks another's tensor, and these ranks lack tensors of all others
    Fingerprint,   ///< what a rank called, as TORCH_DISTRIBUTED_DEBUG=DETAIL saw it
    Exception,     ///< a rank's program raised an error of its own
    WatchdogStuck,  ///< the heartbeat monitor: the watchdog itself is stuck
    EndAbsent,      ///< others of their host are in the end of a communicator; code: how many
    StartAbsent,  ///< others are in the start of a communicator, and these ranks have not begun it
    NoUniqueId,   ///< rank 0 of a group never made its communicator
    Analyser,     ///< the stock analyser's `Culprit rank`
    AnalyserMissing,  ///< the stock analyser's `missing ranks`
    PeerLost,   ///< a rank's connection to a peer ended; detail: the peer, where the call names it
    StoreLost,  ///< a rank's connection to the store ended; detail: the store's host
    RasDead,    ///< ncclras: a process is considered dead
    RasSilent,  ///< ncclras: a process or rank did not answer
    RasError,   ///< ncclras: a rank holds an error of its own; code: its ncclResult
    RasStatus,  ///< ncclras: ranks whose communicator has another status; detail: which
    RasOdd,     ///< ncclras: as many operations as the others, and other ones
    RasBehind,  ///< ncclras: ranks with fewer operations than the others, in one report
    RasAhead,   ///< ncclras: the listed few are ahead
    EngineAbsent,  ///< ringside's own engine: ranks did not join at the start of the job
    EngineSilent,  ///< the same: all other ranks report a failure, or these have made the fewest calls
    EngineGone,     ///< the same: a rank's process ended without a goodbye
    EngineStopped,  ///< the same: all other ranks have sent a sign of life
    EngineDiffers,  ///< the same: ranks made different calls, and had time to reach the call
    EngineCut,      ///< the same: a connection between two live ranks broke
    Failure,  ///< a library's warning of a failure other than a hang; detail: what it means; code:
    ///< kRaised where it is an exception
    Busy,  ///< a process did other work than communication when others timed out; detail: `was writing a checkpoint`
    Stopped,  ///< ps: the process of a rank is stopped, dead or blocked in the kernel; code: its state's letter
    GpuIdle,  ///< nvidia-smi: this GPU of a host computes nothing, and all others do
    PodWaits,  ///< kubectl: the pod of this index never started, and the others run; detail: its status; code: how
    ///< many pods the job has, 0: unknown
    PodEnded,   ///< the same: it ended
    LeftGroup,  ///< a rank closed its process group before others timed out
    Slow,       ///< a rank is slower than the others, by a monitor's report; detail: which work
  };
  What what = What::Laggards;
  std::vector<int> ranks;    ///< the ranks that it names; empty: none
  std::int64_t code = 0;     ///< exit code, where it is one
  std::int64_t time_us = 0;  ///< wall time in the line; 0: none
  std::string text;          ///< the line, shortened
  std::string detail;        ///< of a fingerprint: op, shape and type
  std::string file;
  std::int64_t line = -1;
  std::vector<int> speakers = {};  ///< of a dump's reason: ranks whose dumps have it
  std::string where = {};          ///< of a death: `pod sft-worker-2`; empty: not in the line
};

/// Of Failure: a call of the library failed and the program ended because of it; others may wait.
inline constexpr std::int64_t kRaised = 1;

/// Everything that the logs of a job state.
struct LogFacts {
  facts::Facts facts;                    ///< by the rows of the catalogue
  std::map<int, RankNotes> notes;        ///< by global rank
  std::vector<LogStatement> statements;  ///< in the order of the input
  std::vector<RankDump>
      dumps;  ///< of ranks whose watchdog logs the call that they wait in; `version` is "log"
  std::vector<GroupWait> group_waits;    ///< of ranks whose global rank no line shows
  std::vector<RankDump> lines_as_dumps;  ///< of COLL lines alone, for every rank that has some
  std::vector<RankDump>
      stated_calls;  ///< calls that the program prints or a person lists, if there are no COLL lines
  std::string moved;       ///< two reports of ncclras show that the job went on; empty: none do
  int world = 0;           ///< largest number of ranks that a line names
  int hosts = 0;           ///< as the caller counted them; 0: unknown
  int known_world = 0;     ///< ranks of the job, if a line states the number; 0: none does
  bool is_of_job = false;  ///< a line shows a job of several processes
  bool is_ras_healthy = false;  ///< a text of ncclras in which every communicator is OK
  RunNotes run;
  std::vector<RasReport> reports;         ///< of ncclras, as JSON between other lines
  std::vector<RankTimer> timers;          ///< in the order of the input
  std::string timers_file;                ///< the file that holds them
  std::vector<ProcessStack> stacks;       ///< of processes, in the order of the input
  job::SlurmLayout layout;                ///< of a batch script's options, in pastes
  std::map<int, ProcessPlace> processes;  ///< by global rank
  Stack call_stack;                       ///< of the collective that failed, as PyTorch prints it
  std::uint64_t unread = 0;               ///< lines that no reader understands
  std::uint64_t lines = 0;
  std::int64_t timeouts = 0;  ///< watchdog lines
};

/// Reads logs (of NCCL, PyTorch, launchers, ncclras; compressed or not) through logparse, and the stacks in them.
/// Small files are normalised first: read_paste(). The dumps give the groups: up to 2.4 the watchdog's lines omit
/// them.
LogFacts read_log_facts(const std::vector<InputFile>& files, Names& names,
                        std::span<const RankDump> dumps);

/// A line that the caller has read, and the process that wrote it.
struct AttributedRecord {
  logs::Record record;
  logs::Speaker speaker;
};

/// What the caller knows of the job from lines that are not among the records.
struct KnownJob {
  int ranks = 0;           ///< 0: unknown
  int hosts = 0;           ///< likewise
  bool is_of_job = false;  ///< a job of several processes
  job::ProcessRanks processes = {};
  std::map<int, std::uint64_t> calls_of = {};  ///< that each rank of the job has made
};

/// Like read_log_facts(), for records in the order of their log. `where` maps a record's place to file and line.
LogFacts read_log_records(std::span<const AttributedRecord> records, const WhereFunction& where,
                          const KnownJob& known, Names& names);

/// Like read_log_facts(), for one text in memory, called `name`, without dumps.
LogFacts read_log_text(std::string_view text, const std::string& name, Names& names);

/// Reads stacks of py-spy, faulthandler and gdb: work of a rank other than communication.
void read_stacks(const std::vector<InputFile>& files, LogFacts& facts);

}  // namespace ringside::hang
